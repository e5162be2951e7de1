//! Recognition of functions by their definition.
//!
//! The search over coherence orders must not list their product first. Therefore the functions that
//! compute that product are recognised by a hash of their definition and of everything it refers
//! to, up to the names of parameters. A function that merely has the same name is not.
use super::builtin::Builtin;
use super::environment::{Env, StaticFunction, StaticValue};
use super::operation::{Op, Operations};
use crate::syntax::ast::*;
use crate::syntax::names::{Names, Symbol};
use std::sync::Arc;

/// The hashes of `generate_orders` in herd7's cross.cat and in models/cross.cat.
pub const ORDERS: [u64; 2] = [0x4128_44da_e61d_f197, 0x5426_4776_dcdc_31a9];

/// How deeply functions may refer to one another.
const MAX_DEPTH: usize = 50;

/// A hash in progress: FNV-1a over words, the same in every build.
struct ShapeHash<'c> {
    operations: &'c Operations,
    names: &'c Names,
    state: u64,
    /// The names bound inside, innermost last.
    bound: Vec<Option<Symbol>>,
    known: bool,
    depth: usize,
}

/// The hash of a function; none if its definition depends on what has no stable hash.
pub fn shape(operations: &Operations, names: &Names, closure: &StaticFunction) -> Option<u64> {
    shape_at(operations, names, closure, 0)
}

fn shape_at(
    operations: &Operations,
    names: &Names,
    closure: &StaticFunction,
    depth: usize,
) -> Option<u64> {
    *closure.shape.get_or_init(|| {
        let mut shape = ShapeHash {
            operations,
            names,
            state: 0xcbf2_9ce4_8422_2325,
            bound: Vec::new(),
            known: depth < MAX_DEPTH,
            depth,
        };
        if shape.known {
            shape.closure(closure);
        }
        shape.known.then_some(shape.state)
    })
}

impl ShapeHash<'_> {
    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        text.bytes().for_each(|byte| self.word(u64::from(byte)));
    }

    fn closure(&mut self, closure: &StaticFunction) {
        let Some(group) = &closure.group else {
            self.function(&closure.function, &closure.env);
            return;
        };
        self.word(100 + group.len() as u64);
        self.bound.extend(group.iter().map(|(name, _)| *name));
        let is_it = |(_, function): &(_, Arc<Function>)| Arc::ptr_eq(function, &closure.function);
        self.word(group.iter().position(is_it).unwrap_or(0) as u64);
        for (_, function) in group.iter() {
            self.function(function, &closure.env);
        }
    }

    fn function(&mut self, function: &Function, env: &Env) {
        let before = self.bound.len();
        self.pattern(&function.parameter);
        self.exp(&function.body, env);
        self.bound.truncate(before);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::One(name) => {
                self.word(1);
                self.bound.push(*name);
            }
            Pattern::Tuple(names) => {
                self.word(2 + names.len() as u64);
                self.bound.extend(names);
            }
        }
    }

    fn name(&mut self, name: Symbol, env: &Env) {
        if let Some(depth_of_name) = self
            .bound
            .iter()
            .rev()
            .position(|bound| *bound == Some(name))
        {
            self.word(1000 + depth_of_name as u64);
            return;
        }
        match env.find(name) {
            Some(StaticValue::Function(closure)) => {
                match shape_at(self.operations, self.names, closure, self.depth + 1) {
                    Some(shape) => self.word(shape),
                    None => self.known = false,
                }
            }
            Some(StaticValue::Builtin(builtin)) => self.builtin(*builtin),
            Some(StaticValue::Operation(id)) => match self.operations.op(*id) {
                Op::EmptyRelation => self.word(13),
                Op::Nothing => self.word(14),
                _ => self.known = false,
            },
            None => match Builtin::named(self.names.text(name)) {
                Some(builtin) => self.builtin(builtin),
                None => self.known = false,
            },
            _ => self.known = false,
        }
    }

    fn builtin(&mut self, builtin: Builtin) {
        self.word(12);
        self.text(&format!("{builtin:?}"));
    }

    fn exp(&mut self, exp: &Exp, env: &Env) {
        match &exp.kind {
            ExpKind::EmptyRelation => self.word(20),
            ExpKind::Universe => self.word(21),
            ExpKind::Var(name) => self.name(*name, env),
            ExpKind::Explicit(items) => self.items(22, items, env),
            ExpKind::Tuple(items) => self.items(23, items, env),
            ExpKind::Union(items) => self.items(24, items, env),
            ExpKind::Sequence(items) => self.items(25, items, env),
            ExpKind::Unary(op, inner) => {
                self.word(30 + *op as u64);
                self.exp(inner, env);
            }
            ExpKind::Binary(op, a, b) => {
                self.word(40 + *op as u64);
                self.exp(a, env);
                self.exp(b, env);
            }
            ExpKind::Apply(a, b) => {
                self.word(50);
                self.exp(a, env);
                self.exp(b, env);
            }
            ExpKind::Fun(function) => {
                self.word(51);
                self.function(function, env);
            }
            ExpKind::Let(bindings, body) => {
                self.word(60 + bindings.len() as u64);
                bindings
                    .iter()
                    .for_each(|binding| self.exp(&binding.value, env));
                let before = self.bound.len();
                bindings
                    .iter()
                    .for_each(|binding| self.pattern(&binding.pattern));
                self.exp(body, env);
                self.bound.truncate(before);
            }
            ExpKind::LetRec(bindings, body) => {
                self.word(80 + bindings.len() as u64);
                let before = self.bound.len();
                bindings
                    .iter()
                    .for_each(|binding| self.pattern(&binding.pattern));
                bindings
                    .iter()
                    .for_each(|binding| self.exp(&binding.value, env));
                self.exp(body, env);
                self.bound.truncate(before);
            }
            ExpKind::MatchSet(value, empty, pattern, body) => {
                self.word(52);
                self.exp(value, env);
                self.exp(empty, env);
                let before = self.bound.len();
                match pattern {
                    SetPattern::First(x, xs) => self.bound.extend([*x, *xs]),
                    SetPattern::Middle(a, x, b) => {
                        self.word(53);
                        self.bound.extend([*a, *x, *b]);
                    }
                }
                self.exp(body, env);
                self.bound.truncate(before);
            }
            ExpKind::Tag(_) | ExpKind::MatchTag(..) | ExpKind::Try(..) | ExpKind::If(..) => {
                self.known = false
            }
        }
    }

    fn items(&mut self, word: u64, items: &[ExpRef], env: &Env) {
        self.word(word);
        self.word(items.len() as u64);
        items.iter().for_each(|item| self.exp(item, env));
    }
}
