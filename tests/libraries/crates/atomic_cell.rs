use crossbeam_utils::atomic::AtomicCell;
use std::{sync::Arc, thread};

#[test]
fn atomic_cell() {
    let cell = Arc::new(AtomicCell::new(None));
    let other = cell.clone();
    let stores = thread::spawn(move || other.store(Some(Box::new(1))));
    if let Some(value) = cell.take() {
        assert_eq!(*value, 1);
    }
    stores.join().unwrap();
}
