//! A ring for one producer and one consumer.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

const FILL: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Ring {
    slots: [UnsafeCell<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}
unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == 2 {
            return false;
        }
        unsafe { *self.slots[tail % 2].get() = value };
        self.tail.store(tail + 1, FILL);
        true
    }

    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { *self.slots[head % 2].get() };
        self.head.store(head + 1, Ordering::Release);
        Some(value)
    }
}

fn main() {
    let ring = Arc::new(Ring {
        slots: [UnsafeCell::new(0), UnsafeCell::new(0)],
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
    });
    let other = ring.clone();
    let consumer = thread::spawn(move || {
        let mut expected = 1;
        for _ in 0..3 {
            if let Some(value) = other.pop() {
                assert_eq!(value, expected);
                expected += 1;
            }
        }
    });
    assert!((1..=3).filter(|&value| ring.push(value)).count() >= 2);
    consumer.join().unwrap();
}
