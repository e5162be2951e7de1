use crossbeam_queue::SegQueue;
use std::{sync::Arc, thread};

#[test]
fn seg_queue() {
    let queue = Arc::new(SegQueue::new());
    let other = queue.clone();
    let pushes = thread::spawn(move || other.push(Box::new(1)));
    if let Some(value) = queue.pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
