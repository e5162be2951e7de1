use lockfree::queue::Queue;
use std::sync::Arc;
use std::thread;

#[test]
fn lockfree() {
    let queue = Arc::new(Queue::new());
    let shared = queue.clone();
    let thread = thread::spawn(move || shared.push(42));
    if let Some(value) = queue.pop() {
        assert_eq!(value, 42);
    }
    thread.join().unwrap();
}
