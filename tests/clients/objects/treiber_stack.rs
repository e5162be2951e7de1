//! The stack of Treiber. Nodes are not freed.
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const LINK: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

#[derive(Default)]
pub struct Stack<T> {
    head: AtomicPtr<Node<T>>,
}
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T: Copy> Stack<T> {
    pub fn push(&self, value: T) {
        let new = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            unsafe { (*new).next = head };
            match self.head.compare_exchange_weak(head, new, LINK, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Ordering::Acquire);
        while !head.is_null() {
            let next = unsafe { (*head).next };
            match self.head.compare_exchange_weak(head, next, Ordering::Acquire, Ordering::Acquire)
            {
                Ok(_) => return Some(unsafe { (*head).value }),
                Err(now) => head = now,
            }
        }
        None
    }
}
