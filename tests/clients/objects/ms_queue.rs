//! The queue of Michael and Scott. Nodes are not freed.
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const LINK: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Node<T> {
    value: Option<T>,
    next: AtomicPtr<Node<T>>,
}

pub struct Queue<T> {
    head: AtomicPtr<Node<T>>,
    tail: AtomicPtr<Node<T>>,
}

fn node<T>(value: Option<T>) -> *mut Node<T> {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(ptr::null_mut()) }))
}

impl<T: Copy> Queue<T> {
    pub fn new() -> Self {
        let first = node(None);
        Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first) }
    }

    pub fn push(&self, value: T) {
        let new = node(Some(value));
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            let next = unsafe { (*tail).next.load(Ordering::Acquire) };
            if !next.is_null() {
                let _ =
                    self.tail.compare_exchange(tail, next, Ordering::Release, Ordering::Relaxed);
            } else if unsafe { &(*tail).next }
                .compare_exchange(next, new, LINK, Ordering::Relaxed)
                .is_ok()
            {
                let _ = self.tail.compare_exchange(tail, new, Ordering::Release, Ordering::Relaxed);
                return;
            }
        }
    }

    pub fn pop(&self) -> Option<T> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            let next = unsafe { (*head).next.load(Ordering::Acquire) };
            if next.is_null() {
                return None;
            }
            let tail = self.tail.load(Ordering::Acquire);
            if head == tail {
                let _ =
                    self.tail.compare_exchange(tail, next, Ordering::Release, Ordering::Relaxed);
            }
            if self.head.compare_exchange(head, next, Ordering::Release, Ordering::Relaxed).is_ok()
            {
                return unsafe { (*next).value };
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        unsafe { (*self.head.load(Ordering::Acquire)).next.load(Ordering::Acquire).is_null() }
    }
}
