use std::{sync::Arc, thread};
use thingbuf::ThingBuf;

#[test]
fn thingbuf() {
    let queue = Arc::new(ThingBuf::<u32>::new(2));
    let other = queue.clone();
    let pushes = thread::spawn(move || other.push(1).unwrap());
    if let Some(value) = queue.pop() {
        assert_eq!(value, 1);
    }
    pushes.join().unwrap();
}
