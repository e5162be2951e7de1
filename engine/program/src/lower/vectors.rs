//! Vectors: a register per element, so that most operations on them are those of their elements. In
//! memory each element is an access of its own, as SIMD instructions promise no more. What is not
//! lowered: vectors of addresses that are accessed, vectors of bits in memory, and most intrinsics.
use crate::error::{Error, Result};
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, Typed, Value};
use crate::llvm::types::{Type, TypeId};
use crate::lower::function::Lower;

/// x86's instructions that gather the highest bit of each element in an integer.
pub const SIGN_BITS: &[&str] = &[
    "llvm.x86.sse2.pmovmskb.128",
    "llvm.x86.sse2.movmsk.pd",
    "llvm.x86.sse.movmsk.ps",
];

impl<'a> Lower<'_, '_, 'a> {
    pub fn is_vector(&self, ty: TypeId) -> bool {
        matches!(self.l.module.types.get(ty), Ok(Type::Vector(..)))
    }

    /// `item`, or the vector of it that has as many elements as the vector `ty`, if the module
    /// names that type.
    pub fn vector_like(&self, ty: TypeId, item: TypeId) -> Option<TypeId> {
        match self.l.module.types.get(ty) {
            Ok(Type::Vector(count, _)) => self.l.module.types.find(&Type::Vector(*count, item)),
            _ => Some(item),
        }
    }

    /// The operands of an operation, for each element.
    pub fn pairs(&mut self, a: &Typed<'a>, b: &Value<'a>) -> Result<Vec<(Operand, Operand)>> {
        let (one, other) = (self.operands(a.0, &a.1)?, self.operands(a.0, b)?);
        Ok(one.into_iter().zip(other).collect())
    }

    /// Refuses vectors that are accessed atomically, or whose elements are not of whole bytes.
    pub fn require_whole_bytes(&self, ty: TypeId, order: Option<&str>) -> Result<()> {
        let types = &self.l.module.types;
        match types.get(ty)? {
            Type::Vector(_, item)
                if order.is_some() || !matches!(types.bits(*item)?, 8 | 16 | 32 | 64) =>
            {
                Err(Error::unsupported(format!(
                    "an access of type {}",
                    types.describe(ty)
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses vectors as arguments of what is not a function of the program.
    pub fn require_no_vectors(&self, name: &str, args: &[Typed<'a>]) -> Result<()> {
        match args.iter().any(|(ty, _)| self.is_vector(*ty)) {
            true => Err(Error::unsupported(format!("{name} of a vector"))),
            false => Ok(()),
        }
    }

    pub fn extract_element(
        &mut self,
        inst: &Inst<'a>,
        from: &Typed<'a>,
        index: &Typed<'a>,
    ) -> Result<()> {
        let dst = self.dst(inst);
        let parts = self.operands(from.0, &from.1)?;
        let index = self.operand(index.0, &index.1)?;
        if let Operand::Const(index) = index {
            let part = parts.get(index as usize).unwrap_or(&Operand::Undefined);
            self.copy(inst, dst, *part);
            return Ok(());
        }
        let mut found = Operand::Undefined;
        for (k, part) in parts.into_iter().enumerate() {
            found = self.chosen(inst, index, k, part, found);
        }
        self.copy(inst, dst, found);
        Ok(())
    }

    pub fn insert_element(
        &mut self,
        inst: &Inst<'a>,
        into: &Typed<'a>,
        value: &Typed<'a>,
        index: &Typed<'a>,
    ) -> Result<()> {
        let dst = self.dst(inst);
        let parts = self.operands(into.0, &into.1)?;
        let value = self.operand(value.0, &value.1)?;
        let index = self.operand(index.0, &index.1)?;
        for (k, part) in parts.into_iter().enumerate() {
            let part = match index {
                Operand::Const(index) if index == k as u64 => value,
                Operand::Const(_) => part,
                _ => self.chosen(inst, index, k, value, part),
            };
            self.copy(inst, dst + k as Register, part);
        }
        Ok(())
    }

    /// `a` if the index is `k`, else `b`.
    fn chosen(
        &mut self,
        inst: &Inst<'a>,
        index: Operand,
        k: usize,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let condition = self.compare(inst, Predicate::Eq, index, Operand::Const(k as u64));
        let dst = self.temporary(1);
        let op = Op::Select {
            dst,
            condition,
            a,
            b,
        };
        self.emit(inst, op);
        Operand::Register(dst)
    }

    pub fn shuffle(
        &mut self,
        inst: &Inst<'a>,
        a: &Typed<'a>,
        b: &Value<'a>,
        mask: &Typed<'a>,
    ) -> Result<()> {
        let dst = self.dst(inst);
        let mut parts = self.operands(a.0, &a.1)?;
        parts.extend(self.operands(a.0, b)?);
        for (k, index) in self.operands(mask.0, &mask.1)?.into_iter().enumerate() {
            let part = match index {
                Operand::Const(index) => parts.get(index as usize).copied(),
                _ => None,
            };
            let part = part.unwrap_or(Operand::Undefined);
            self.copy(inst, dst + k as Register, part);
        }
        Ok(())
    }

    /// A `bitcast` between vectors, or a vector and an integer: the same bits in other pieces, the
    /// first element lowest.
    pub fn cut_otherwise(&mut self, inst: &Inst<'a>, value: &Typed<'a>, to: TypeId) -> Result<()> {
        let dst = self.dst(inst);
        let [from, bits] = [self.piece_bits(value.0)?, self.piece_bits(to)?];
        let parts = self.operands(value.0, &value.1)?;
        if from % bits != 0 && bits % from != 0 {
            return Err(Error::unsupported("a bitcast of a vector to such elements"));
        }
        if from >= bits {
            let per = from / bits;
            for (k, part) in parts.into_iter().enumerate() {
                for piece in 0..per {
                    let distance = Operand::Const(u64::from(piece * bits));
                    let a = match piece {
                        0 => part,
                        _ => self.binary(inst, BinOp::Lshr, from, part, distance),
                    };
                    let dst = dst + k as Register * per + piece;
                    self.emit(inst, Op::Copy { bits, dst, a });
                }
            }
            return Ok(());
        }
        for (k, pieces) in parts.chunks((bits / from) as usize).enumerate() {
            let whole = self.joined(inst, (from, bits), pieces);
            self.copy(inst, dst + k as Register, whole);
        }
        Ok(())
    }

    /// Pieces of `from` bits in one number of `bits`, the first lowest.
    fn joined(&mut self, inst: &Inst<'a>, (from, bits): (u32, u32), pieces: &[Operand]) -> Operand {
        let mut whole = Operand::Const(0);
        for (at, piece) in pieces.iter().enumerate() {
            let distance = Operand::Const(at as u64 * u64::from(from));
            let shifted = self.binary(inst, BinOp::Shl, bits, *piece, distance);
            whole = self.binary(inst, BinOp::Or, bits, whole, shifted);
        }
        whole
    }

    pub fn sign_bits(&mut self, inst: &Inst<'a>, vector: &Typed<'a>) -> Result<()> {
        let dst = self.dst(inst);
        let bits = self.piece_bits(vector.0)?;
        let highest = Operand::Const(u64::from(bits - 1));
        let parts = self.operands(vector.0, &vector.1)?;
        let signs: Vec<Operand> = parts
            .into_iter()
            .map(|part| self.binary(inst, BinOp::Lshr, bits, part, highest))
            .collect();
        let mask = self.joined(inst, (1, 32), &signs);
        self.copy(inst, dst, mask);
        Ok(())
    }

    /// Bits of each of the registers that a vector or an integer is in.
    fn piece_bits(&self, ty: TypeId) -> Result<u32> {
        let types = &self.l.module.types;
        match self.is_wide(ty) {
            true => Ok(64),
            false => types.bits(types.item(ty)?),
        }
    }
}
