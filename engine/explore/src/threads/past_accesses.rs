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
