//! The deque of Chase and Lev, with the memory orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP
//! 2013): its owner pushes and takes at the bottom, thieves steal at the top.
use std::sync::atomic::{fence, AtomicIsize, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    tasks: [AtomicU32; 2],
}

impl Deque {
    fn push(&self, task: u32) {
        let bottom = self.bottom.load(Ordering::Relaxed);
        self.tasks[bottom as usize % 2].store(task, Ordering::Relaxed);
        self.bottom.store(bottom + 1, Ordering::Release);
    }

    fn take(&self) -> Option<u32> {
        let bottom = self.bottom.load(Ordering::Relaxed) - 1;
        self.bottom.store(bottom, Ordering::Relaxed);
        if !cfg!(weakened) {
            fence(Ordering::SeqCst);
        }
        let top = self.top.load(Ordering::Relaxed);
        if top < bottom {
            return Some(self.tasks[bottom as usize % 2].load(Ordering::Relaxed));
        }
        let won = top == bottom && self.wins(top);
        self.bottom.store(bottom + 1, Ordering::Relaxed);
        won.then(|| self.tasks[bottom as usize % 2].load(Ordering::Relaxed))
    }

    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        if top >= self.bottom.load(Ordering::Acquire) {
            return None;
        }
        let task = self.tasks[top as usize % 2].load(Ordering::Relaxed);
        self.wins(top).then_some(task)
    }

    fn wins(&self, top: isize) -> bool {
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        self.top.compare_exchange(top, top + 1, success, failure).is_ok()
    }
}

fn main() {
    let deque = Arc::new(Deque {
        top: AtomicIsize::new(0),
        bottom: AtomicIsize::new(0),
        tasks: [AtomicU32::new(0), AtomicU32::new(0)],
    });
    let other = deque.clone();
    deque.push(1);
    deque.push(2);
    let thief = thread::spawn(move || other.steal().unwrap_or(0) + other.steal().unwrap_or(0));
    let mine = deque.take().unwrap_or(0) + deque.take().unwrap_or(0);
    let stolen = thief.join().unwrap();
    assert_eq!(mine + stolen, 3);
}
