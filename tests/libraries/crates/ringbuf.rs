use ringbuf::{traits::*, HeapRb};
use std::thread;

#[test]
fn ringbuf() {
    let (mut producer, mut consumer) = HeapRb::<Box<u32>>::new(2).split();
    let pushes = thread::spawn(move || producer.try_push(Box::new(1)).unwrap());
    if let Some(value) = consumer.try_pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
