use portable_atomic::{AtomicU128, Ordering};
use std::{sync::Arc, thread};

#[test]
fn pair_of_words() {
    let pair = Arc::new(AtomicU128::new(0));
    let other = pair.clone();
    let thread = thread::spawn(move || {
        other.fetch_add((1 << 64) | 1, Ordering::AcqRel);
    });
    let seen = pair.load(Ordering::Acquire);
    assert_eq!(seen >> 64, seen & 1);
    thread.join().unwrap();
}
