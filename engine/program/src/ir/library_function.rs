//! Functions of the library that the engine models.

use super::annotation::Annotation;

/// The kinds of synchronisation objects that calls initialise and destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncObject {
    Mutex,
    Condition,
    Barrier,
}

/// Functions of <string.h> that only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BytesOp {
    Memcmp,
    Memchr,
    Strlen,
    Strnlen,
    Strcmp,
    Strncmp,
    Strchr,
}

/// A function of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extern {
    /// With where its handle goes, the function, its argument, and the thread's attributes or 0.
    ThreadCreate,
    ThreadJoin,
    ThreadDetach,
    ThreadSelf,
    ThreadEqual,
    ThreadExit,
    MutexInit,
    MutexLock,
    /// With what it returns where another thread holds the mutex, and where the caller does and the
    /// mutex checks errors.
    MutexTrylock,
    MutexUnlock,
    CondInit,
    CondSignal,
    CondBroadcast,
    CondWait,
    /// As `CondWait`, for some time, which may be over at once.
    CondWaitFor,
    /// Enters the thread among those that sleep at an address.
    SleepBegin,
    /// Sleeps until another thread has woken it.
    Sleep,
    /// Stops sleeping; returns whether no other thread has woken it.
    SleepEnd,
    /// Wakes so many of the threads that sleep at an address; returns how many.
    Wake,
    /// The set of the threads that sleep at an address.
    Sleepers,
    /// Wakes so many of the threads that sleep at an address, and moves so many others to another
    /// address, where this is still the set of sleepers. Returns how many it wakes and moves.
    Requeue,
    BarrierInit,
    BarrierWait,
    /// Ends the life of a synchronisation object.
    Destroy(SyncObject),
    Once,
    Malloc,
    Calloc,
    Realloc,
    AlignedAlloc,
    PosixMemalign,
    Free,
    Memcpy,
    Memset,
    /// Comparing bytes and texts, and searching them.
    Bytes(BytesOp),
    AssertFail,
    /// Starts or continues to unwind, with the header of an exception.
    Raise,
    /// Whether a function that is being executed handles any exception: not 0 if so.
    IsHandled,
    /// Registers a function to be called with an argument when the thread ends.
    AtThreadExit,
    /// Returns one of its two arguments.
    Either,
    /// Ends the program; the text says why.
    Abort(&'static str),
    Trap,
    /// Ends the process after its exit handlers have run, or at once.
    Exit,
    ExitNow,
    /// A value below the argument: each is explored.
    Choose,
    /// Any number below 2^31; with an argument, any below that, which [`crate::lower::random`] makes
    /// of its remainder. Lowering leaves none.
    Random,
    /// The execution is not one of the program's: what has been assumed does not hold.
    Discard,
    /// A number that the program was given.
    Parameter,
    /// An operation of a concurrent object is called, or has returned.
    Called,
    Returned,
    /// Ends the program with a message: misuse of a synchronisation object.
    Misuse,
    /// Says what is not supported.
    Refuse,
    /// An operation of the Linux kernel's on an `srcu_struct`. One that begins a critical section returns its
    /// index, and the one that ends it gets that.
    Srcu(Annotation),
    /// Has no effect, and returns the constant.
    Ignored(u64),
}
