use spinning_top::Spinlock;
use std::{sync::Arc, thread};
#[test]
fn spinning_top() {
    let count = Arc::new(Spinlock::new(0));
    let other = count.clone();
    let adds = thread::spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    adds.join().unwrap();
    assert_eq!(*count.lock(), 2);
}
