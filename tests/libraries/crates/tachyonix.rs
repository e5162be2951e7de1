use std::thread;
#[test]
fn tachyonix() {
    let (sender, mut receiver) = tachyonix::channel(1);
    let sends = thread::spawn(move || sender.try_send(Box::new(1)).unwrap());
    if let Ok(value) = receiver.try_recv() {
        assert_eq!(*value, 1);
    }
    sends.join().unwrap();
}
