//! A lock that readers share, whose guards unlock it.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

const WRITER: u32 = u32::MAX;
const LEAVE: Ordering = if cfg!(weakened) { Ordering::Relaxed } else { Ordering::Release };

pub struct RwLock<T> {
    readers: AtomicU32,
    value: UnsafeCell<T>,
}
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}

pub struct Reader<'a, T>(&'a RwLock<T>);
pub struct Writer<'a, T>(&'a RwLock<T>);

impl<T> RwLock<T> {
    pub fn new(value: T) -> Self {
        RwLock { readers: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    pub fn read(&self) -> Reader<'_, T> {
        loop {
            let now = self.readers.load(Ordering::Relaxed);
            if now != WRITER
                && self
                    .readers
                    .compare_exchange(now, now + 1, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Reader(self);
            }
        }
    }

    pub fn write(&self) -> Writer<'_, T> {
        while self
            .readers
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {}
        Writer(self)
    }
}

impl<T> Reader<'_, T> {
    pub fn get(&self) -> &T {
        unsafe { &*self.0.value.get() }
    }
}

impl<T> Drop for Reader<'_, T> {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, LEAVE);
    }
}

impl<T> Drop for Writer<'_, T> {
    fn drop(&mut self) {
        self.0.readers.store(0, Ordering::Release);
    }
}
