use std::thread;

#[test]
fn oneshot() {
    let (sender, receiver) = oneshot::channel();
    let sends = thread::spawn(move || sender.send(Box::new(1)).unwrap_or(()));
    if let Ok(value) = receiver.try_recv() {
        assert_eq!(*value, 1);
    }
    drop(receiver);
    sends.join().unwrap();
}
