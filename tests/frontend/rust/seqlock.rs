//! A sequence lock: readers that see no torn pair.
use std::sync::atomic::{fence, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

struct Pair {
    version: AtomicU32,
    halves: (AtomicU32, AtomicU32),
}

impl Pair {
    fn write(&self, value: u32) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.halves.0.store(value, Ordering::Relaxed);
        self.halves.1.store(value, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }

    fn read(&self) -> Option<(u32, u32)> {
        let version = self.version.load(Ordering::Acquire);
        let pair = (self.halves.0.load(Ordering::Relaxed), self.halves.1.load(Ordering::Relaxed));
        if !cfg!(weakened) {
            fence(Ordering::Acquire);
        }
        let same = self.version.load(Ordering::Relaxed) == version;
        (same && version % 2 == 0).then_some(pair)
    }
}

fn main() {
    let pair = Arc::new(Pair {
        version: AtomicU32::new(0),
        halves: (AtomicU32::new(0), AtomicU32::new(0)),
    });
    let other = pair.clone();
    let writer = thread::spawn(move || {
        other.write(1);
        other.write(2);
    });
    if let Some((one, two)) = pair.read() {
        assert_eq!(one, two);
    }
    writer.join().unwrap();
}
