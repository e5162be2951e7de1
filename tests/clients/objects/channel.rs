//! A channel of std's locks, whose receiver waits.
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Channel<T> {
    items: Mutex<VecDeque<T>>,
    filled: Condvar,
}

impl<T> Channel<T> {
    pub fn send(&self, value: T) {
        self.items.lock().unwrap().push_back(value);
        if !cfg!(weakened) {
            self.filled.notify_one();
        }
    }

    pub fn recv(&self) -> T {
        let mut items = self.items.lock().unwrap();
        loop {
            match items.pop_front() {
                Some(value) => return value,
                None => items = self.filled.wait(items).unwrap(),
            }
        }
    }

    pub fn len(&self) -> usize {
        self.items.lock().unwrap().len()
    }
}
