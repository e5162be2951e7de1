use std::thread;
use tokio::sync::oneshot;

#[test]
fn tokio_oneshot_closed() {
    let (sender, mut receiver) = oneshot::channel();
    let sends = thread::spawn(move || sender.send(Box::new(1)).is_ok());
    receiver.close();
    let received = receiver.try_recv().is_ok();
    assert_eq!(received, sends.join().unwrap());
}
