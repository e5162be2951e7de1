//! Two threads that each answer what they have seen: nothing comes from nowhere.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

const ANSWER: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

fn main() {
    let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let others = flags.clone();
    let thread = thread::spawn(move || {
        let seen = others.0.load(Ordering::Relaxed);
        others.1.store(1, ANSWER);
        seen
    });
    let seen = flags.1.load(Ordering::Relaxed);
    flags.0.store(1, Ordering::Release);
    assert!(thread.join().unwrap() + seen < 2);
}
