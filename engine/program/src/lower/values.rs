//! The registers of SSA values, and the operands that stand for values.
use crate::error::{Error, Result};
use crate::ir::bits::{mask, sext};
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, InstKind, Typed, Value};
use crate::llvm::types::{Type, TypeId};
use crate::lower::function::{Lower, Registers};

impl<'a> Lower<'_, '_, 'a> {
    pub fn define(&mut self, name: &'a str, ty: TypeId) -> Result<()> {
        let scalars = self.l.module.types.scalars(ty)?;
        for (_, scalar) in &scalars {
            self.l.module.types.bits(*scalar)?;
        }
        let count = scalars.len() as u32;
        let register = self.temporary(count);
        if self
            .values
            .insert(name, Registers { register, count })
            .is_some()
        {
            return Err(Error::invalid(format!("%{name} is defined twice")));
        }
        Ok(())
    }

    pub fn temporary(&mut self, count: u32) -> Register {
        let register = self.registers;
        self.registers += count;
        register
    }

    /// Emits an operation on two numbers of so many bits.
    pub fn emit_binary(
        &mut self,
        inst: &Inst<'a>,
        (op, bits): (BinOp, u32),
        dst: Register,
        a: Operand,
        b: Operand,
    ) {
        let op = Op::Bin {
            op,
            bits,
            dst,
            a,
            b,
        };
        self.emit(inst, op);
    }

    /// Emits an operation whose result is in a register of its own.
    pub fn binary(
        &mut self,
        inst: &Inst<'a>,
        op: BinOp,
        bits: u32,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let dst = self.temporary(1);
        self.emit_binary(inst, (op, bits), dst, a, b);
        Operand::Register(dst)
    }

    pub fn result_type(&self, inst: &Inst<'a>) -> Result<Option<TypeId>> {
        let types = &self.l.module.types;
        Ok(match inst.kind.called() {
            InstKind::Alloca { .. } | InstKind::Gep { .. } => Some(self.l.pointer_type()?),
            InstKind::Load { ty, .. } | InstKind::Phi { ty, .. } => Some(*ty),
            InstKind::Rmw { value, .. } => Some(value.0),
            InstKind::Select { a, .. } | InstKind::Bin { a, .. } => Some(a.0),
            InstKind::LandingPad { ty, .. } => Some(*ty),
            InstKind::Call { result, .. } => {
                (*types.get(*result)? != Type::Void).then_some(*result)
            }
            InstKind::Extract { from, path } => {
                let mut ty = from.0;
                for index in path {
                    ty = types.element(ty, *index)?.1;
                }
                Some(ty)
            }
            InstKind::Insert { into, .. } | InstKind::InsertElement { into, .. } => Some(into.0),
            InstKind::ExtractElement { from, .. } => Some(types.item(from.0)?),
            InstKind::ShuffleVector { a, mask, .. } => self.vector_like(mask.0, types.item(a.0)?),
            InstKind::Compare { a, .. } => {
                let bit = types.find(&Type::Int(1));
                bit.and_then(|bit| self.vector_like(a.0, bit))
            }
            InstKind::Cast { to, .. } => Some(*to),
            InstKind::Negate(value) | InstKind::Freeze(value) => Some(value.0),
            _ => None,
        })
    }

    /// All scalars of a value, in order.
    pub fn operands(&mut self, ty: TypeId, value: &Value<'a>) -> Result<Vec<Operand>> {
        match value {
            Value::Local(name) => match (self.folded.constant(name), self.values.get(name)) {
                (Some(bits), _) => Ok(vec![Operand::Const(bits)]),
                (None, Some(place)) => Ok((0..place.count)
                    .map(|k| Operand::Register(place.register + k))
                    .collect()),
                (None, None) if self.refused.contains(name) => {
                    Err(Error::unsupported(format!("the value %{name}")))
                }
                (None, None) => Err(Error::invalid(format!("%{name} is not defined"))),
            },
            Value::Zero | Value::Undef => {
                let count = self.l.module.types.scalars(ty)?.len();
                let each = match value {
                    Value::Undef => Operand::Undefined,
                    _ => Operand::Const(0),
                };
                Ok(vec![each; count])
            }
            Value::Int(value) if self.has_halves(ty) => Ok(vec![
                Operand::Const(*value as u64),
                Operand::Const(mask((*value >> 64) as u64, self.high_bits(ty))),
            ]),
            Value::Global(name) if self.l.is_thread_local(name) => {
                let global = self.l.global(value).unwrap_or_default();
                let dst = self.temporary(1);
                self.code.push(crate::ir::instruction::Inst {
                    op: Op::ThreadLocal { dst, global },
                    dbg: 0,
                    call: SAME_CALL,
                    unwind: None,
                });
                Ok(vec![Operand::Register(dst)])
            }
            Value::List(items) => {
                let mut out = Vec::new();
                for (item_ty, item) in items {
                    out.extend(self.operands(*item_ty, item)?);
                }
                Ok(out)
            }
            Value::Splat(item) => {
                let each = self.operand(item.0, &item.1)?;
                Ok(vec![each; self.l.module.types.scalars(ty)?.len()])
            }
            other => {
                self.l.check_defined(other)?;
                Ok(vec![Operand::Const(self.l.constant(ty, other)?)])
            }
        }
    }

    pub fn operand(&mut self, ty: TypeId, value: &Value<'a>) -> Result<Operand> {
        self.operands(ty, value)?
            .first()
            .copied()
            .ok_or_else(|| Error::invalid("value without parts"))
    }

    pub fn pointer(&mut self, value: &Value<'a>) -> Result<Operand> {
        let ptr = self.l.pointer_type()?;
        self.operand(ptr, value)
    }

    pub fn result(&mut self, inst: &Inst<'a>) -> Registers {
        match inst.result.and_then(|name| self.values.get(name)) {
            Some(place) => *place,
            None => Registers {
                register: self.temporary(2),
                count: 1,
            },
        }
    }

    pub fn dst(&mut self, inst: &Inst<'a>) -> Register {
        self.result(inst).register
    }

    pub fn indices(&mut self, source: TypeId, indices: &[Typed<'a>]) -> Result<(u64, Vec<Scaled>)> {
        let (mut offset, mut scaled) = (0u64, Vec::new());
        let mut ty = source;
        for (k, (index_ty, index)) in indices.iter().enumerate() {
            let bits = self.l.module.types.bits(*index_ty)?;
            let operand = self.operand(*index_ty, index)?;
            let stride = match (k, self.l.module.types.get(ty)?) {
                (0, _) => self.l.module.types.stride(ty)?,
                (_, Type::Array(_, item)) => {
                    ty = *item;
                    self.l.module.types.stride(ty)?
                }
                _ => {
                    let Operand::Const(index) = operand else {
                        return Err(Error::unsupported(
                            "a variable index into a structure or vector",
                        ));
                    };
                    let (at, item) = self.l.step(ty, index)?;
                    offset = offset.wrapping_add(at);
                    ty = item;
                    continue;
                }
            };
            match operand {
                Operand::Const(index) => {
                    let index = sext(index, bits);
                    offset = offset.wrapping_add(index.wrapping_mul(stride));
                }
                operand => scaled.push((operand, bits, stride)),
            }
        }
        Ok((offset, scaled))
    }

    /// The index of the first scalar of a part within the whole, and the number of its scalars.
    pub fn part(&self, ty: TypeId, path: &[u64]) -> Result<(u32, u32)> {
        let types = &self.l.module.types;
        let (mut start, mut ty) = (0, ty);
        for index in path {
            for before in 0..*index {
                start += types.scalars(types.element(ty, before)?.1)?.len() as u32;
            }
            ty = types.element(ty, *index)?.1;
        }
        Ok((start, types.scalars(ty)?.len() as u32))
    }
}
