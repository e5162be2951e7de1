//! Sets of the reads of a thread on which its values depend, shared by all threads of a program.
//!
//! A set contains the positions of reads among the events of their thread, and two marks. Values
//! carry sets through registers, the thread's own memory and calls. Unless dependencies are tracked,
//! a set contains marks only.
use program::memory::{direct_intersection, direct_single, direct_union, Dep, Deps};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The value depends on other threads. Unless dependencies are tracked, no set contains more than
/// this and the next mark.
pub const SHARED: Dep = 1;
/// The value depends on the event that is marked when a witness runs a thread again.
pub const MARKED: Dep = 2;
const MARKS: Dep = SHARED | MARKED;
/// The number in a set of the event at position 0.
const FIRST: u32 = 2;

#[derive(Default)]
pub struct DependencySets {
    pub tracked: bool,
    table: RwLock<Deps>,
}

impl DependencySets {
    fn read(&self) -> RwLockReadGuard<'_, Deps> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Deps> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn union(&self, a: Dep, b: Dep) -> Dep {
        direct_union(a, b).unwrap_or_else(|| self.union_in_table(a, b))
    }

    fn union_in_table(&self, a: Dep, b: Dep) -> Dep {
        let known = self.read().known_union(a, b);
        known.unwrap_or_else(|| self.write().union(a, b))
    }

    pub fn intersection(&self, a: Dep, b: Dep) -> Dep {
        let direct = direct_intersection(a, b);
        direct.unwrap_or_else(|| self.write().intersection(a, b))
    }

    pub fn are_disjoint(&self, a: Dep, b: Dep) -> bool {
        match direct_intersection(a, b) {
            Some(both) => both == 0,
            None => self.read().are_disjoint(a, b),
        }
    }

    /// The set of the read at a position.
    pub fn of_read(&self, position: usize) -> Dep {
        let event = position as u32 + FIRST;
        direct_single(event).unwrap_or_else(|| self.single_in_table(event))
    }

    fn single_in_table(&self, event: u32) -> Dep {
        let known = self.read().known_single(event);
        known.unwrap_or_else(|| self.write().single(event))
    }

    pub fn is_marked(&self, set: Dep) -> bool {
        !self.are_disjoint(set, MARKED)
    }

    /// The set without marks.
    pub fn unmarked(&self, set: Dep) -> Dep {
        if direct_union(set, MARKS).is_some() {
            return set & !MARKS;
        }
        match self.are_disjoint(set, MARKS) {
            true => set,
            false => self.reads(set).iter().fold(0, |reads, position| {
                let read = self.of_read(*position as usize);
                self.union(reads, read)
            }),
        }
    }

    /// The positions in a set, in ascending order.
    pub fn reads(&self, set: Dep) -> Vec<u32> {
        let events = self.read().get(set);
        let reads = events.iter().filter_map(|e| (e as u32).checked_sub(FIRST));
        reads.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_no_positions() {
        let sets = DependencySets::default();
        for (near, far) in [(0, 28), (3, 29), (40, 700)] {
            let reads = sets.union(sets.of_read(far), sets.of_read(near));
            let marked = sets.union(reads, MARKED);
            assert!(sets.is_marked(marked) && !sets.is_marked(reads));
            assert_eq!(sets.unmarked(sets.union(marked, SHARED)), reads);
            assert_eq!(sets.reads(marked), [near as u32, far as u32]);
        }
    }
}
