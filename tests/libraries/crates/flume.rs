use std::thread;

#[test]
fn flume() {
    let (sender, receiver) = flume::unbounded();
    let sends = thread::spawn(move || sender.send(Box::new(1)).unwrap());
    if let Ok(value) = receiver.try_recv() {
        assert_eq!(*value, 1);
    }
    sends.join().unwrap();
}
