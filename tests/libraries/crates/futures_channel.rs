use futures_channel::oneshot;
use std::thread;

#[test]
fn futures_channel() {
    let (sender, mut receiver) = oneshot::channel();
    let sends = thread::spawn(move || sender.send(Box::new(1)).unwrap_or(()));
    if let Ok(Some(value)) = receiver.try_recv() {
        assert_eq!(*value, 1);
    }
    drop(receiver);
    sends.join().unwrap();
}
