//! Numbers that the program knows nothing of but that they are below 2^31, as `rand` returns them.
//!
//! Of one that is only divided by a number, or masked, each remainder is explored. One on which
//! nothing depends is 0: it decides how long a loop without effects takes, for example, and such
//! loops may be assumed to end (C11, 6.8.5; C++20, [intro.progress]). Any other is refused where an
//! execution reaches it.
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, InstKind, Value};
use crate::lower::function::Lower;

/// Of how many bits a random number is.
const BITS: u32 = 31;

impl<'a> Lower<'_, '_, 'a> {
    /// What an operation on a random number that nothing else uses can be given in its place: a
    /// number below the divisor, or below the power of two that is the mask and one.
    pub fn remainder_of_random(
        &mut self,
        inst: &Inst<'a>,
        op: BinOp,
        number: &Value<'a>,
        by: Operand,
    ) -> Option<Operand> {
        let count = match (op, by) {
            (BinOp::Urem | BinOp::Srem, divisor) => divisor,
            (BinOp::And, Operand::Const(mask)) if mask.wrapping_add(1).is_power_of_two() => {
                Operand::Const(mask + 1)
            }
            _ => return None,
        };
        // in one block, so that each number is used as often as it is drawn
        let block = self.function.blocks.iter().find(|block| {
            let mut insts = block.insts.iter();
            inst.result.is_some() && insts.any(|other| other.result == inst.result)
        })?;
        if !self.is_random(number, &block.insts) {
            return None;
        }
        let dst = self.temporary(1);
        let site = self.site(inst, "call", Order::Na);
        let choice = Op::Extern {
            function: Extern::Random,
            args: vec![count],
            dst: Some(dst),
            site,
            write_site: site,
            private: (false, false),
        };
        self.emit(inst, choice);
        Some(Operand::Register(dst))
    }

    /// Whether a value is a random number that one of these instructions draws, of a type that holds
    /// all of them, and used once.
    fn is_random(&self, value: &Value<'a>, block: &[Inst<'a>]) -> bool {
        let Value::Local(name) = value else {
            return false;
        };
        let Some(inst) = block.iter().find(|inst| inst.result == Some(*name)) else {
            return false;
        };
        self.uses(name) == 1
            && match &inst.kind {
                InstKind::Call {
                    callee: Value::Global(name),
                    ..
                } => is_random(name) && !self.l.functions.contains_key(name),
                InstKind::Cast { op, value, to } => {
                    let holds = |ty| self.l.module.types.bits(ty).is_ok_and(|bits| bits >= BITS);
                    matches!(*op, "sext" | "zext" | "trunc")
                        && holds(*to)
                        && self.is_random(&value.1, block)
                }
                _ => false,
            }
    }
}

/// The functions that return such numbers.
pub fn is_random(name: &str) -> bool {
    ["rand", "random", "lrand48"].contains(&name)
}
