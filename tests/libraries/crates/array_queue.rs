use crossbeam_queue::ArrayQueue;
use std::{sync::Arc, thread};

#[test]
fn array_queue() {
    let queue = Arc::new(ArrayQueue::new(2));
    let other = queue.clone();
    let pushes = thread::spawn(move || other.push(Box::new(1)).unwrap());
    if let Some(value) = queue.pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
