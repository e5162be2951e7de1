use basedrop::{Collector, Owned};
use std::thread;

#[test]
fn basedrop() {
    let mut collector = Collector::new();
    let value = Owned::new(&collector.handle(), Box::new(42));
    let thread = thread::spawn(move || assert_eq!(**value, 42));
    collector.collect();
    thread.join().unwrap();
    collector.collect();
}
