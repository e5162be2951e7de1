//! A thread that sleeps until there is something to do. Weakened, the waker does not take the lock:
//! it may come between the other's look and its sleep.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Gate {
    open: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut held = self.lock.lock().unwrap();
        while !self.open.load(Ordering::Relaxed) {
            held = self.changed.wait(held).unwrap();
        }
    }

    fn open(&self) {
        let held = (!cfg!(weakened)).then(|| self.lock.lock().unwrap());
        self.open.store(true, Ordering::Relaxed);
        drop(held);
        self.changed.notify_one();
    }
}

fn main() {
    let gate = Arc::new(Gate {
        open: AtomicBool::new(false),
        lock: Mutex::new(()),
        changed: Condvar::new(),
    });
    let other = gate.clone();
    let sleeper = thread::spawn(move || other.pass());
    gate.open();
    sleeper.join().unwrap();
}
