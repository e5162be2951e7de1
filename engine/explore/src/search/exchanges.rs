//! What an exchange of two threads makes of locations and of the values in them.

use crate::source::{Location, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The exchanges of threads that an exploration makes use of. Its workers share what is known of them.
#[derive(Default)]
pub struct Exchanges {
    each: OnceLock<Vec<Exchange>>,
    /// Objects of the initial memory that are freed.
    freed: Mutex<Vec<Range<u64>>>,
}

/// An exchange of two threads.
pub struct Exchange {
    threads: [ThreadId; 2],
    known: Mutex<Correspondence>,
}

/// What an exchange makes of locations and values, as far as that is known: each is mapped to another,
/// and that one to it.
#[derive(Default)]
struct Correspondence {
    locations: FxHashMap<Location, Location>,
    /// By location, as the same number may be a thread's at one and a counter at another.
    values: FxHashMap<(Location, u64), u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a pair of locations was known to be exchanged.
#[derive(PartialEq, Eq)]
pub enum Pair {
    Known,
    New,
    /// One of them is exchanged with another one.
    Other,
}

impl Exchanges {
    /// Sets which threads are exchanged, unless another worker has. Returns whether they are these: a
    /// worker that begins after threads were found to differ may find fewer.
    pub fn set(&self, pairs: &[[ThreadId; 2]]) -> bool {
        let exchange = |threads: &[ThreadId; 2]| Exchange {
            threads: *threads,
            known: Mutex::default(),
        };
        let each = self
            .each
            .get_or_init(|| pairs.iter().map(exchange).collect());
        each.iter().map(|exchange| &exchange.threads).eq(pairs)
    }

    pub fn each(&self) -> &[Exchange] {
        self.each.get().map_or(&[], Vec::as_slice)
    }

    /// Notes that an object is freed. Returns whether no location in it is exchanged with one outside.
    pub fn free(&self, object: Range<u64>) -> bool {
        let mut freed = lock(&self.freed);
        if freed.contains(&object) {
            return true;
        }
        freed.push(object.clone());
        drop(freed);
        let inside = |at: &Location| object.contains(&at.address);
        self.each().iter().all(|exchange| {
            let known = lock(&exchange.known);
            let mut pairs = known.locations.iter();
            pairs.all(|(one, other)| inside(one) == inside(other))
        })
    }

    /// Whether two locations are in the same of the objects that are freed, or both in none.
    pub fn are_freed_together(&self, one: Location, other: Location) -> bool {
        let freed = lock(&self.freed);
        let mut freed = freed.iter();
        freed.all(|object| object.contains(&one.address) == object.contains(&other.address))
    }
}

impl Exchange {
    /// One of the threads.
    pub fn one(&self) -> ThreadId {
        self.threads[0]
    }

    pub fn thread(&self, thread: ThreadId) -> ThreadId {
        match self.threads {
            [one, other] if thread == one => other,
            [one, other] if thread == other => one,
            _ => thread,
        }
    }

    /// The value that corresponds to a value of a location.
    pub fn value(&self, at: Location, value: u64) -> Option<u64> {
        lock(&self.known).values.get(&(at, value)).copied()
    }

    /// Notes that a location corresponds to another, if that agrees with what is known.
    pub fn pair(&self, one: Location, other: Location) -> Pair {
        let known = &mut *lock(&self.known);
        match (known.locations.get(&one), known.locations.get(&other)) {
            (Some(to), Some(back)) if *to == other && *back == one => Pair::Known,
            (None, None) if one.size == other.size => {
                known.locations.insert(one, other);
                known.locations.insert(other, one);
                Pair::New
            }
            _ => Pair::Other,
        }
    }

    /// Notes that a value at a location corresponds to one at the location that is exchanged with
    /// it. Returns whether that agrees with what is known.
    pub fn pair_values(&self, one: (Location, u64), other: (Location, u64)) -> bool {
        let known = &mut *lock(&self.known);
        match (known.values.get(&one), known.values.get(&other)) {
            (Some(to), Some(back)) => *to == other.1 && *back == one.1,
            (None, None) => {
                known.values.insert(one, other.1);
                known.values.insert(other, one.1);
                true
            }
            _ => false,
        }
    }
}
