use sharded_slab::Slab;
use std::{sync::Arc, thread};

#[test]
fn sharded_slab() {
    let slab = Arc::new(Slab::new());
    let other = slab.clone();
    let key = slab.insert(1).unwrap();
    let removes = thread::spawn(move || other.remove(key));
    if let Some(value) = slab.get(key) {
        assert_eq!(*value, 1);
    }
    assert!(removes.join().unwrap());
}
