//! 128-bit integers: two registers each, the low half first. So have those of 65 to 127 bits, which
//! are the parts that LLVM divides structures into, and wide bit-fields: they are read, written,
//! converted, and combined bit by bit.
use crate::error::{Error, Result};
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, Typed, Value};
use crate::llvm::types::{Type, TypeId};
use crate::lower::function::Lower;
use crate::lower::opcodes::{binary_op, predicate_of};

impl<'a> Lower<'_, '_, 'a> {
    pub fn is_wide(&self, ty: TypeId) -> bool {
        matches!(self.l.module.types.get(ty), Ok(Type::Int(128)))
    }

    /// Whether a value has two registers.
    pub fn has_halves(&self, ty: TypeId) -> bool {
        matches!(self.l.module.types.get(ty), Ok(Type::Int(65..=128)))
    }

    /// Bits of the high half.
    pub fn high_bits(&self, ty: TypeId) -> u32 {
        match self.l.module.types.get(ty) {
            Ok(Type::Int(bits)) => bits.saturating_sub(64),
            _ => 0,
        }
    }

    fn halves(&mut self, ty: TypeId, value: &Value<'a>) -> Result<[Operand; 2]> {
        match self.operands(ty, value)?[..] {
            [low, high] => Ok([low, high]),
            _ => Err(Error::invalid("value without parts")),
        }
    }

    /// The one number that stands for a wide value in memory.
    pub fn packed(&mut self, inst: &Inst<'a>, ty: TypeId, value: &Value<'a>) -> Result<Operand> {
        if !self.is_wide(ty) {
            return self.operand(ty, value);
        }
        let [low, high] = self.halves(ty, value)?;
        let dst = self.temporary(1);
        self.emit(inst, Op::Pack { dst, low, high });
        Ok(Operand::Register(dst))
    }

    /// The halves of a wide value that was read as one number into the first of its registers.
    pub fn unpack(&mut self, inst: &Inst<'a>, ty: TypeId, dst: Register) {
        if self.is_wide(ty) {
            let a = Operand::Register(dst);
            self.emit(inst, Op::Unpack { dst, a });
        }
    }

    fn bin(&mut self, inst: &Inst<'a>, op: BinOp, dst: Register, a: Operand, b: Operand) {
        self.emit_binary(inst, (op, 64), dst, a, b);
    }

    pub fn compare(
        &mut self,
        inst: &Inst<'a>,
        predicate: Predicate,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let dst = self.temporary(1);
        let op = Op::Compare {
            predicate,
            bits: 64,
            dst,
            a,
            b,
            alternative: false,
        };
        self.emit(inst, op);
        Operand::Register(dst)
    }

    pub fn wide_binary(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        a: &Typed<'a>,
        b: &Value<'a>,
    ) -> Result<()> {
        let unsupported = || {
            Err(Error::unsupported(format!(
                "the instruction {name} on i128"
            )))
        };
        let dst = self.dst(inst);
        let logical = matches!(name, "and" | "or" | "xor");
        if !logical && !self.is_wide(a.0) {
            return unsupported();
        }
        let ([al, ah], [bl, bh]) = (self.halves(a.0, &a.1)?, self.halves(a.0, b)?);
        match binary_op(name) {
            Some(op @ (BinOp::And | BinOp::Or | BinOp::Xor)) => {
                self.bin(inst, op, dst, al, bl);
                self.bin(inst, op, dst + 1, ah, bh);
            }
            Some(op @ (BinOp::Add | BinOp::Sub)) => {
                let carry = match op {
                    BinOp::Add => {
                        self.bin(inst, op, dst, al, bl);
                        self.compare(inst, Predicate::Ult, Operand::Register(dst), al)
                    }
                    _ => {
                        self.bin(inst, op, dst, al, bl);
                        self.compare(inst, Predicate::Ult, al, bl)
                    }
                };
                let high = self.temporary(1);
                self.bin(inst, op, high, ah, bh);
                self.bin(inst, op, dst + 1, Operand::Register(high), carry);
            }
            Some(BinOp::Mul) => {
                let carried = self.product(inst, dst, al, bl);
                let [one, other] =
                    [(al, bh), (ah, bl)].map(|(a, b)| self.binary(inst, BinOp::Mul, 64, a, b));
                let sum = self.binary(inst, BinOp::Add, 64, one, other);
                self.bin(inst, BinOp::Add, dst + 1, sum, carried);
            }
            Some(op @ (BinOp::Shl | BinOp::Lshr | BinOp::Ashr)) => match bl {
                Operand::Const(distance @ 0..=127) => {
                    self.shift(inst, op, distance, [al, ah]);
                }
                distance => self.variable_shift(inst, op, distance, [al, ah]),
            },
            _ => return unsupported(),
        }
        Ok(())
    }

    /// The product of two 64-bit numbers: the low half, in a register, and the high one, by the
    /// halves of both (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm M).
    fn product(&mut self, inst: &Inst<'a>, low: Register, a: Operand, b: Operand) -> Operand {
        let half = Operand::Const(32);
        let mask = Operand::Const(0xffff_ffff);
        let mut bin = |op, a, b| self.binary(inst, op, 64, a, b);
        let [al, bl] = [a, b].map(|each| bin(BinOp::And, each, mask));
        let [ah, bh] = [a, b].map(|each| bin(BinOp::Lshr, each, half));
        let lowest = bin(BinOp::Mul, al, bl);
        let carried = bin(BinOp::Lshr, lowest, half);
        let first = bin(BinOp::Mul, ah, bl);
        let first = bin(BinOp::Add, first, carried);
        let second = bin(BinOp::Mul, al, bh);
        let middle = bin(BinOp::And, first, mask);
        let middle = bin(BinOp::Add, middle, second);
        let highest = bin(BinOp::Mul, ah, bh);
        let [first, middle] = [first, middle].map(|each| bin(BinOp::Lshr, each, half));
        let high = bin(BinOp::Add, highest, first);
        let high = bin(BinOp::Add, high, middle);
        self.bin(inst, BinOp::Mul, low, a, b);
        high
    }

    /// Shifts by a constant distance.
    fn shift(&mut self, inst: &Inst<'a>, op: BinOp, distance: u64, [low, high]: [Operand; 2]) {
        let dst = self.dst(inst);
        let by = |n: u64| Operand::Const(n);
        // the half that keeps its end, and the one that gets what is shifted out of it
        let (from, to, scaled, filled) = match op {
            BinOp::Shl => (low, high, dst, dst + 1),
            _ => (high, low, dst + 1, dst),
        };
        let back = match op {
            BinOp::Shl => BinOp::Lshr,
            _ => BinOp::Shl,
        };
        let forth = match op {
            BinOp::Shl => BinOp::Shl,
            _ => BinOp::Lshr,
        };
        match distance {
            0 => {
                self.copy(inst, scaled, from);
                self.copy(inst, filled, to);
            }
            1..=63 => {
                let (moved, rest) = (self.temporary(1), self.temporary(1));
                self.bin(inst, back, moved, from, by(64 - distance));
                self.bin(inst, forth, rest, to, by(distance));
                let (moved, rest) = (Operand::Register(moved), Operand::Register(rest));
                self.bin(inst, BinOp::Or, filled, rest, moved);
                self.bin(inst, op, scaled, from, by(distance));
            }
            _ => {
                self.bin(inst, op, filled, from, by(distance - 64));
                match op {
                    BinOp::Ashr => self.bin(inst, op, scaled, from, by(63)),
                    _ => self.bin(inst, BinOp::And, scaled, from, by(0)),
                }
            }
        }
    }

    /// Shifts by a distance that is not known. A half that is shifted by 64 or more, or by less than
    /// 0, is 0.
    fn variable_shift(&mut self, inst: &Inst<'a>, op: BinOp, by: Operand, halves: [Operand; 2]) {
        let dst = self.dst(inst);
        let ((from, to), (scaled, filled), forth, back) = match (op, halves) {
            (BinOp::Shl, [low, high]) => ((low, high), (dst, dst + 1), op, BinOp::Lshr),
            (_, [low, high]) => ((high, low), (dst + 1, dst), BinOp::Lshr, BinOp::Shl),
        };
        let half = Operand::Const(64);
        let less = self.binary(inst, BinOp::Sub, 64, half, by);
        let more = self.binary(inst, BinOp::Sub, 64, by, half);
        let rest = self.binary(inst, forth, 64, to, by);
        let moved = self.binary(inst, back, 64, from, less);
        let far = self.binary(inst, op, 64, from, more);
        let near = self.binary(inst, BinOp::Or, 64, rest, moved);
        self.bin(inst, BinOp::Or, filled, near, far);
        let by = match op {
            BinOp::Ashr => self.binary(inst, BinOp::Umin, 64, by, Operand::Const(63)),
            _ => by,
        };
        self.bin(inst, op, scaled, from, by);
    }

    pub fn wide_compare(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        a: &Typed<'a>,
        b: &Value<'a>,
    ) -> Result<()> {
        let predicate = predicate_of(false, name)
            .ok_or_else(|| Error::invalid(format!("unknown predicate {name}")))?;
        let dst = self.dst(inst);
        let ([al, ah], [bl, bh]) = (self.halves(a.0, &a.1)?, self.halves(a.0, b)?);
        let equality = matches!(predicate, Predicate::Eq | Predicate::Ne);
        if !equality && !self.is_wide(a.0) {
            // where its sign is, the high half does not know
            return Err(Error::unsupported("an order of integers of 65 to 127 bits"));
        }
        // the high halves decide unless they are equal
        let same = self.compare(inst, Predicate::Eq, ah, bh);
        let high = self.compare(inst, predicate, ah, bh);
        let unsigned = match predicate {
            Predicate::Sgt => Predicate::Ugt,
            Predicate::Sge => Predicate::Uge,
            Predicate::Slt => Predicate::Ult,
            Predicate::Sle => Predicate::Ule,
            other => other,
        };
        let low = self.compare(inst, unsigned, al, bl);
        let op = Op::Select {
            dst,
            condition: same,
            a: low,
            b: high,
        };
        self.emit(inst, op);
        Ok(())
    }

    /// A cast from or to a wide integer.
    pub fn wide_cast(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        value: &Typed<'a>,
        to: TypeId,
    ) -> Result<()> {
        let dst = self.dst(inst);
        let unsupported = || {
            Err(Error::unsupported(format!(
                "the instruction {name} on i128"
            )))
        };
        match (name, self.has_halves(value.0), self.has_halves(to)) {
            ("trunc" | "inttoptr", true, false) => {
                let [low, _] = self.halves(value.0, &value.1)?;
                let bits = self.l.module.types.bits(to)?;
                self.emit(inst, Op::Copy { bits, dst, a: low });
            }
            ("zext" | "trunc", true, true) => {
                let [low, high] = self.halves(value.0, &value.1)?;
                let bits = self.high_bits(value.0).min(self.high_bits(to));
                self.copy(inst, dst, low);
                let (dst, a) = (dst + 1, high);
                self.emit(inst, Op::Copy { bits, dst, a });
            }
            ("sext", false, true) if !self.is_wide(to) => return unsupported(),
            ("zext" | "ptrtoint" | "sext", false, true) => {
                let from = self.l.module.types.bits(value.0)?;
                let a = self.operand(value.0, &value.1)?;
                if name == "sext" {
                    self.emit(
                        inst,
                        Op::Sext {
                            from,
                            to: 64,
                            dst,
                            a,
                        },
                    );
                    let sign = Operand::Const(63);
                    self.bin(inst, BinOp::Ashr, dst + 1, Operand::Register(dst), sign);
                } else {
                    let bits = from;
                    self.emit(inst, Op::Copy { bits, dst, a });
                    self.copy(inst, dst + 1, Operand::Const(0));
                }
            }
            ("bitcast", true, true) => {
                let [low, high] = self.halves(value.0, &value.1)?;
                self.copy(inst, dst, low);
                self.copy(inst, dst + 1, high);
            }
            _ => return unsupported(),
        }
        Ok(())
    }
}
