use std::{cell::Cell, thread};
use triomphe::Arc;

struct Shared(Arc<Cell<u32>>);
unsafe impl Send for Shared {}

#[test]
fn triomphe() {
    let one = Arc::new(Cell::new(1));
    let other = Shared(one.clone());
    let reads = thread::spawn(move || {
        let shared = other;
        assert_eq!(shared.0.get(), 1);
    });
    drop(one);
    reads.join().unwrap();
}
