use crossbeam_channel::unbounded;
use std::thread;

#[test]
fn channel_drop() {
    let (sender, receiver) = unbounded();
    let other = sender.clone();
    let sends = thread::spawn(move || other.send(Box::new(1)).is_ok());
    assert!(sender.send(Box::new(2)).is_ok());
    drop(receiver);
    sends.join().unwrap();
}
