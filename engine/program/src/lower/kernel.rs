//! Lowers what the header for the Linux kernel's primitives calls where C has no operation for it.
use crate::error::Result;
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, InstKind, Typed};
use crate::lower::function::Lower;
use crate::lower::opcodes::{order_of, rmw_op};

const PREFIX: &str = "weakspot_kernel_";

/// The annotation of the fence that a function of this name stands for.
pub fn fence(name: &str) -> Option<Annotation> {
    Some(match name.strip_prefix(PREFIX)? {
        "rmb" => Annotation::Rmb,
        "wmb" => Annotation::Wmb,
        "barrier" => Annotation::Barrier,
        "before_atomic" => Annotation::BeforeAtomic,
        "after_atomic" => Annotation::AfterAtomic,
        "after_spinlock" => Annotation::AfterSpinlock,
        "after_unlock_lock" => Annotation::AfterUnlockLock,
        "after_srcu_unlock" => Annotation::AfterSrcuUnlock,
        "rcu_lock" => Annotation::RcuLock,
        "rcu_unlock" => Annotation::RcuUnlock,
        "sync_rcu" => Annotation::SyncRcu,
        _ => return None,
    })
}

impl<'a> Lower<'_, '_, 'a> {
    /// Lowers what the header calls for an operation of the kernel's, if the function of this name is one.
    pub fn kernel_operation(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        args: &[Typed<'a>],
    ) -> Result<bool> {
        let Some(operation) = name.strip_prefix(PREFIX) else {
            return Ok(false);
        };
        match operation {
            "is_locked" => self.is_locked(inst, args),
            "srcu_lock" => self.srcu(inst, Annotation::SrcuLock, args),
            "srcu_unlock" => self.srcu(inst, Annotation::SrcuUnlock, args),
            "sync_srcu" => self.srcu(inst, Annotation::SyncSrcu, args),
            "rcu_barrier" => {
                self.ignored(inst, 0);
                Ok(true)
            }
            "has_rcu_barrier" => {
                let called = "weakspot_kernel_rcu_barrier";
                self.ignored(inst, self.l.module.externals.contains(&called).into());
                Ok(true)
            }
            "add_unless32" | "add_unless64" => self.add_if(inst, CasWrite::SumUnless, args),
            "add_if_greater32" | "add_if_greater64" => {
                self.add_if(inst, CasWrite::SumIfGreater, args)
            }
            operation => self.update(inst, operation, args),
        }
    }

    /// Lowers `weakspot_kernel_srcu_lock(address)`, which returns an index,
    /// `weakspot_kernel_srcu_unlock(address, index)` or `weakspot_kernel_sync_srcu(address)`.
    fn srcu(
        &mut self,
        inst: &Inst<'a>,
        annotation: Annotation,
        args: &[Typed<'a>],
    ) -> Result<bool> {
        let args = self.values(args)?;
        if args.len() < 1 + usize::from(annotation == Annotation::SrcuUnlock) {
            return Ok(false);
        }
        self.external(inst, Extern::Srcu(annotation), "F", annotation.into(), args);
        if let Some(site) = self.l.program.sites.last_mut() {
            site.fixed = true;
        }
        Ok(true)
    }

    /// Lowers `weakspot_kernel_add_unless32(address, value, unless)` or
    /// `weakspot_kernel_add_if_greater32(address, value, than)`, which return what they have read.
    fn add_if(&mut self, inst: &Inst<'a>, writes: CasWrite, args: &[Typed<'a>]) -> Result<bool> {
        let ([(_, address), (ty, value), (_, compared)], Some(_)) = (args, inst.result) else {
            return Ok(false);
        };
        let access = self.access(inst, "CAS", *ty, address, Some("seq_cst"), false)?;
        let op = Op::Cas {
            dst: self.dst(inst),
            flag: self.temporary(1),
            weak: false,
            writes,
            address: self.pointer(address)?,
            expected: self.packed(inst, *ty, compared)?,
            desired: self.packed(inst, *ty, value)?,
            access,
            failure: Order::Rlx,
        };
        self.emit(inst, op);
        if let Some(site) = self.l.program.sites.last_mut() {
            site.fixed = true;
        }
        Ok(true)
    }

    /// Lowers a read of a lock, `weakspot_kernel_is_locked(address)`: the value is not 0 if it is taken.
    fn is_locked(&mut self, inst: &Inst<'a>, args: &[Typed<'a>]) -> Result<bool> {
        let (InstKind::Call { result, .. }, [(_, address)], Some(_)) =
            (&inst.kind, args, inst.result)
        else {
            return Ok(false);
        };
        let mut access = self.access(inst, "R", *result, address, Some("monotonic"), false)?;
        self.annotate(&mut access, Annotation::IsLocked);
        let op = Op::Load {
            dst: self.dst(inst),
            address: self.pointer(address)?,
            access,
        };
        self.emit(inst, op);
        Ok(true)
    }

    /// Makes a relaxed access one of the kernel's alone.
    fn annotate(&mut self, access: &mut Access, annotation: Annotation) {
        debug_assert_eq!(access.order, order_of(Some("monotonic")));
        access.order = annotation.into();
        let site = &mut self.l.program.sites[access.site as usize];
        (site.order, site.fixed) = (access.order, true);
    }

    /// Lowers a read-modify-write that returns nothing, `weakspot_kernel_add32(address, operand)`.
    fn update(&mut self, inst: &Inst<'a>, operation: &str, args: &[Typed<'a>]) -> Result<bool> {
        let operation = operation.trim_end_matches(|c: char| c.is_ascii_digit());
        let (Some(op), [(_, address), (ty, value)]) = (rmw_op(operation), args) else {
            return Ok(false);
        };
        let mut access = self.access(inst, "RMW", *ty, address, Some("monotonic"), false)?;
        self.annotate(&mut access, Annotation::Noreturn);
        let op = Op::Rmw {
            dst: self.temporary(1),
            op,
            address: self.pointer(address)?,
            value: self.packed(inst, *ty, value)?,
            access,
        };
        self.emit(inst, op);
        Ok(true)
    }
}
