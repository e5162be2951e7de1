//! Lowers instructions that access memory or allocate it on the stack.
use crate::error::{Error, Result};
use crate::ir::instruction::*;
use crate::ir::program::*;
use crate::llvm::ast::{Inst, Typed, Value};
use crate::llvm::types::{TypeId, MAX_SIZE};
use crate::lower::function::Lower;
use crate::lower::opcodes::order_of;

impl<'a> Lower<'_, '_, 'a> {
    pub fn fence(&mut self, inst: &Inst<'a>, order: Order, signal: bool) {
        let site = self.site(inst, if signal { "SF" } else { "F" }, order);
        let has_no_other = match order {
            Order::Light | Order::Heavy => true,
            Order::Kernel(annotation) => !Annotation::FENCES.contains(&annotation),
            _ => false,
        };
        if has_no_other {
            self.l.program.sites[site as usize].fixed = true;
        }
        let op = Op::Fence {
            order,
            signal,
            site,
        };
        self.emit(inst, op);
    }

    pub fn access(
        &mut self,
        inst: &Inst<'a>,
        kind: &'static str,
        ty: TypeId,
        address: &Value<'a>,
        order: Option<&str>,
        volatile: bool,
    ) -> Result<Access> {
        self.l.check_defined(address)?;
        let bits = match self.is_wide(ty) {
            true => 128,
            false => self.l.module.types.bits(ty)?,
        };
        let order = order_of(order);
        let site = self.site(inst, kind, order);
        self.l.program.sites[site as usize].volatile = volatile;
        Ok(Access {
            site,
            order,
            size: bits.div_ceil(8),
            bits,
            volatile,
            private: self.private(address),
            update: false,
            partial: inst.result.is_some_and(|name| self.partial.contains(name)),
        })
    }

    /// `address + offset`, in a register of its own if the offset is not 0.
    fn offset(&mut self, inst: &Inst<'a>, base: Operand, offset: u64) -> Operand {
        if offset == 0 {
            return base;
        }
        let dst = self.temporary(1);
        let op = Op::Gep {
            dst,
            base,
            offset,
            scaled: Vec::new(),
        };
        self.emit(inst, op);
        Operand::Register(dst)
    }

    pub fn load(
        &mut self,
        inst: &Inst<'a>,
        ty: TypeId,
        address: &Value<'a>,
        order: Option<&str>,
        volatile: bool,
    ) -> Result<()> {
        self.require_whole_bytes(ty, order)?;
        let dst = self.dst(inst);
        if order.is_some() && self.is_wide(ty) {
            let access = self.access(inst, "R", ty, address, order, volatile)?;
            let address = self.pointer(address)?;
            let op = Op::Load {
                dst,
                address,
                access,
            };
            self.emit(inst, op);
            self.unpack(inst, ty, dst);
            return Ok(());
        }
        let scalars = self.l.module.types.scalars(ty)?;
        let base = self.pointer(address)?;
        for (k, (offset, scalar)) in scalars.into_iter().enumerate() {
            let access = self.access(inst, "R", scalar, address, order, volatile)?;
            let address = self.offset(inst, base, offset);
            let op = Op::Load {
                dst: dst + k as Register,
                address,
                access,
            };
            self.emit(inst, op);
        }
        Ok(())
    }

    pub fn store(
        &mut self,
        inst: &Inst<'a>,
        value: &Typed<'a>,
        address: &Value<'a>,
        order: Option<&str>,
        volatile: bool,
    ) -> Result<()> {
        self.require_whole_bytes(value.0, order)?;
        if order.is_some() && self.is_wide(value.0) {
            let access = self.access(inst, "W", value.0, address, order, volatile)?;
            let op = Op::Store {
                value: self.packed(inst, value.0, &value.1)?,
                address: self.pointer(address)?,
                access,
            };
            self.emit(inst, op);
            return Ok(());
        }
        let scalars = self.l.module.types.scalars(value.0)?;
        let values = self.operands(value.0, &value.1)?;
        let base = self.pointer(address)?;
        for ((offset, scalar), value) in scalars.into_iter().zip(values) {
            let access = self.access(inst, "W", scalar, address, order, volatile)?;
            let address = self.offset(inst, base, offset);
            let op = Op::Store {
                value,
                address,
                access,
            };
            self.emit(inst, op);
        }
        Ok(())
    }

    /// Clang marks where the lifetimes of local variables and temporary objects begin and end, and
    /// LLVM's inliner where those of a function do in the caller that have no marks. Those of a
    /// private variable are not observable.
    pub fn lifetime(&mut self, inst: &Inst<'a>, begins: bool, args: &[Typed<'a>]) {
        let Some((_, value @ Value::Local(name))) = args.last() else {
            return;
        };
        let is_alloca = self.is_local(name);
        if let (true, false, Some(place)) = (
            is_alloca,
            self.private(value),
            self.values.get(name).copied(),
        ) {
            let op = Op::Lifetime {
                begins,
                local: place.register,
                site: self.site(inst, "call", Order::Na),
            };
            self.emit(inst, op);
        }
    }

    pub fn alloca(
        &mut self,
        inst: &Inst<'a>,
        ty: TypeId,
        count: Option<&Typed<'a>>,
        align: u64,
    ) -> Result<()> {
        let name = inst.result.unwrap_or_default();
        let metadata = &self.l.module.metadata;
        let declared = self.variable(name);
        let variable = declared.and_then(|found| metadata.get(found.variable));
        let shape = variable.and_then(|v| v.node("type"));
        let local = Local {
            name: variable
                .map(|v| v.text("name"))
                .unwrap_or_default()
                .to_string(),
            shape: shape.map(|t| self.l.program.shapes.read(metadata, t)),
        };
        self.l.program.locals.push(local);
        let own = self.l.module.types.align(ty)?;
        let align = align.max(own).max(1);
        if !align.is_power_of_two() || align > MAX_SIZE {
            return Err(Error::invalid("alignment is not a power of two"));
        }
        let private = self.private(&Value::Local(name));
        // the scope of a private variable is not observable
        let site = match (private, declared) {
            (true, _) => 0,
            (false, Some(declared)) => self.declaration(declared),
            (false, None) => self.site(inst, "call", Order::Na),
        };
        let op = Op::Alloca {
            dst: self.dst(inst),
            size: self.l.module.types.size(ty)?,
            count: match count {
                Some((ty, count)) => Some(self.operand(*ty, count)?),
                None => None,
            },
            align,
            local: self.l.program.locals.len() as u32 - 1,
            private,
            idle: false,
            site,
        };
        self.emit(inst, op);
        Ok(())
    }
}
