//! Sets of the reads of a thread on which its values depend, shared by all threads of a program.
//!
//! A set contains the positions of reads among the events of their thread, and marks. Values carry
//! sets through registers, the thread's own memory and calls.
//!
//! Unless dependencies are tracked, only the newest read matters: the rest of a set is how many
//! events of the thread decide the value, and 1; 0 without any read. For an atomic read, these are
//! the events up to it. The value of a plain read without a race was decided before: by the last
//! event at which other threads' writes may have come to happen before the thread.
use crate::source::Dependencies;
use program::interpreter::ExternCall;
use program::ir::Extern;
use program::memory::{direct_intersection, direct_single, direct_union, Dep, Deps, Val};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The value depends on the event that is marked when a witness runs a thread again.
pub const MARKED: Dep = 1;
/// Where dependencies are tracked: the value depends on other threads, though on no read.
const SHARED: Dep = 2;
/// Where dependencies are tracked: the value is one of several, which the reads decide.
const CHOSEN: Dep = 4;
const MARKS: Dep = MARKED | SHARED | CHOSEN;
/// The number in a set of the event at position 0.
const FIRST: u32 = 3;

/// The dependencies of a value that so many of the thread's first events decide.
fn decided_by(events: usize) -> Dep {
    (events as Dep + 1) << 1
}

/// The dependencies of a value that is computed from two.
fn both(a: Dep, b: Dep) -> Dep {
    (a | b) & MARKED | (a & !MARKED).max(b & !MARKED)
}

/// The arguments on which a library function may branch: all but those that it only copies or returns.
pub fn decisive_arguments<'c>(call: &ExternCall<'c>) -> &'c [Val] {
    match call.function {
        Extern::Ignored(_) | Extern::Either | Extern::ThreadExit => &[],
        Extern::Memcpy | Extern::Memset => call.args.get(2..).unwrap_or_default(),
        Extern::AtThreadExit => call.args.get(..1).unwrap_or_default(),
        Extern::Returned => call.args.get(..2).unwrap_or_default(),
        _ => call.args,
    }
}

/// Whether a library function may branch on what it reads.
pub fn branches_on_reads(call: &ExternCall) -> bool {
    call.function != Extern::Memcpy
}

#[derive(Default)]
pub struct DependencySets {
    pub tracked: bool,
    /// A branch decides what is executed before its alternatives meet again, and nothing after that; no
    /// value counts as chosen. Then each read has two numbers in a set: one for a value that is computed
    /// from it, and the next one for a value that branches on it have left behind. The latter counts
    /// where the value decides a branch, as in herd7.
    pub branches_end: bool,
    table: RwLock<Deps>,
}

impl DependencySets {
    pub fn new(tracked: bool, branches_end: bool) -> DependencySets {
        DependencySets {
            tracked,
            branches_end,
            ..DependencySets::default()
        }
    }

    /// The dependencies of an event: of its address, its value, and the branches before it.
    pub fn label(&self, addr: Dep, data: Dep, ctrl: Dep) -> Dependencies {
        match self.tracked {
            true => Dependencies {
                addr: match self.is_chosen(addr) {
                    true => 0, // they are in `ctrl`
                    false => self.computed(addr),
                },
                data: self.computed(data),
                ctrl: self.unmarked(ctrl),
                chosen: self.is_chosen(data),
                left_behind: match self.branches_end {
                    true => self.of_kind(self.union(addr, data), 1),
                    false => 0,
                },
            },
            false => Dependencies::default(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Deps> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Deps> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn union(&self, a: Dep, b: Dep) -> Dep {
        if !self.tracked {
            return both(a, b);
        }
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

    /// The set of the read at a position, whose value so many of the thread's first events decide.
    pub fn of_value(&self, position: usize, decided: usize) -> Dep {
        match self.tracked {
            true => self.of_read(position),
            false => decided_by(decided),
        }
    }

    /// The set of a value that is no read's, but that other threads or a choice decide, with so many
    /// of the thread's first events.
    pub fn of_other(&self, decided: usize) -> Dep {
        match self.tracked {
            true => SHARED,
            false => decided_by(decided),
        }
    }

    /// Whether the first `now` of the thread's events decide a value. Where dependencies are
    /// tracked, a plain read counts as an atomic one.
    pub fn precedes(&self, set: Dep, now: u32) -> bool {
        match self.tracked {
            _ if set == 0 => true,
            true => {
                let last = self.reads(set).last().copied();
                self.are_disjoint(set, SHARED) && last.is_none_or(|last| last < now)
            }
            false => set >> 1 <= now + 1,
        }
    }

    /// The set of the read at a position.
    pub fn of_read(&self, position: usize) -> Dep {
        self.of_number(position as u32 * self.numbers() + FIRST)
    }

    /// How many numbers each read has.
    fn numbers(&self) -> u32 {
        1 + u32::from(self.branches_end)
    }

    fn of_number(&self, event: u32) -> Dep {
        direct_single(event).unwrap_or_else(|| self.single_in_table(event))
    }

    fn single_in_table(&self, event: u32) -> Dep {
        let known = self.read().known_single(event);
        known.unwrap_or_else(|| self.write().single(event))
    }

    /// The set of a value that is chosen by what the reads of a set are: a machine's code may do so by
    /// a branch, or by an instruction whose result does not wait for them. A value that is computed
    /// from it counts as chosen, too.
    pub fn chosen(&self, set: Dep) -> Dep {
        match self.tracked && !self.branches_end && set != 0 {
            true => self.union(set, CHOSEN),
            false => set,
        }
    }

    pub fn is_chosen(&self, set: Dep) -> bool {
        self.tracked && !self.are_disjoint(set, CHOSEN)
    }

    pub fn is_marked(&self, set: Dep) -> bool {
        match self.tracked {
            true => !self.are_disjoint(set, MARKED),
            false => set & MARKED != 0,
        }
    }

    /// What a value depends on that alternatives of branches on these reads leave behind.
    pub fn left_behind(&self, value: Dep, reads: Dep) -> Dep {
        if !self.branches_end {
            return value;
        }
        let reads = self.reads(reads).into_iter();
        let numbers = reads.map(|read| read * self.numbers() + FIRST + 1);
        numbers.fold(value, |all, number| self.union(all, self.of_number(number)))
    }

    /// The reads in a set that the value is computed from.
    fn computed(&self, set: Dep) -> Dep {
        match self.branches_end {
            true => self.of_kind(set, 0),
            false => self.unmarked(set),
        }
    }

    /// The reads in a set whose number is the first (0) or the second (1) of their two.
    fn of_kind(&self, set: Dep, kind: u32) -> Dep {
        let events = self.read().get(set);
        let numbers = events.iter().filter_map(|e| (e as u32).checked_sub(FIRST));
        let kept = numbers.filter(|number| number % self.numbers() == kind);
        let reads: Vec<u32> = kept.map(|number| number / self.numbers()).collect();
        let read = |position: u32| self.of_read(position as usize);
        reads
            .into_iter()
            .fold(0, |all, position| self.union(all, read(position)))
    }

    /// The set without marks.
    pub fn unmarked(&self, set: Dep) -> Dep {
        if !self.branches_end && direct_union(set, MARKS).is_some() {
            return set & !MARKS;
        }
        match !self.branches_end && self.are_disjoint(set, MARKS) {
            true => set,
            false => self.reads(set).iter().fold(0, |reads, position| {
                let read = self.of_read(*position as usize);
                self.union(reads, read)
            }),
        }
    }

    /// Whether each member of a set is in another one, or a read for which one of those in the other
    /// `stands`, by their positions.
    pub fn is_in(&self, set: Dep, other: Dep, stands: impl Fn(u32, u32) -> bool) -> bool {
        if set == other || direct_intersection(set, other) == Some(set) {
            return true;
        }
        let members = |set| -> Vec<u32> {
            let table = self.read();
            table.get(set).iter().map(|member| member as u32).collect()
        };
        let (members, others) = (members(set), members(other));
        let read = |member: u32| Some(member.checked_sub(FIRST)? / self.numbers());
        let is_like = |one: u32, other: u32| match (read(one), read(other)) {
            (Some(first), Some(second)) => {
                one % self.numbers() == other % self.numbers() && stands(first, second)
            }
            _ => false,
        };
        let is_in =
            |one: &u32| others.contains(one) || others.iter().any(|other| is_like(*one, *other));
        let is_mark = |member: &u32| direct_single(*member) == Some(MARKED);
        members.iter().all(|one| is_mark(one) || is_in(one))
    }

    /// The positions in a set, in ascending order.
    pub fn reads(&self, set: Dep) -> Vec<u32> {
        let events = self.read().get(set);
        let numbers = events.iter().filter_map(|e| (e as u32).checked_sub(FIRST));
        let mut reads: Vec<u32> = numbers.map(|number| number / self.numbers()).collect();
        reads.dedup();
        reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_no_positions() {
        let sets = DependencySets::new(true, false);
        for (near, far) in [(0, 28), (3, 29), (40, 700)] {
            let reads = sets.union(sets.of_read(far), sets.of_read(near));
            assert!(sets.is_chosen(sets.chosen(reads)) && !sets.is_chosen(reads));
            let marked = sets.union(sets.chosen(reads), MARKED);
            assert!(sets.is_marked(marked) && !sets.is_marked(reads));
            assert_eq!(sets.unmarked(sets.union(marked, SHARED)), reads);
            assert_eq!(sets.reads(marked), [near as u32, far as u32]);
        }
    }
}
