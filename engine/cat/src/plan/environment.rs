//! What names stand for while a model is laid out.
use super::builtin::Builtin;
use super::operation::OpId;
use crate::syntax::ast::*;
use crate::syntax::names::Symbol;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// What an expression stands for: an operation whose value is known later, or what is
/// known already.
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
    /// What the names in it stand for, those of `group` aside.
    pub env: Env,
    pub group: Option<Functions>,
    /// Its shape; see `recognise`.
    pub shape: OnceCell<Option<u64>>,
}

pub struct Procedure {
    pub name: Symbol,
    pub parameter: Pattern,
    pub body: Block,
    pub env: Env,
    pub recursive: bool,
}

/// Names and what they stand for, the latest first.
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

    /// The functions of a group, by their names, over this.
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
    /// Without recursion, which a long chain would make deep.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut entry) = next.and_then(|entry| Rc::try_unwrap(entry).ok()) {
            next = entry.outer.0.take();
        }
    }
}
