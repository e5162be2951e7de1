//! The operations that an environment performs for library calls.
use crate::interpreter::environment::{Environment, ExternCall, Flow};
use crate::interpreter::thread::Thread;
use crate::ir::instruction::{Annotation, SiteId, SyncObject};
use crate::ir::program::Program;
use crate::library::mutex::Lock;
use crate::memory::value::{Dep, Val};

/// The operations that library calls consist of.
///
/// As with all operations of [`Environment`], an interrupted call runs again from its beginning.
pub trait Library<'p>: Environment {
    /// Reads a field of a library object, as a plain access of the caller.
    fn field(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        address: u64,
        size: u32,
    ) -> Result<u64, Self::Interruption>;
    fn set_field(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        address: u64,
        size: u32,
        value: u64,
    ) -> Result<(), Self::Interruption>;
    /// Begins the life of the synchronisation object at the call's first argument; see
    /// [`SyncObject::initialise`].
    fn begin_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Result<(), Self::Interruption>;
    /// Ends it.
    fn end_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
    ) -> Result<(), Self::Interruption>;
    /// Reads a byte, as a plain access of the caller, with its dependencies.
    fn byte(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        address: u64,
    ) -> Result<Val, Self::Interruption>;
    fn program(&self) -> &'p Program;
    /// Chooses: false, or, at most once per call and thread, true.
    fn either(&mut self, t: &mut Thread, call: &ExternCall) -> Result<bool, Self::Interruption>;
    /// Records a choice, when the call is complete; returns the dependencies of its result.
    fn chosen(&mut self, t: &mut Thread, call: &ExternCall, choice: bool) -> Dep;
    /// The zero-terminated text at an address.
    fn text(&self, address: u64) -> String;

    /// Records that the operation call of this number begins, or has returned.
    fn called(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;
    fn returned(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn detach(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;
    /// Returns what the thread may do, and has done, and a value with the dependencies of that.
    fn try_lock(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<(Lock, Val), Self::Interruption>;
    fn lock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    /// Returns 0, or an error number.
    fn unlock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn signal(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;
    fn broadcast(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;
    /// Returns whether the thread sleeps if the word is unchanged; otherwise it reads it again.
    fn begin_sleep(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<bool, Self::Interruption>;
    fn sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), Self::Interruption>;
    fn end_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Result<bool, Self::Interruption>;
    fn wake(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    fn sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    fn requeue(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    /// Returns the index of a critical section that begins.
    fn srcu(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        annotation: Annotation,
    ) -> Result<Val, Self::Interruption>;
    fn wait_at_barrier(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<Flow, Self::Interruption>;
    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    /// One of so many alternatives, at least two.
    fn choose(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        alternatives: u32,
    ) -> Result<u64, Self::Interruption>;
    /// The execution is not one of the program's.
    fn discard(&mut self, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn misuse(&mut self, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn refuse(&mut self, call: &ExternCall) -> Result<Flow, Self::Interruption>;

    /// Returns the address of a new object.
    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    fn posix_memalign(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<(), Self::Interruption>;
    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, Self::Interruption>;
    fn free(
        &mut self,
        t: &mut Thread,
        site: SiteId,
        address: u64,
    ) -> Result<(), Self::Interruption>;
    /// `memcpy` of at least one byte.
    fn copy(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        size: u64,
    ) -> Result<(), Self::Interruption>;
    /// `memset` of at least one byte.
    fn fill(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        size: u64,
    ) -> Result<(), Self::Interruption>;
}
