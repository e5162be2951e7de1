//! The names that an expression takes from its surroundings.
use crate::syntax::ast::*;
use crate::syntax::names::Sym;
use std::sync::Arc;

/// The names that an expression takes from its surroundings.
pub fn free_names(exp: &Exp) -> Vec<Sym> {
    let mut free = Free {
        bound: Vec::new(),
        found: Vec::new(),
    };
    free.exp(exp);
    free.found.sort_unstable();
    free.found.dedup();
    free.found
}

/// The names that functions defined together take from their surroundings.
pub fn free_of_functions(functions: &[(Option<Sym>, Arc<Function>)]) -> Vec<Sym> {
    let mut free = Free {
        bound: functions.iter().filter_map(|(name, _)| *name).collect(),
        found: Vec::new(),
    };
    for (_, function) in functions {
        free.function(function);
    }
    free.found.sort_unstable();
    free.found.dedup();
    free.found
}

struct Free {
    bound: Vec<Sym>,
    found: Vec<Sym>,
}

impl Free {
    fn bind(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::One(name) => self.bound.extend(name),
            Pattern::Tuple(names) => self.bound.extend(names.iter().flatten()),
        }
    }

    fn scoped(&mut self, part: impl FnOnce(&mut Self)) {
        let before = self.bound.len();
        part(self);
        self.bound.truncate(before);
    }

    fn function(&mut self, function: &Function) {
        self.scoped(|free| {
            free.bind(&function.parameter);
            free.exp(&function.body);
        });
    }

    fn exp(&mut self, exp: &Exp) {
        match &exp.kind {
            Kind::Var(name) | Kind::Tag(name) => {
                if !self.bound.contains(name) {
                    self.found.push(*name);
                }
            }
            Kind::EmptyRelation | Kind::Universe => {}
            Kind::Explicit(items)
            | Kind::Tuple(items)
            | Kind::Union(items)
            | Kind::Sequence(items) => {
                items.iter().for_each(|item| self.exp(item));
            }
            Kind::Unary(_, inner) => self.exp(inner),
            Kind::Binary(_, a, b) | Kind::Apply(a, b) | Kind::Try(a, b) => {
                self.exp(a);
                self.exp(b);
            }
            Kind::Fun(function) => self.function(function),
            Kind::Let(bindings, body) => {
                bindings.iter().for_each(|binding| self.exp(&binding.value));
                self.scoped(|free| {
                    bindings
                        .iter()
                        .for_each(|binding| free.bind(&binding.pattern));
                    free.exp(body);
                });
            }
            Kind::LetRec(bindings, body) => self.scoped(|free| {
                bindings
                    .iter()
                    .for_each(|binding| free.bind(&binding.pattern));
                bindings.iter().for_each(|binding| free.exp(&binding.value));
                free.exp(body);
            }),
            Kind::MatchTag(value, clauses, otherwise) => {
                self.exp(value);
                clauses.iter().for_each(|(_, body)| self.exp(body));
                otherwise.iter().for_each(|body| self.exp(body));
            }
            Kind::MatchSet(value, empty, pattern, body) => {
                self.exp(value);
                self.exp(empty);
                self.scoped(|free| {
                    match pattern {
                        SetPattern::First(x, xs) => free.bound.extend(x.iter().chain(xs)),
                        SetPattern::Middle(a, x, b) => {
                            free.bound.extend(a.iter().chain(x).chain(b))
                        }
                    }
                    free.exp(body);
                });
            }
            Kind::If(condition, yes, no) => {
                match condition {
                    Condition::Equal(a, b) | Condition::Subset(a, b) | Condition::In(a, b) => {
                        self.exp(a);
                        self.exp(b);
                    }
                    Condition::Variant(_) => {}
                }
                self.exp(yes);
                self.exp(no);
            }
        }
    }
}
