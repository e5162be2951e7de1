//! A counter in a static.
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Counter(AtomicUsize);
pub static COUNT: Counter = Counter(AtomicUsize::new(0));

impl Counter {
    pub fn increment(&self) -> usize {
        if cfg!(weakened) {
            let before = self.0.load(Ordering::SeqCst);
            self.0.store(before + 1, Ordering::SeqCst);
            return before;
        }
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
