//! The types of loom as those of std, for weakspot explores every execution of a program of std:
//! `model` calls its function once, and cells leave it to the explorer to see races.
//!
//! Compiled in place of loom where a crate is checked with `--loom`, in loom's edition.

pub use crate::model::model;

#[macro_export]
macro_rules! thread_local {
    ($($all:tt)*) => { ::std::thread_local! { $($all)* } };
}

#[macro_export]
macro_rules! lazy_static {
    ($(#[$attribute:meta])* $see:vis static ref $name:ident: $type:ty = $value:expr; $($rest:tt)*) => {
        $(#[$attribute])*
        $see static $name: $crate::lazy_static::Lazy<$type> =
            $crate::lazy_static::Lazy::new(|| $value);
        $crate::lazy_static! { $($rest)* }
    };
    () => {};
}

/// Marks what loom shall explore; all of it is.
pub fn explore() {}

/// See `explore`.
pub fn stop_exploring() {}

pub mod lazy_static {
    pub use std::sync::LazyLock as Lazy;
}

pub mod hint {
    pub use std::hint::{spin_loop, unreachable_unchecked};
}

pub mod thread {
    pub use std::thread::{
        current, panicking, park, spawn, yield_now, AccessError, Builder, JoinHandle, LocalKey,
        Thread, ThreadId,
    };
}

pub mod model {
    use std::path::PathBuf;
    use std::time::Duration;

    /// Calls the function.
    pub fn model<F: Fn() + Sync + Send + 'static>(function: F) {
        function()
    }

    /// What bounds loom, and does not bound weakspot.
    #[derive(Debug, Default)]
    #[non_exhaustive]
    pub struct Builder {
        pub max_threads: usize,
        pub max_branches: usize,
        pub max_permutations: Option<usize>,
        pub max_duration: Option<Duration>,
        pub preemption_bound: Option<usize>,
        pub checkpoint_file: Option<PathBuf>,
        pub checkpoint_interval: usize,
        pub expect_explicit_explore: bool,
        pub location: bool,
        pub log: bool,
    }

    impl Builder {
        pub fn new() -> Self {
            Self::default()
        }

        pub fn checkpoint_file(&mut self, _file: &str) -> &mut Self {
            self
        }

        pub fn check<F: Fn() + Sync + Send + 'static>(&self, function: F) {
            function()
        }
    }
}

pub mod cell {
    pub use std::cell::Cell;

    #[derive(Debug, Default)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        pub fn with<R>(&self, function: impl FnOnce(*const T) -> R) -> R {
            function(self.0.get())
        }

        pub fn with_mut<R>(&self, function: impl FnOnce(*mut T) -> R) -> R {
            function(self.0.get())
        }

        pub fn get(&self) -> ConstPtr<T> {
            ConstPtr(self.0.get())
        }

        pub fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }
    }

    impl<T> From<T> for UnsafeCell<T> {
        fn from(value: T) -> Self {
            Self::new(value)
        }
    }

    #[derive(Debug)]
    pub struct ConstPtr<T: ?Sized>(*const T);

    impl<T: ?Sized> ConstPtr<T> {
        pub unsafe fn deref(&self) -> &T {
            &*self.0
        }

        pub fn with<R>(&self, function: impl FnOnce(*const T) -> R) -> R {
            function(self.0)
        }
    }

    #[derive(Debug)]
    pub struct MutPtr<T: ?Sized>(*mut T);

    impl<T: ?Sized> MutPtr<T> {
        #[allow(clippy::mut_from_ref)]
        pub unsafe fn deref(&self) -> &mut T {
            &mut *self.0
        }

        pub fn with<R>(&self, function: impl FnOnce(*mut T) -> R) -> R {
            function(self.0)
        }
    }
}

pub mod alloc {
    pub use std::alloc::{alloc, alloc_zeroed, dealloc, Layout};

    /// A value of which loom sees whether it is dropped; the explorer sees what is freed.
    #[derive(Debug, Default)]
    pub struct Track<T>(T);

    impl<T> Track<T> {
        pub fn new(value: T) -> Self {
            Self(value)
        }

        pub fn get_ref(&self) -> &T {
            &self.0
        }

        pub fn get_mut(&mut self) -> &mut T {
            &mut self.0
        }

        pub fn into_inner(self) -> T {
            self.0
        }
    }
}

pub mod sync {
    pub use std::sync::{mpsc, Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, PoisonError};
    pub use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};
    pub use std::sync::{WaitTimeoutResult, Weak};

    /// A notification that one thread waits for.
    #[derive(Debug, Default)]
    pub struct Notify {
        notified: std::sync::atomic::AtomicBool,
    }

    impl Notify {
        pub fn new() -> Self {
            Self::default()
        }

        pub fn notify(&self) {
            self.notified.swap(true, atomic::Ordering::AcqRel);
        }

        pub fn wait(&self) {
            while !self.notified.load(atomic::Ordering::Acquire) {
                std::hint::spin_loop();
            }
            self.notified.store(false, atomic::Ordering::Relaxed);
        }
    }

    pub mod atomic {
        pub use std::sync::atomic::{compiler_fence, fence, Ordering};

        macro_rules! atomic {
            ($([$($of:ident)?] $name:ident: $value:ty;)*) => { $(
                /// That of std, with what only loom's has.
                #[derive(Debug, Default)]
                pub struct $name$(<$of>)?(std::sync::atomic::$name$(<$of>)?);

                impl$(<$of>)? $name$(<$of>)? {
                    pub const fn new(value: $value) -> Self {
                        Self(std::sync::atomic::$name::new(value))
                    }

                    pub fn into_inner(self) -> $value {
                        self.0.into_inner()
                    }

                    pub fn with_mut<R>(&mut self, function: impl FnOnce(&mut $value) -> R) -> R {
                        function(self.0.get_mut())
                    }

                    /// # Safety
                    /// No other thread stores meanwhile.
                    pub unsafe fn unsync_load(&self) -> $value {
                        *self.0.as_ptr()
                    }
                }

                impl$(<$of>)? From<$value> for $name$(<$of>)? {
                    fn from(value: $value) -> Self {
                        Self::new(value)
                    }
                }

                impl$(<$of>)? std::ops::Deref for $name$(<$of>)? {
                    type Target = std::sync::atomic::$name$(<$of>)?;

                    fn deref(&self) -> &Self::Target {
                        &self.0
                    }
                }

                impl$(<$of>)? std::ops::DerefMut for $name$(<$of>)? {
                    fn deref_mut(&mut self) -> &mut Self::Target {
                        &mut self.0
                    }
                }
            )* };
        }

        atomic! {
            [] AtomicBool: bool;
            [] AtomicI8: i8;
            [] AtomicI16: i16;
            [] AtomicI32: i32;
            [] AtomicI64: i64;
            [] AtomicIsize: isize;
            [] AtomicU8: u8;
            [] AtomicU16: u16;
            [] AtomicU32: u32;
            [] AtomicU64: u64;
            [] AtomicUsize: usize;
            [T] AtomicPtr: *mut T;
        }
    }
}

pub mod future {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{current, park, Thread};

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Polls the future until it is ready; parks while it is not.
    pub fn block_on<F: Future>(future: F) -> F::Output {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(current())));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => park(),
            }
        }
    }

    /// A waker that one task registers and others wake.
    #[derive(Debug, Default)]
    pub struct AtomicWaker(Mutex<Option<Waker>>);

    impl AtomicWaker {
        pub fn new() -> Self {
            Self::default()
        }

        pub fn register(&self, waker: Waker) {
            self.0.lock().unwrap().replace(waker);
        }

        pub fn register_by_ref(&self, waker: &Waker) {
            self.register(waker.clone());
        }

        pub fn wake(&self) {
            if let Some(waker) = self.take_waker() {
                waker.wake();
            }
        }

        pub fn take_waker(&self) -> Option<Waker> {
            self.0.lock().unwrap().take()
        }
    }
}
