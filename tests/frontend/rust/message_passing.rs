//! A value that is published by a flag.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

const PUBLISH: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Message {
    value: UnsafeCell<u32>,
    ready: AtomicBool,
}
unsafe impl Sync for Message {}

fn main() {
    let message = Arc::new(Message { value: UnsafeCell::new(0), ready: AtomicBool::new(false) });
    let sent = message.clone();
    let sender = thread::spawn(move || {
        unsafe { *sent.value.get() = 42 };
        sent.ready.store(true, PUBLISH);
    });
    if message.ready.load(Ordering::Acquire) {
        assert_eq!(unsafe { *message.value.get() }, 42);
    }
    sender.join().unwrap();
}
