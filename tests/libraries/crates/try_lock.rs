use std::{sync::Arc, thread};
use try_lock::TryLock;

#[test]
fn try_lock() {
    let cell = Arc::new(TryLock::new(0));
    let other = cell.clone();
    let adds = thread::spawn(move || other.try_lock().map(|mut value| *value += 1).is_some());
    let added = cell.try_lock().map(|mut value| *value += 1).is_some();
    assert!(adds.join().unwrap() || added);
}
