//! Whether an event that depends on some reads of its thread waits for all that it would wait for if it
//! depended on earlier ones.
//!
//! A thread that comes back to the same state has the same values, which may depend on other reads than
//! before. Under a model that orders by dependencies, a round that is left out must not order more:
//!
//! ```text
//! v = load(p);  while (load(flag) == 0) v = load(x);  load(a[v])
//! ```
//!
//! With a round, the last load waits for the load of x; without it, for that of p, and for what the
//! address p depends on.
//!
//! A read r may stand for an earlier one r0 of its thread if it has the same location and order, waits for
//! the reads that r0 waits for, by its address and by branches, and reads from the same write; or from a
//! write of its own thread that may stand for the one that r0 reads from, which is one of its own thread
//! too. What else orders something before r0 (a fence, an acquire, an earlier access of the location)
//! orders it before r.
use crate::semantics::dependencies::DependencySets;
use crate::source::{Action, Answer, Dependencies};
use program::memory::Dep;

/// An access of a thread to shared memory, where dependencies are tracked.
#[derive(Clone, Copy)]
struct PastAccess {
    /// Its number among the thread's events.
    position: u32,
    action: Action,
    dependencies: Dependencies,
    /// Of a read, the position of the event that shows where it reads from; see [`Answer`].
    source: u32,
    /// It belongs to a read-modify-write that writes.
    updates: bool,
}

/// The accesses of a thread, in program order.
#[derive(Clone, Default)]
pub struct PastAccesses(Vec<PastAccess>);

impl PastAccesses {
    /// Adds an event if it is an access.
    pub fn add(
        &mut self,
        position: u32,
        action: Action,
        dependencies: Dependencies,
        answer: Answer,
    ) {
        if !action.is_read() && !action.is_write() {
            return;
        }
        let updates = action.is_write() && action.is_rmw();
        if let Action::Write { at, rmw: true, .. } = action {
            let mut last = self.0.iter_mut().rev();
            let its_read = last.find(
                |access| matches!(access.action, Action::Read { at: read, .. } if read == at),
            );
            if let Some(read) = its_read {
                read.updates = true;
            }
        }
        self.0.push(PastAccess {
            position,
            action,
            dependencies,
            source: answer.event.checked_sub(1).unwrap_or(position),
            updates,
        });
    }

    /// Whether what depends on `after` waits for all that it would wait for if it depended on `before`.
    pub fn covers(&self, sets: &DependencySets, before: Dep, after: Dep) -> bool {
        let stands = |earlier, later| self.stands(sets, earlier, later);
        !sets.tracked || sets.is_in(before, after, stands)
    }

    /// Whether an access may stand for an earlier one.
    fn stands(&self, sets: &DependencySets, earlier: u32, later: u32) -> bool {
        let access = |position| self.0.iter().find(|access| access.position == position);
        let is_write = |position| access(position).is_some_and(|access| !access.action.is_read());
        let (Some(one), Some(other)) = (access(earlier), access(later)) else {
            return false;
        };
        let covers = |of: fn(&Dependencies) -> Dep| {
            self.covers(sets, of(&one.dependencies), of(&other.dependencies))
        };
        earlier == later
            || earlier < later
                && is_like(one.action, other.action)
                && one.dependencies.chosen == other.dependencies.chosen
                && !one.updates
                && (!one.action.is_read()
                    || one.source == other.source
                    || is_write(one.source) && self.stands(sets, one.source, other.source))
                && covers(|access| access.addr)
                && covers(|access| access.data)
                && covers(|access| access.ctrl)
    }
}

/// Whether an access has the location and order of an earlier one, and writes the same. What a
/// compare-exchange reads that fails may be ordered after more than what a load reads.
fn is_like(one: Action, other: Action) -> bool {
    match (one, other) {
        (
            Action::Read { at, order, rmw, .. },
            Action::Read {
                at: other_at,
                order: other_order,
                rmw: other_rmw,
                ..
            },
        ) => (at, order) == (other_at, other_order) && rmw <= other_rmw,
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Location;
    use program::ir::Order;

    const X: Location = at(64);
    const Y: Location = at(68);

    const fn at(address: u64) -> Location {
        Location { address, size: 4 }
    }

    fn load(at: Location) -> Action {
        Action::Read {
            at,
            order: Order::Rlx,
            rmw: false,
            uninitialised_ok: false,
            ignored: false,
        }
    }

    fn store(value: u64) -> Action {
        Action::Write {
            at: X,
            order: Order::Rlx,
            value,
            rmw: false,
            undefined: 0,
        }
    }

    /// The same as a part of a read-modify-write.
    fn update(mut action: Action) -> Action {
        if let Action::Read { rmw, .. } | Action::Write { rmw, .. } = &mut action {
            *rmw = true;
        }
        action
    }

    fn acquire(mut action: Action) -> Action {
        if let Action::Read { order, .. } = &mut action {
            *order = Order::Acq;
        }
        action
    }

    /// An access, and the number of the event that shows where it reads from: 0 is the access itself.
    type Event = (Action, u32, Dependencies);

    fn event(action: Action, shown: u32) -> Event {
        (action, shown, Dependencies::default())
    }

    /// Whether what depends on one event waits for all that it would wait for if it depended on the other.
    fn stands(sets: &DependencySets, events: &[Event], [before, after]: [usize; 2]) -> bool {
        let mut accesses = PastAccesses::default();
        for (position, (action, event, dependencies)) in events.iter().enumerate() {
            let answer = Answer {
                event: *event,
                ..Answer::default()
            };
            accesses.add(position as u32, *action, *dependencies, answer);
        }
        accesses.covers(sets, sets.of_read(before), sets.of_read(after))
    }

    #[test]
    fn a_later_read_of_the_same_write_stands_for_an_earlier_one() {
        let sets = &DependencySets::new(true, false);
        let again = |first, second, shown| {
            let events = [event(first, 0), event(second, shown)];
            stands(sets, &events, [0, 1])
        };
        assert!(again(load(X), load(X), 1));
        assert!(again(load(X), update(load(X)), 1));
        assert!(!again(load(X), load(X), 0), "another write");
        assert!(!again(load(X), load(Y), 1), "another location");
        assert!(!again(load(X), acquire(load(X)), 1), "another order");
        assert!(!again(acquire(load(X)), load(X), 1), "a weaker order");
        assert!(!again(update(load(X)), load(X), 1));
        let events = [event(load(X), 0), event(load(X), 1)];
        assert!(!stands(sets, &events, [1, 0]), "an earlier one");
        // both read what another read shows, which is not the same write
        let shown = [0, 1, 0, 3].map(|shown| event(load(X), shown));
        assert!(!stands(sets, &shown, [1, 3]));
    }

    #[test]
    fn nothing_stands_for_the_read_of_an_update() {
        let sets = &DependencySets::new(true, false);
        let fails = update(load(X));
        let updates = [event(fails, 0), event(update(store(1)), 0), event(fails, 1)];
        assert!(!stands(sets, &updates, [0, 2]));
        // that of another location is none of it
        let elsewhere = [
            event(fails, 0),
            event(update(load(Y)), 0),
            event(update(store(1)), 0),
            event(update(load(Y)), 2),
        ];
        assert!(stands(sets, &elsewhere, [1, 3]));
    }

    #[test]
    fn a_read_of_an_own_write_stands_if_the_write_does() {
        let sets = &DependencySets::new(true, false);
        let chosen = Dependencies {
            chosen: true,
            ..Dependencies::default()
        };
        let forwarded = |first: (Action, Dependencies), second: (Action, Dependencies)| {
            let events = [
                (first.0, 0, first.1),
                event(load(X), 1),
                (second.0, 0, second.1),
                event(load(X), 3),
            ];
            stands(sets, &events, [1, 3])
        };
        let plain = |value| (store(value), Dependencies::default());
        assert!(forwarded(plain(1), plain(1)));
        assert!(forwarded((store(1), chosen), (store(1), chosen)));
        assert!(!forwarded(plain(1), plain(2)), "another value");
        assert!(!forwarded((store(1), chosen), plain(1)));
        let update = (update(store(1)), Dependencies::default());
        assert!(!forwarded(update, update));
    }

    #[test]
    fn what_stands_waits_for_all_that_the_other_waits_for() {
        let sets = &DependencySets::new(true, false);
        let none = Dependencies::default();
        let (addr, data, ctrl) = (sets.of_read(0), sets.of_read(0), sets.of_read(0));
        let of_reads = [Dependencies { addr, ..none }, Dependencies { ctrl, ..none }];
        for waits in of_reads {
            let again = |first, second| {
                let events = [event(load(Y), 0), (load(X), 0, first), (load(X), 2, second)];
                stands(sets, &events, [1, 2])
            };
            assert!(again(waits, waits) && again(none, waits));
            assert!(!again(waits, none));
        }
        let waits = Dependencies { data, ..none };
        let forwarded = |first, second| {
            let writes = |position: u32, dependencies| {
                [(store(1), 0, dependencies), event(load(X), position + 1)]
            };
            let events = [
                vec![event(load(Y), 0)],
                writes(1, first).into(),
                writes(3, second).into(),
            ];
            stands(sets, &events.concat(), [2, 4])
        };
        assert!(forwarded(waits, waits) && forwarded(none, waits));
        assert!(!forwarded(waits, none));
    }
}
