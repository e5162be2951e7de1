//! A function that runs once.
use std::sync::atomic::{AtomicU8, Ordering};

const DONE: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

pub struct Once(AtomicU8);

impl Once {
    pub const fn new() -> Self {
        Once(AtomicU8::new(0))
    }

    pub fn call_once<F: FnOnce()>(&self, run: F) {
        match self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                run();
                self.0.store(2, DONE);
            }
            Err(_) => while self.0.load(Ordering::Acquire) != 2 {},
        }
    }
}
