//! Free names of expressions and functions.
use crate::syntax::ast::*;
use crate::syntax::names::Symbol;
use std::sync::Arc;

/// The free names of an expression.
pub fn free_names(exp: &Exp) -> Vec<Symbol> {
    let mut free = Free {
        bound: Vec::new(),
        found: Vec::new(),
    };
    free.exp(exp);
    free.found.sort_unstable();
    free.found.dedup();
    free.found
}

/// The free names of functions that are defined together.
pub fn free_of_functions(functions: &[(Option<Symbol>, Arc<Function>)]) -> Vec<Symbol> {
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
    bound: Vec<Symbol>,
    found: Vec<Symbol>,
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
            ExpKind::Var(name) | ExpKind::Tag(name) => {
                if !self.bound.contains(name) {
                    self.found.push(*name);
                }
            }
            ExpKind::EmptyRelation | ExpKind::Universe => {}
            ExpKind::Explicit(items)
            | ExpKind::Tuple(items)
            | ExpKind::Union(items)
            | ExpKind::Sequence(items) => {
                items.iter().for_each(|item| self.exp(item));
            }
            ExpKind::Unary(_, inner) => self.exp(inner),
            ExpKind::Binary(_, a, b) | ExpKind::Apply(a, b) | ExpKind::Try(a, b) => {
                self.exp(a);
                self.exp(b);
            }
            ExpKind::Fun(function) => self.function(function),
            ExpKind::Let(bindings, body) => {
                bindings.iter().for_each(|binding| self.exp(&binding.value));
                self.scoped(|free| {
                    bindings
                        .iter()
                        .for_each(|binding| free.bind(&binding.pattern));
                    free.exp(body);
                });
            }
            ExpKind::LetRec(bindings, body) => self.scoped(|free| {
                bindings
                    .iter()
                    .for_each(|binding| free.bind(&binding.pattern));
                bindings.iter().for_each(|binding| free.exp(&binding.value));
                free.exp(body);
            }),
            ExpKind::MatchTag(value, clauses, otherwise) => {
                self.exp(value);
                clauses.iter().for_each(|(_, body)| self.exp(body));
                otherwise.iter().for_each(|body| self.exp(body));
            }
            ExpKind::MatchSet(value, empty, pattern, body) => {
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
            ExpKind::If(condition, yes, no) => {
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
