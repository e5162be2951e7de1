//! A ring for one producer and one consumer, which is made for a number of items.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

const FILL: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

pub struct Ring<T> {
    slots: Box<[UnsafeCell<Option<T>>]>,
    head: AtomicUsize,
    tail: AtomicUsize,
}
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    pub fn with_capacity(capacity: usize) -> Self {
        Ring {
            slots: (0..capacity).map(|_| UnsafeCell::new(None)).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    pub fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == self.slots.len() {
            return Err(value);
        }
        unsafe { *self.slots[tail % self.slots.len()].get() = Some(value) };
        self.tail.store(tail + 1, FILL);
        Ok(())
    }

    pub fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { (*self.slots[head % self.slots.len()].get()).take() };
        self.head.store(head + 1, Ordering::Release);
        value
    }
}
