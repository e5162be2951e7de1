use concurrent_queue::ConcurrentQueue;
use std::{sync::Arc, thread};

#[test]
fn concurrent_queue() {
    let queue = Arc::new(ConcurrentQueue::bounded(1));
    let other = queue.clone();
    let pushes = thread::spawn(move || other.push(Box::new(1)).unwrap());
    if let Ok(value) = queue.pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
