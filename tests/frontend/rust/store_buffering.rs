//! Two threads that each announce themselves and look for the other: one sees the other.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

const LOOK: Ordering = if cfg!(weakened) { Ordering::Acquire } else { Ordering::SeqCst };

fn main() {
    let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let others = flags.clone();
    let thread = thread::spawn(move || {
        others.0.store(true, Ordering::SeqCst);
        others.1.load(LOOK)
    });
    flags.1.store(true, Ordering::SeqCst);
    let seen = flags.0.load(Ordering::SeqCst);
    assert!(thread.join().unwrap() || seen);
}
