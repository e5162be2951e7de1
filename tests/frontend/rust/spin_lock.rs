//! A spin lock.
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

const UNLOCK: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Locked {
    locked: AtomicBool,
    count: UnsafeCell<u32>,
}
unsafe impl Sync for Locked {}

impl Locked {
    fn increment(&self) {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        while self.locked.compare_exchange(false, true, acquire, relaxed).is_err() {
            hint::spin_loop();
        }
        let count = unsafe { *self.count.get() };
        unsafe { *self.count.get() = count + 1 };
        self.locked.store(false, UNLOCK);
    }
}

fn main() {
    let locked = Arc::new(Locked { locked: AtomicBool::new(false), count: UnsafeCell::new(0) });
    let other = locked.clone();
    let thread = thread::spawn(move || other.increment());
    locked.increment();
    thread.join().unwrap();
    assert_eq!(unsafe { *locked.count.get() }, 2);
}
