use crossbeam_deque::{Steal, Worker};
use std::thread;

#[test]
fn deque() {
    let worker = Worker::<Box<u32>>::new_lifo();
    let stealer = worker.stealer();
    let steals = thread::spawn(move || match stealer.steal() {
        Steal::Success(value) => *value,
        _ => 0,
    });
    worker.push(Box::new(1));
    let mine = worker.pop().map_or(0, |value| *value);
    assert!(mine + steals.join().unwrap() <= 1);
}
