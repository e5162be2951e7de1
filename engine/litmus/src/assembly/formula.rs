//! Formulas over the operands of an instruction: what it computes, in one form for all
//! architectures.

use crate::value::Op;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// An operand, by its place.
    Operand(usize),
    Constant(i64),
    /// What the instruction computes, in the formula of its flags.
    Result,
    Apply(Op, Box<[Formula; 2]>),
}

impl Formula {
    pub fn apply(op: Op, a: Formula, b: Formula) -> Formula {
        Formula::Apply(op, Box::new([a, b]))
    }

    pub fn with(self, op: Op, n: i64) -> Formula {
        Formula::apply(op, self, Formula::Constant(n))
    }

    /// The lowest bits, with zeros above.
    pub fn zero_extended(self, bits: i64) -> Formula {
        match bits {
            64 => self,
            bits => self.with(Op::Mask, bits),
        }
    }

    /// The lowest bits, with copies of the highest of them above.
    pub fn sign_extended(self, bits: i64) -> Formula {
        match bits {
            64 => self,
            bits => self.with(Op::Narrow, bits),
        }
    }

    pub fn shifted_left(self, by: i64) -> Formula {
        match by {
            0 => self,
            by => self.with(Op::ShiftLeft, by),
        }
    }

    pub fn shifted_right(self, by: i64) -> Formula {
        match by {
            0 => self,
            by => self.with(Op::ShiftRight, by),
        }
    }

    pub fn inverted(self) -> Formula {
        self.with(Op::Xor, -1)
    }

    pub fn negated(self) -> Formula {
        Formula::apply(Op::Sub, Formula::Constant(0), self)
    }
}
