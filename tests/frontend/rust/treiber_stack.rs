//! The stack of Treiber. Nodes are not freed.
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;
use std::thread;

const LINK: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Node {
    value: u32,
    next: UnsafeCell<*mut Node>,
}

struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: UnsafeCell::new(ptr::null_mut()) }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            unsafe { *(*node).next.get() = head };
            match self.head.compare_exchange(head, node, LINK, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        while !head.is_null() {
            let next = unsafe { *(*head).next.get() };
            match self.head.compare_exchange(head, next, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(unsafe { (*head).value }),
                Err(now) => head = now,
            }
        }
        None
    }
}

fn main() {
    let stack = Arc::new(Stack { head: AtomicPtr::new(ptr::null_mut()) });
    let other = stack.clone();
    let thread = thread::spawn(move || other.pop().unwrap_or(0));
    stack.push(1);
    stack.push(2);
    let first = thread.join().unwrap();
    let rest = stack.pop().unwrap_or(0) + stack.pop().unwrap_or(0);
    assert_eq!(first + rest, 3);
}
