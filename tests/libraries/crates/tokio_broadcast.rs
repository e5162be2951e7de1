use std::{cell::Cell, thread};
use tokio::sync::broadcast;

struct Counted(Cell<u32>);
impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Counted(Cell::new(0))
    }
}

#[test]
fn tokio_broadcast() {
    let (sender, mut one) = broadcast::channel(2);
    let mut other = sender.subscribe();
    sender.send(Counted(Cell::new(0))).ok();
    let receives = thread::spawn(move || other.try_recv().is_ok());
    assert!(one.try_recv().is_ok());
    assert!(receives.join().unwrap());
}
