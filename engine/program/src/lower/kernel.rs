//! Lowers what the header for the Linux kernel's primitives calls where C has no operation for it.
use crate::error::Result;
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, Typed};
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
        "rcu_lock" => Annotation::RcuLock,
        "rcu_unlock" => Annotation::RcuUnlock,
        "sync_rcu" => Annotation::SyncRcu,
        _ => return None,
    })
}

impl<'a> Lower<'_, '_, 'a> {
    /// Lowers a read-modify-write that returns nothing, `weakspot_kernel_add32(address, operand)`. Returns
    /// whether the function of this name is one.
    pub fn kernel_update(
        &mut self,
        inst: &Inst<'a>,
        name: &str,
        args: &[Typed<'a>],
    ) -> Result<bool> {
        let operation = name.strip_prefix(PREFIX);
        let operation = operation.map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()));
        let (Some(op), [(_, address), (ty, value)]) = (operation.and_then(rmw_op), args) else {
            return Ok(false);
        };
        let mut access = self.access(inst, "RMW", *ty, address, Some("monotonic"), false)?;
        debug_assert_eq!(access.order, order_of(Some("monotonic")));
        access.order = Order::Kernel(Annotation::Noreturn);
        let site = &mut self.l.program.sites[access.site as usize];
        (site.order, site.fixed) = (access.order, true);
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
