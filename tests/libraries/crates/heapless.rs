use heapless::spsc::Queue;
use std::thread;

#[test]
fn heapless() {
    static mut QUEUE: Queue<u32, 2> = Queue::new();
    let (mut producer, mut consumer) = unsafe { (*&raw mut QUEUE).split() };
    let pushes = thread::spawn(move || producer.enqueue(1).unwrap());
    if let Some(value) = consumer.dequeue() {
        assert_eq!(value, 1);
    }
    pushes.join().unwrap();
}
