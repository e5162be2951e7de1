//! A set of small numbers, by functions.
use std::sync::atomic::{AtomicU32, Ordering};

static MEMBERS: AtomicU32 = AtomicU32::new(0);

pub fn insert(key: u32) -> bool {
    if cfg!(weakened) && MEMBERS.load(Ordering::Relaxed) >> key & 1 == 1 {
        return true;
    }
    MEMBERS.fetch_or(1 << key, Ordering::Relaxed) >> key & 1 == 0
}

pub fn remove(key: &u32) -> bool {
    MEMBERS.fetch_and(!(1 << *key), Ordering::Relaxed) >> *key & 1 == 1
}

pub fn contains(key: &u32) -> bool {
    MEMBERS.load(Ordering::Relaxed) >> *key & 1 == 1
}
