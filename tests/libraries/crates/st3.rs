use st3::lifo::Worker;
use std::thread;

#[test]
fn lifo() {
    let worker = Worker::new(2);
    let stealer = worker.stealer();
    let thread = thread::spawn(move || {
        let own = Worker::new(2);
        stealer
            .steal_and_pop(&own, |n| n)
            .ok()
            .map(|(item, _)| item)
    });
    worker.push(Box::new(1)).unwrap();
    let popped = worker.pop();
    let stolen = thread.join().unwrap();
    assert!(popped.is_none() || stolen.is_none());
    assert_eq!(popped.or(stolen).map_or(1, |item| *item), 1);
}
