use std::thread;

#[test]
fn rtrb() {
    let (mut producer, mut consumer) = rtrb::RingBuffer::new(2);
    let pushes = thread::spawn(move || {
        producer.push(Box::new(1)).unwrap();
        producer.push(Box::new(2)).unwrap();
    });
    if let Ok(value) = consumer.pop() {
        assert_eq!(*value, 1);
    }
    pushes.join().unwrap();
}
