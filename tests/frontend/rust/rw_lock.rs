//! A lock that readers share.
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

const WRITER: u32 = 1 << 31;
const LEAVE: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Locked {
    readers: AtomicU32,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Locked {}

impl Locked {
    fn read(&self) -> u32 {
        let mut readers = self.readers.load(Ordering::Relaxed);
        while readers == WRITER || !self.changes(readers, readers + 1) {
            hint::spin_loop();
            readers = self.readers.load(Ordering::Relaxed);
        }
        let value = unsafe { *self.value.get() };
        self.readers.fetch_sub(1, LEAVE);
        value
    }

    fn write(&self, value: u32) {
        while !self.changes(0, WRITER) {
            hint::spin_loop();
        }
        unsafe { *self.value.get() = value };
        self.readers.store(0, Ordering::Release);
    }

    fn changes(&self, from: u32, to: u32) -> bool {
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        self.readers.compare_exchange(from, to, success, failure).is_ok()
    }
}

fn main() {
    let locked = Arc::new(Locked { readers: AtomicU32::new(0), value: UnsafeCell::new(0) });
    let other = locked.clone();
    let thread = thread::spawn(move || other.write(1));
    assert!(locked.read() < 2);
    thread.join().unwrap();
    assert_eq!(locked.read(), 1);
}
