//! The environment of an expression while it is planned: what each name stands for.
use super::builtin::Builtin;
use super::operation::OpId;
use crate::syntax::ast::*;
use crate::syntax::names::Symbol;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// What an expression stands for: an operation, whose value depends on the graph, or a static
/// value.
#[derive(Clone)]
pub enum StaticValue {
    Operation(OpId),
    Function(Rc<StaticFunction>),
    Builtin(Builtin),
    Tuple(Rc<[StaticValue]>),
    Tag(Symbol, Symbol),
    Procedure(Rc<Procedure>),
}

pub struct StaticFunction {
    pub function: Arc<Function>,
    /// The environment of the function, without the names of `group`.
    pub env: Env,
    pub group: Option<Functions>,
    /// See [`super::shapes`].
    pub shape: OnceCell<Option<u64>>,
}

pub struct Procedure {
    pub name: Symbol,
    pub parameter: Pattern,
    pub body: Block,
    pub env: Env,
    pub recursive: bool,
}

/// Names and what they stand for; inner definitions hide outer ones.
#[derive(Clone, Default)]
pub struct Env(Option<Rc<Entry>>);

struct Entry {
    name: Symbol,
    known: StaticValue,
    outer: Env,
}

impl Env {
    pub fn with(&self, name: Option<Symbol>, known: StaticValue) -> Env {
        match name {
            None => self.clone(),
            Some(name) => Env(Some(Rc::new(Entry {
                name,
                known,
                outer: self.clone(),
            }))),
        }
    }

    pub fn find(&self, name: Symbol) -> Option<&StaticValue> {
        let mut env = self;
        while let Some(entry) = &env.0 {
            if entry.name == name {
                return Some(&entry.known);
            }
            env = &entry.outer;
        }
        None
    }

    /// This environment extended by mutually recursive functions.
    pub fn with_group(&self, group: &Functions) -> Env {
        let mut env = self.clone();
        for (name, function) in group.iter() {
            let closure = StaticFunction {
                function: function.clone(),
                env: self.clone(),
                group: Some(group.clone()),
                shape: OnceCell::new(),
            };
            env = env.with(*name, StaticValue::Function(Rc::new(closure)));
        }
        env
    }
}

impl Drop for Env {
    /// Iterative, because the chain may be long.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut entry) = next.and_then(|entry| Rc::try_unwrap(entry).ok()) {
            next = entry.outer.0.take();
        }
    }
}
