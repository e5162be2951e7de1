use std::{task::Waker, thread};

#[test]
fn noop_waker() {
    let waker: &'static Waker = thread::spawn(futures_task::noop_waker_ref).join().unwrap();
    waker.wake_by_ref();
}
