//! The operations of a plan. Each occurs once, after its operands.
use super::builtin::Builtin;
use super::fault::Fault;
use super::parts::Parts;
use crate::syntax::ast::*;
use crate::syntax::names::{SourcePosition, Symbol};
use std::collections::HashMap;

/// The number of an operation, greater than those of its operands.
pub type OpId = u32;

/// An operation on the values of other operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Nothing,
    Universe,
    EmptyRelation,
    Identity,
    /// A set or relation of the input.
    Given(Symbol),
    ReadsFrom,
    /// The final writes, `FW`.
    Finals,
    /// The result of a `with … from`, by its number.
    Choice(u32),
    /// A name of a `let rec`: the group, and the index in it.
    Variable(u32, u32),
    Builtin(Builtin),
    Tag(Symbol, Symbol),
    /// All tags of an enumeration.
    Enum(Symbol),
    Union(Box<[OpId]>),
    Unary(Unary, OpId),
    Binary(Binary, OpId, OpId),
    Sequence(OpId, OpId),
    /// `[from]; relation; [to]`
    Restrict(Option<OpId>, OpId, Option<OpId>),
    Explicit(Box<[OpId]>),
    Tuple(Box<[OpId]>),
    /// An item of a tuple: its index, and the length of the tuple.
    Item(OpId, u32, u32),
    Apply(OpId, OpId),
    Call(Builtin, OpId),
    /// The orders of a set that extend a relation, per location.
    Orders(OpId, OpId),
    /// The least fixpoint of a group, as a tuple.
    Fix(u32),
    If(Test, OpId, OpId, OpId, OpId),
    Try(OpId, OpId),
    /// A deferred expression, by its number.
    Eval(u32),
    /// A deferred function, by its number.
    Closure(u32),
    /// No value; the number of the fault.
    Fault(u32),
}

/// A condition on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Equal,
    Subset,
    In,
}

/// Code deferred to the interpreter, and the operations for its free names.
#[derive(Debug)]
pub struct Deferred {
    pub exp: ExpRef,
    pub captured: Vec<(Symbol, OpId)>,
    pub group: Option<Functions>,
}

/// A `let rec` of sets and relations.
#[derive(Debug)]
pub struct Group {
    /// The operations that stand for its names.
    pub variables: Vec<OpId>,
    /// The new value of each name.
    pub bodies: Vec<OpId>,
    /// For each name, the operations to repeat to compute its new value, in order.
    pub inner: Vec<Vec<OpId>>,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub op: Op,
    /// The position of its first occurrence.
    pub at: SourcePosition,
    /// What it depends on: 0 for the graph alone, 1 for rf, 2 for the first choice, …
    pub level: u32,
    /// The innermost `let rec` on whose names it depends, from 1; 0 for none.
    pub group: u32,
}

/// The operations of a model.
#[derive(Default)]
pub struct Operations {
    pub all: Vec<Operation>,
    numbers: HashMap<Op, OpId>,
    pub deferred: Vec<Deferred>,
    pub groups: Vec<Group>,
    pub faults: Vec<Fault>,
    /// If accesses consist of several events.
    pub parts: Option<Parts>,
}

impl Operations {
    /// The number of an operation; adds it if it is new.
    pub fn intern(&mut self, op: Op, at: SourcePosition) -> OpId {
        if let Some(id) = self.numbers.get(&op) {
            let known = &mut self.all[*id as usize];
            // An operation of the prelude is reported at its first use in the model.
            if known.at.file == 0 {
                known.at = at;
            }
            return *id;
        }
        let own = match op {
            Op::ReadsFrom | Op::Finals => 1,
            Op::Choice(index) => index + 2,
            _ => 0,
        };
        let own_group = match op {
            Op::Variable(group, _) => group + 1,
            _ => 0,
        };
        let (mut level, mut group) = (own, own_group);
        let closed = match op {
            Op::Fix(closed) => closed + 1,
            _ => 0,
        };
        self.operands(&op, &mut |operand| {
            let operand = &self.all[operand as usize];
            level = level.max(operand.level);
            if operand.group != closed {
                group = group.max(operand.group);
            }
        });
        if closed > 0 {
            group = self.outer_group(closed - 1);
        }
        let id = self.all.len() as OpId;
        self.numbers.insert(op.clone(), id);
        self.all.push(Operation {
            op,
            at,
            level,
            group,
        });
        id
    }

    /// The innermost other group that this group depends on.
    fn outer_group(&self, group: u32) -> u32 {
        let mut outer = 0;
        for inner in self.groups[group as usize].inner.iter().flatten() {
            self.operands(&self.all[*inner as usize].op, &mut |operand| {
                let of = self.all[operand as usize].group;
                if of < group + 1 {
                    outer = outer.max(of);
                }
            });
        }
        outer
    }

    pub fn fault(&mut self, fault: Fault, at: SourcePosition) -> OpId {
        self.faults.push(fault);
        self.intern(Op::Fault(self.faults.len() as u32 - 1), at)
    }

    pub fn defer(&mut self, code: Deferred) -> u32 {
        self.deferred.push(code);
        self.deferred.len() as u32 - 1
    }

    pub fn op(&self, id: OpId) -> &Op {
        &self.all[id as usize].op
    }

    /// Calls `each` for every operand of an operation.
    pub fn operands(&self, op: &Op, each: &mut dyn FnMut(OpId)) {
        match op {
            Op::Union(items) | Op::Explicit(items) | Op::Tuple(items) => {
                items.iter().for_each(|item| each(*item));
            }
            Op::Unary(_, a) | Op::Item(a, ..) | Op::Call(_, a) => each(*a),
            Op::Binary(_, a, b) | Op::Sequence(a, b) | Op::Apply(a, b) => {
                each(*a);
                each(*b);
            }
            Op::Orders(a, b) | Op::Try(a, b) => {
                each(*a);
                each(*b);
            }
            Op::Restrict(from, inner, to) => {
                from.iter().for_each(|from| each(*from));
                each(*inner);
                to.iter().for_each(|to| each(*to));
            }
            Op::If(_, a, b, yes, no) => [a, b, yes, no].into_iter().for_each(|id| each(*id)),
            Op::Eval(code) | Op::Closure(code) => {
                let captured = &self.deferred[*code as usize].captured;
                captured.iter().for_each(|(_, id)| each(*id));
            }
            // The operations inside a fixpoint count as its operands.
            Op::Fix(group) => {
                let group = &self.groups[*group as usize];
                group.bodies.iter().for_each(|id| each(*id));
                group.inner.iter().flatten().for_each(|inner| {
                    self.operands(&self.all[*inner as usize].op, each);
                });
            }
            _ => {}
        }
    }

    /// The operations of group number `group` (from 1) that `body` needs, in order.
    pub fn inside(&self, body: OpId, group: u32) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            let node = &self.all[id as usize];
            if node.group < group || matches!(node.op, Op::Variable(of, _) if of + 1 == group) {
                continue;
            }
            if !seen.insert(id) {
                continue;
            }
            // Operations of inner groups are repeated by those groups.
            if node.group == group {
                found.push(id);
            }
            self.operands(&node.op, &mut |operand| pending.push(operand));
        }
        found.sort_unstable();
        found
    }
}
