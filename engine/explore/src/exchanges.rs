//! What an exchange of two threads makes of locations and of the values in them.

use crate::source::{Location, ThreadId};
use borsh::{BorshDeserialize, BorshSerialize};
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

/// What is known of exchanges when an exploration ends early. What is explored of the same tree after
/// it, or beside it, has to agree with that.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct KnownExchanges {
    each: Option<Vec<([ThreadId; 2], Correspondence)>>,
    freed: Vec<Range<u64>>,
}

/// What an exchange makes of locations and values, as far as that is known: each is mapped to another,
/// and that one to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
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
    /// The exchanges that an exploration has made use of before.
    pub fn resumed(known: KnownExchanges) -> Exchanges {
        let exchange = |(threads, known)| Exchange {
            threads,
            known: Mutex::new(known),
        };
        let each = known.each.map(|each| each.into_iter().map(exchange));
        let each = each.map(|each| OnceLock::from(each.collect::<Vec<_>>()));
        Exchanges {
            each: each.unwrap_or_default(),
            freed: Mutex::new(known.freed),
        }
    }

    pub fn known(&self) -> KnownExchanges {
        let known = |each: &Exchange| (each.threads, lock(&each.known).clone());
        let each = self.each.get();
        KnownExchanges {
            each: each.map(|each| each.iter().map(known).collect()),
            freed: lock(&self.freed).clone(),
        }
    }

    /// Adds what another exploration of the same tree makes use of. Fails with a thread that it may
    /// not exchange, where one contradicts the other.
    pub fn join(&self, other: KnownExchanges) -> Result<(), ThreadId> {
        if let Some(each) = other.each {
            let pairs: Vec<_> = each.iter().map(|(threads, _)| *threads).collect();
            if !self.set(&pairs) {
                return Err(pairs.first().map_or(0, |pair| pair[0]));
            }
            for (exchange, (_, new)) in self.each().iter().zip(each) {
                let mut locations = new.locations.into_iter();
                let mut values = new.values.into_iter();
                let agree = locations.all(|(one, to)| exchange.pair(one, to) != Pair::Other)
                    && values.all(|((at, value), to)| {
                        // what threads return has one location for all of them
                        exchange.pair_values((at, value), (exchange.location(at), to))
                    });
                if !agree {
                    return Err(exchange.one());
                }
            }
        }
        for object in other.freed {
            self.free(object);
        }
        match self.frees_agree() {
            true => Ok(()),
            false => Err(self.each().first().map_or(0, Exchange::one)),
        }
    }

    /// Whether no location in an object that is freed is exchanged with one outside.
    fn frees_agree(&self) -> bool {
        let freed = lock(&self.freed).clone();
        freed
            .into_iter()
            .all(|object| self.is_exchanged_within(&object))
    }

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

    /// The locations that exchanges lead to from one, which is the first.
    pub fn orbit(&self, at: Location) -> Vec<Location> {
        let mut found = vec![at];
        let mut next = 0;
        while next < found.len() {
            for exchange in self.each() {
                let to = exchange.location(found[next]);
                if !found.contains(&to) {
                    found.push(to);
                }
            }
            next += 1;
        }
        found
    }

    /// Notes that an object is freed. Returns whether no location in it is exchanged with one outside.
    pub fn free(&self, object: Range<u64>) -> bool {
        let mut freed = lock(&self.freed);
        if freed.contains(&object) {
            return true;
        }
        freed.push(object.clone());
        drop(freed);
        self.is_exchanged_within(&object)
    }

    fn is_exchanged_within(&self, object: &Range<u64>) -> bool {
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

    fn location(&self, at: Location) -> Location {
        let known = lock(&self.known);
        known.locations.get(&at).copied().unwrap_or(at)
    }

    /// The value that corresponds to a value of a location.
    pub fn value(&self, at: Location, value: u64) -> Option<u64> {
        lock(&self.known).values.get(&(at, value)).copied()
    }

    /// Notes that a location corresponds to another, if that agrees with what is known.
    pub fn pair(&self, one: Location, other: Location) -> Pair {
        let known = &mut *lock(&self.known);
        match (known.locations.get(&one), known.locations.get(&other)) {
            (Some(to), Some(_)) if *to == other => Pair::Known,
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
            (Some(to), Some(_)) => *to == other.1,
            (None, None) => {
                known.values.insert(one, other.1);
                known.values.insert(other, one.1);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: u64) -> Location {
        Location { address, size: 4 }
    }

    /// Exchanges of threads 1 and 2 for which locations correspond, with the values 7 and 8 there.
    fn exchanges(pairs: &[(u64, u64)]) -> Exchanges {
        let found = Exchanges::default();
        assert!(found.set(&[[1, 2]]));
        for (one, other) in pairs {
            let exchange = &found.each()[0];
            assert!(exchange.pair(at(*one), at(*other)) != Pair::Other);
            assert!(exchange.pair_values((at(*one), 7), (at(*other), 8)));
        }
        found
    }

    #[test]
    fn an_orbit_has_what_several_exchanges_lead_to() {
        let found = Exchanges::default();
        assert!(found.set(&[[1, 2], [2, 3]]));
        found.each()[0].pair(at(64), at(72));
        found.each()[1].pair(at(72), at(80));
        assert_eq!(found.orbit(at(64)), [at(64), at(72), at(80)]);
        assert_eq!(found.orbit(at(88)), [at(88)]);
    }

    #[test]
    fn exchanges_that_agree_are_joined() {
        let one = Exchanges::resumed(exchanges(&[(64, 72)]).known());
        assert_eq!(one.join(exchanges(&[(64, 72), (80, 88)]).known()), Ok(()));
        assert!(one.each()[0].pair(at(88), at(80)) == Pair::Known);
        assert_eq!(one.each()[0].value(at(80), 7), Some(8));
        let none = Exchanges::default();
        assert_eq!(none.join(one.known()), Ok(()));
        assert_eq!(none.known(), one.known());
    }

    #[test]
    fn exchanges_that_contradict_each_other_name_a_thread() {
        let one = exchanges(&[(64, 72)]);
        assert_eq!(one.join(exchanges(&[(64, 80)]).known()), Err(1));
        let other = exchanges(&[]);
        other.each()[0].pair(at(64), at(72));
        other.each()[0].pair_values((at(64), 7), (at(72), 9));
        assert_eq!(exchanges(&[(64, 72)]).join(other.known()), Err(1));
        let freed = exchanges(&[]);
        assert!(freed.free(64..68));
        assert_eq!(exchanges(&[(64, 72)]).join(freed.known()), Err(1));
    }

    #[test]
    fn a_pair_contradicts_each_other_pair_of_one_of_its_members() {
        let found = exchanges(&[(64, 72)]);
        let exchange = &found.each()[0];
        let pair = |one, other| exchange.pair(one, other);
        assert!(pair(at(64), at(72)) == Pair::Known && pair(at(72), at(64)) == Pair::Known);
        assert!(pair(at(80), at(88)) == Pair::New);
        assert!(pair(at(64), at(88)) == Pair::Other && pair(at(80), at(72)) == Pair::Other);
        let wide = Location {
            address: 96,
            size: 8,
        };
        assert!(pair(at(96), wide) == Pair::Other);
        assert!(exchange.pair_values((at(64), 1), (at(72), 2)));
        assert!(exchange.pair_values((at(72), 2), (at(64), 1)));
        assert!(!exchange.pair_values((at(64), 7), (at(72), 2)));
        assert!(!exchange.pair_values((at(64), 1), (at(72), 8)));
        assert_eq!([1, 2, 3].map(|thread| exchange.thread(thread)), [2, 1, 3]);
    }

    #[test]
    fn what_is_freed_is_exchanged_within() {
        let found = exchanges(&[(64, 72)]);
        assert!(found.free(64..76) && found.free(64..76) && !found.free(60..68));
        let freed = exchanges(&[]);
        assert!(freed.free(64..68));
        let together = |one, other| freed.are_freed_together(at(one), at(other));
        assert!(!together(64, 72) && together(72, 80));
        let join = |one: &Exchanges| one.join(exchanges(&[(64, 72)]).known());
        assert_eq!(join(&exchanges(&[(64, 72)])), Ok(()));
        assert_eq!(join(&freed), Err(1));
        let none = Exchanges::default();
        assert!(none.set(&[[2, 3]]));
        let others = none.join(exchanges(&[]).known());
        assert_eq!(others, Err(1), "of other threads");
    }
}
