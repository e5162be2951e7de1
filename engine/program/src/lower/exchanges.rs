//! Whether a loop is left on each path from an edge, or from a compare-exchange that succeeds, that
//! constants do not contradict.
use crate::ir::arithmetic::{binary, compare};
use crate::ir::bits::mask;
use crate::ir::instruction::{Edge, Inst, Op, Operand, Register};
use crate::lower::cfg::LoopInfo;
use crate::lower::registers::visit;
use crate::lower::relevance::has_effect;
use rustc_hash::FxHashMap;

/// The values of registers that are known.
type Known = FxHashMap<Register, u64>;

/// Blocks that are followed at most.
const MOST: usize = 256;

/// A loop, and the code of its function.
pub struct Paths<'c> {
    pub code: &'c [Inst],
    pub ranges: &'c [(usize, usize)],
    pub info: &'c LoopInfo,
    /// Only a path without effects inside the loop leaves it.
    pub silent: bool,
}

impl Paths<'_> {
    /// Whether the compare-exchange at `at` ends the loop if it succeeds.
    pub fn leave_on_success(&self, at: usize) -> bool {
        let Op::Cas { flag, .. } = self.code[at].op else {
            return false;
        };
        let mut left = MOST;
        self.leave(at + 1, Known::from_iter([(flag, 1)]), &mut left)
    }

    /// Whether the loop is left each time the edge is taken.
    pub fn leave_by(&self, edge: &Edge) -> bool {
        let mut left = MOST;
        self.take(edge, &Known::default(), &mut left)
    }

    fn leave(&self, from: usize, mut known: Known, left: &mut usize) -> bool {
        let mut at = from;
        loop {
            let inst = &self.code[at];
            if inst.unwind.is_some() {
                return false;
            }
            let edges: Vec<&Edge> = match &inst.op {
                Op::Ret(_) | Op::Unreachable => return true,
                Op::CondBr {
                    condition,
                    then,
                    otherwise,
                    ..
                } => match value(*condition, &known) {
                    Some(0) => vec![otherwise],
                    Some(_) => vec![then],
                    None => vec![then, otherwise],
                },
                op if op.is_branch() => op.edges(),
                op if self.silent && has_effect(op) => return false,
                op => {
                    learn(op, &mut known);
                    at += 1;
                    continue;
                }
            };
            return edges.into_iter().all(|edge| self.take(edge, &known, left));
        }
    }

    fn take(&self, edge: &Edge, known: &Known, left: &mut usize) -> bool {
        let to = edge.to as usize;
        if !self.info.body.contains(to) {
            return true;
        }
        if to == self.info.header || *left == 0 {
            return false;
        }
        *left -= 1;
        let mut next = known.clone();
        for (dst, from) in &edge.moves {
            set(*dst, value(*from, known), &mut next);
        }
        self.leave(self.ranges[to].0, next, left)
    }
}

fn value(operand: Operand, known: &Known) -> Option<u64> {
    match operand {
        Operand::Const(value) => Some(value),
        Operand::Register(register) => known.get(&register).copied(),
        Operand::Undefined => None,
    }
}

fn set(register: Register, value: Option<u64>, known: &mut Known) {
    match value {
        Some(value) => known.insert(register, value),
        None => known.remove(&register),
    };
}

/// Updates what is known by an instruction.
fn learn(op: &Op, known: &mut Known) {
    let of = |operand: Operand| value(operand, known);
    let learned = match *op {
        Op::Copy { bits, dst, a } => of(a).map(|a| (dst, mask(a, bits))),
        Op::Bin {
            op,
            bits,
            dst,
            a,
            b,
        } => of(a)
            .zip(of(b))
            .and_then(|(a, b)| Some((dst, binary(op, bits, a, b)?))),
        Op::Compare {
            predicate,
            bits,
            dst,
            a,
            b,
            ..
        } => of(a)
            .zip(of(b))
            .map(|(a, b)| (dst, compare(predicate, bits, a, b).into())),
        Op::Select {
            dst,
            condition,
            a,
            b,
        } => of(condition)
            .and_then(|condition| of(if condition != 0 { a } else { b }))
            .map(|chosen| (dst, chosen)),
        _ => None,
    };
    visit(op, &mut |register, write| {
        if write {
            known.remove(&register);
        }
    });
    if let Some((register, value)) = learned {
        known.insert(register, value);
    }
}
