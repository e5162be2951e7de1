use magnetic::{buffer::dynamic::DynamicBuffer, spsc::spsc_queue, Consumer, Producer};
use std::thread;
#[test]
fn magnetic() {
    let (producer, consumer) = spsc_queue(DynamicBuffer::new(2).unwrap());
    let pushes = thread::spawn(move || { producer.try_push(Box::new(1)).unwrap(); producer });
    if let Ok(value) = consumer.try_pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
