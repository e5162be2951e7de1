//! The annotations of the Linux kernel's memory model.

use borsh::{BorshDeserialize, BorshSerialize};

/// What accesses and fences are in the Linux kernel's memory model that no memory order of C stands for.
/// All but the first five are of fences.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum Annotation {
    /// Of a read-modify-write that returns nothing.
    Noreturn,
    /// Of the two halves of a lock that is taken.
    Lock,
    Unlock,
    /// Of the read of a `spin_trylock`, if it finds the lock taken.
    TryLock,
    /// Of a read of a lock.
    IsLocked,
    Rmb,
    Wmb,
    Barrier,
    BeforeAtomic,
    AfterAtomic,
    AfterSpinlock,
    AfterUnlockLock,
    AfterSrcuUnlock,
    RcuLock,
    RcuUnlock,
    SyncRcu,
    /// Of fences of one object, or of its accesses.
    SrcuLock,
    SrcuUnlock,
    SyncSrcu,
}

impl Annotation {
    /// Those of fences that a program may have or lack by themselves. The ends of critical sections come
    /// in pairs.
    pub const FENCES: [Annotation; 8] = [
        Annotation::Rmb,
        Annotation::Wmb,
        Annotation::BeforeAtomic,
        Annotation::AfterAtomic,
        Annotation::AfterSpinlock,
        Annotation::AfterUnlockLock,
        Annotation::AfterSrcuUnlock,
        Annotation::SyncRcu,
    ];

    /// The name in the model.
    pub fn name(self) -> &'static str {
        match self {
            Annotation::Noreturn => "noreturn",
            Annotation::Lock => "lock",
            Annotation::Unlock => "unlock",
            Annotation::TryLock => "trylock",
            Annotation::IsLocked => "islocked",
            Annotation::Rmb => "rmb",
            Annotation::Wmb => "wmb",
            Annotation::Barrier => "barrier",
            Annotation::BeforeAtomic => "before-atomic",
            Annotation::AfterAtomic => "after-atomic",
            Annotation::AfterSpinlock => "after-spinlock",
            Annotation::AfterUnlockLock => "after-unlock-lock",
            Annotation::AfterSrcuUnlock => "after-srcu-read-unlock",
            Annotation::RcuLock => "rcu-lock",
            Annotation::RcuUnlock => "rcu-unlock",
            Annotation::SyncRcu => "sync-rcu",
            Annotation::SrcuLock => "srcu-lock",
            Annotation::SrcuUnlock => "srcu-unlock",
            Annotation::SyncSrcu => "sync-srcu",
        }
    }
}
