// How C calls the operations of an object in Rust: with numbers.
#![allow(dead_code, unused_imports, unused_unsafe)]
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Arc;

#[diagnostic::on_unimplemented(message = "an argument of type `{Self}` is not a number")]
trait Given {
    fn given(number: i64) -> Self;
}

#[diagnostic::on_unimplemented(message = "a result of type `{Self}` is not a number")]
trait Number {
    fn number(self) -> i64;
}

macro_rules! numbers {
    ($($name:ident)*) => {$(
        impl Given for $name {
            fn given(number: i64) -> Self {
                number as $name
            }
        }
        impl Number for $name {
            fn number(self) -> i64 {
                self as i64
            }
        }
    )*};
}
numbers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

impl<T: Given> Given for Box<T> {
    fn given(number: i64) -> Self {
        Box::new(given(number))
    }
}
impl<T: Given> Given for Arc<T> {
    fn given(number: i64) -> Self {
        Arc::new(given(number))
    }
}
impl<T: Number + Copy> Number for &T {
    fn number(self) -> i64 {
        (*self).number()
    }
}
impl<T: Number> Number for Box<T> {
    fn number(self) -> i64 {
        (*self).number()
    }
}
impl<T: Number + Copy> Number for Arc<T> {
    fn number(self) -> i64 {
        (*self).number()
    }
}

/// What an operation returns that finds a value: None if it finds none.
#[diagnostic::on_unimplemented(message = "a result of type `{Self}` is not a value that is found")]
trait Item {
    fn item(self) -> Option<i64>;
}
impl<T: Number> Item for T {
    fn item(self) -> Option<i64> {
        Some(self.number())
    }
}
impl<T: Number> Item for Option<T> {
    fn item(self) -> Option<i64> {
        self.map(T::number)
    }
}
impl<T: Number, E> Item for Result<T, E> {
    fn item(self) -> Option<i64> {
        self.ok().map(T::number)
    }
}

#[diagnostic::on_unimplemented(message = "a result of type `{Self}` does not say what succeeded")]
trait Success {
    fn success(self) -> bool;
}
impl Success for bool {
    fn success(self) -> bool {
        self
    }
}
impl Success for Option<()> {
    fn success(self) -> bool {
        self.is_some()
    }
}
impl<T, E> Success for Result<T, E> {
    fn success(self) -> bool {
        self.is_ok()
    }
}

const fn is_shared<T: Sync>() {}

fn given<T: Given>(number: i64) -> T {
    T::given(number)
}

fn found(result: impl Item) -> i64 {
    result.item().unwrap_or(EMPTY)
}

thread_local! {
    /// The guard of the lock that the thread holds, and what drops it.
    static HELD: Cell<(*mut (), fn(*mut ()))> = const { Cell::new((null_mut(), |_| ())) };
}

fn hold<G: 'static>(guard: G) -> bool {
    let held = Box::into_raw(Box::new(guard));
    HELD.set((held.cast(), |held| drop(unsafe { Box::from_raw(held.cast::<G>()) })));
    true
}

fn release() {
    let (held, unlock) = HELD.get();
    unlock(held);
}

