use std::thread;
use tokio::sync::oneshot;

#[test]
fn tokio_oneshot() {
    let (sender, mut receiver) = oneshot::channel();
    let sends = thread::spawn(move || sender.send(Box::new(1)).unwrap_or(()));
    if let Ok(value) = receiver.try_recv() {
        assert_eq!(*value, 1);
    }
    drop(receiver);
    sends.join().unwrap();
}
