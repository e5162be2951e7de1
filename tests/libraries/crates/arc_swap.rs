use arc_swap::ArcSwap;
use std::{sync::Arc, thread};

#[test]
fn arc_swap() {
    let cell = Arc::new(ArcSwap::from_pointee(1));
    let other = cell.clone();
    let stores = thread::spawn(move || other.store(Arc::new(2)));
    let value = **cell.load();
    assert!(value == 1 || value == 2);
    stores.join().unwrap();
}
