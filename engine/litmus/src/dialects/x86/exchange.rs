//! What x86's instructions that exchange a register with memory do: xchg, xadd, cmpxchg.

use super::compute::Reading;
use super::flags;
use super::operands::{Operand, Part};
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Outcome};
use crate::value::{Op, RegisterId};

impl Reading {
    /// The source gets the old value of the destination. herd7 does not have it; the operands are
    /// those of Intel's and AT&T's manuals.
    pub fn exchange_add(mut self, a: Formula, b: Formula) -> Option<Instruction> {
        let (Operand::Memory(_), Operand::Reg(register, part)) = (self.to, self.from) else {
            return None;
        };
        let flags = flags::of_sum(a.clone(), b.clone(), self.bits);
        let old = self.operands.written(register, part, a.clone());
        let done = Outcome {
            stored: vec![Formula::Result.zero_extended(self.bits)],
            registers: vec![(register, old)],
        };
        Some(self.with(Formula::apply(Op::Add, a, b), Some(flags), None, vec![done]))
    }

    pub fn exchanged(mut self) -> Option<Instruction> {
        if let (Operand::Reg(a, part), Operand::Reg(b, other)) = (self.to, self.from) {
            let (first, second) = (
                self.operands.value(&self.to),
                self.operands.value(&self.from),
            );
            // two parts of one register would be two writes of it
            if a == b {
                return (part == other).then_some(Instruction::Nop);
            }
            let registers = vec![
                (a, self.operands.written(a, part, second)),
                (b, self.operands.written(b, other, first)),
            ];
            let done = Outcome {
                stored: Vec::new(),
                registers,
            };
            return Some(self.with(Formula::Constant(0), None, None, vec![done]));
        }
        let register = match (&self.to, &self.from) {
            (Operand::Memory(_), Operand::Reg(..)) => self.from,
            (Operand::Reg(..), Operand::Memory(_)) => self.to,
            _ => return None,
        };
        let Operand::Reg(to, part) = register else {
            return None;
        };
        // it is locked without the prefix too
        self.locked = true;
        let new = self.operands.value(&register).zero_extended(self.bits);
        let old = self.operands.written(to, part, Formula::Operand(0));
        let done = Outcome {
            stored: vec![new],
            registers: vec![(to, old)],
        };
        Some(self.with(Formula::Constant(0), None, None, vec![done]))
    }

    pub fn compare_exchange(mut self, accumulator: RegisterId) -> Option<Instruction> {
        let (Operand::Memory(_), Operand::Reg(..)) = (self.to, self.from) else {
            return None;
        };
        let bits = self.bits;
        let part = Part { bits, shift: 0 };
        let wanted = self.operands.register(accumulator);
        let new = self.operands.value(&self.from).zero_extended(bits);
        let found = Formula::Operand(0);
        let equal = Formula::apply(
            Op::Eq,
            wanted.clone().zero_extended(bits),
            found.clone().zero_extended(bits),
        );
        let stored = Outcome {
            stored: vec![new],
            registers: Vec::new(),
        };
        let failed = Outcome {
            stored: Vec::new(),
            registers: vec![(
                accumulator,
                self.operands.written(accumulator, part, found.clone()),
            )],
        };
        let flags = flags::of_difference(wanted, found, bits);
        let outcomes = vec![stored, failed];
        Some(self.with(Formula::Constant(0), Some(flags), Some(equal), outcomes))
    }

    /// The registers are the upper and the lower words of what is expected and of what is stored.
    pub fn compare_exchange_pair(mut self, pairs: [RegisterId; 4]) -> Option<Instruction> {
        let Operand::Memory(_) = self.to else {
            return None;
        };
        let [high, low, new_high, new_low] = pairs.map(|register| self.operands.register(register));
        let before = self.operands.register(self.flags);
        let pair = |high: Formula, low: Formula| {
            Formula::apply(Op::Or, high.shifted_left(32), low.zero_extended(32))
        };
        let found = Formula::Operand(0);
        let equal = Formula::apply(Op::Eq, pair(high, low), found.clone());
        let flags = flags::with_zero(before, equal.clone());
        let stored = Outcome {
            stored: vec![pair(new_high, new_low)],
            registers: Vec::new(),
        };
        let failed = Outcome {
            stored: Vec::new(),
            registers: vec![
                (pairs[0], found.clone().shifted_right(32)),
                (pairs[1], found.zero_extended(32)),
            ],
        };
        let outcomes = vec![stored, failed];
        Some(self.with(Formula::Constant(0), Some(flags), Some(equal), outcomes))
    }

    /// As `compare_exchange_pair`, of double the size.
    pub fn compare_exchange_halves(mut self, pairs: [RegisterId; 4]) -> Option<Instruction> {
        let Operand::Memory(_) = self.to else {
            return None;
        };
        let [high, low, new_high, new_low] = pairs.map(|register| self.operands.register(register));
        let before = self.operands.register(self.flags);
        let found = [
            Formula::Operand(0),
            Formula::Operand(self.operands.0.len() + 1),
        ];
        let same =
            |wanted: Formula, half: usize| Formula::apply(Op::Eq, wanted, found[half].clone());
        let equal = Formula::apply(Op::And, same(low, 0), same(high, 1));
        let flags = flags::with_zero(before, equal.clone());
        let stored = Outcome {
            stored: vec![new_low, new_high],
            registers: Vec::new(),
        };
        let [low, high] = found;
        let failed = Outcome {
            stored: Vec::new(),
            registers: vec![(pairs[0], high), (pairs[1], low)],
        };
        let outcomes = vec![stored, failed];
        let mut instruction = self.with(Formula::Constant(0), Some(flags), Some(equal), outcomes);
        if let Instruction::Transform(t) = &mut instruction {
            t.halves = true;
        }
        Some(instruction)
    }
}
