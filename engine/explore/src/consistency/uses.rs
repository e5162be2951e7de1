//! What a program has none of, so that a model need not be asked about it.

use program::ir::{Annotation, Extern, Op, Order};
use program::Program;

/// The sorts of events that graphs may contain, of those that few programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    pub asymmetric_fences: bool,
    rcu: bool,
    srcu: bool,
    pub locks: bool,
    /// Locks are tried, or looked at.
    lock_tests: bool,
}

impl Uses {
    pub const ALL: Uses = Uses {
        asymmetric_fences: true,
        rcu: true,
        srcu: true,
        locks: true,
        lock_tests: true,
    };
    pub const NONE: Uses = Uses {
        asymmetric_fences: false,
        rcu: false,
        srcu: false,
        locks: false,
        lock_tests: false,
    };

    pub fn of(program: &Program) -> Uses {
        let mut uses = Uses {
            asymmetric_fences: program.has_asymmetric_fences(),
            ..Uses::NONE
        };
        let code = program.functions.iter().flat_map(|f| &f.code);
        for inst in code {
            match &inst.op {
                Op::Fence {
                    order: Order::Kernel(annotation),
                    ..
                } => {
                    use Annotation::{RcuLock, RcuUnlock, SyncRcu};
                    uses.rcu |= matches!(annotation, RcuLock | RcuUnlock | SyncRcu);
                }
                Op::Extern { function, .. } => match function {
                    Extern::Srcu(_) => uses.srcu = true,
                    Extern::MutexTrylock => (uses.locks, uses.lock_tests) = (true, true),
                    Extern::MutexLock
                    | Extern::MutexUnlock
                    | Extern::CondWait
                    | Extern::CondWaitFor => uses.locks = true,
                    _ => {}
                },
                Op::Load { access, .. } => {
                    uses.lock_tests |= access.order == Annotation::IsLocked.into();
                }
                _ => {}
            }
        }
        uses
    }

    /// The same, but no locks: they are then shown as accesses, as [`View`] says.
    ///
    /// [`View`]: crate::consistency::view::View
    pub fn without_locks(self) -> Uses {
        Uses {
            locks: false,
            lock_tests: false,
            ..self
        }
    }

    /// The sets of the Linux kernel's model without events.
    pub fn empty_in_kernel(self) -> Vec<&'static str> {
        let sets: [(bool, &[&str]); 4] = [
            (self.rcu, &["Rcu-lock", "Rcu-unlock", "Sync-rcu"]),
            (self.srcu, &["Srcu-lock", "Srcu-unlock", "Sync-srcu"]),
            (self.locks, &["LKR", "LKW", "UL"]),
            (self.lock_tests, &["LF", "RL", "RU"]),
        ];
        let unused = sets.iter().filter(|(used, _)| !used);
        unused
            .flat_map(|(_, names)| names.iter().copied())
            .collect()
    }
}
