//! The final state of a candidate: the last writes and the values that registers end with.

use super::candidate::{shift, Candidate, Chosen, EventId};
use super::thread_paths::ThreadPaths;
use litmus::value::{Address, Value};
use litmus::{FinalValues, Observable, Test};
use relation::Relation;

/// The final state of a candidate.
pub struct FinalState<'s, 'p> {
    pub test: &'s Test,
    pub threads: &'s ThreadPaths,
    pub c: &'s Candidate<'p>,
    pub chosen: &'s Chosen<'s>,
    /// The last write to each observed location.
    pub last_writes: &'s [EventId],
}

impl<'s, 'p> FinalState<'s, 'p> {
    /// The same candidate with other last writes.
    pub fn with<'w>(&self, last_writes: &'w [EventId]) -> FinalState<'w, 'p>
    where
        's: 'w,
    {
        FinalState {
            last_writes,
            ..*self
        }
    }

    /// The value with all its bits.
    fn whole(&self, o: &Observable) -> Value {
        match o {
            Observable::Register { thread, name } => self.register(*thread, name),
            Observable::Memory(at)
            | Observable::Element { at, .. }
            | Observable::Array { at, .. } => match self.threads.pieces {
                None => self.memory(*at),
                Some(pieces) => {
                    let parts = pieces.addresses(self.test, *at);
                    let parts: Vec<Value> = parts.map(|part| self.memory(part)).collect();
                    pieces.join(&parts)
                }
            },
        }
    }

    /// The final value at an observed address.
    fn memory(&self, at: Address) -> Value {
        let number = self.threads.observed.iter().position(|b| at == *b);
        number
            .and_then(|i| self.c.events[*self.last_writes.get(i)?].action.written())
            .map_or(Value::ZERO, |w| self.chosen.solver.value(w))
    }

    fn register(&self, thread: usize, name: &str) -> Value {
        let index = self.test.register(thread, name);
        let held = index.and_then(|i| self.c.paths.get(thread)?.path.registers.get(i));
        match held {
            Some(held) => {
                let by = self.c.shifts.get(thread).copied().unwrap_or(0);
                self.chosen.solver.value(shift(held.value, by))
            }
            None => {
                let initial = self.test.registers.get(&(thread, name.to_string()));
                initial.copied().unwrap_or(Value::ZERO)
            }
        }
    }

    /// Whether the state satisfies the test's filter.
    pub fn passes_filter(&self) -> bool {
        let filter = self.test.filter.as_ref();
        filter.is_none_or(|f| f.holds(self))
    }

    /// The values of these, one after the other, with undetermined ones numbered in the order in which they appear.
    pub fn values(&self, observables: &[Observable]) -> Vec<Value> {
        let mut values = Vec::with_capacity(observables.len());
        for observable in observables {
            match observable {
                Observable::Array { .. } => {
                    values.extend(observable.parts().iter().map(|part| self.value(part)));
                }
                single => values.push(self.value(single)),
            }
        }
        number_undetermined(&mut values);
        values
    }
}

impl FinalValues for FinalState<'_, '_> {
    fn value(&self, of: &Observable) -> Value {
        self.test.types.of(of).cast(self.whole(of))
    }

    fn constant(&self, of: &Observable, constant: Value) -> Value {
        self.test.types.of(of).cast(constant)
    }

    fn same(&self, a: &Observable, b: &Observable) -> bool {
        self.whole(a) == self.whole(b)
    }
}

/// The writes to a location that can be its last: all but the initial one, or that one alone.
pub fn possible_last_writes(
    c: &Candidate<'_>,
    chosen: &Chosen<'_>,
    address: Address,
) -> Vec<EventId> {
    let to = |i: &EventId| {
        let at = c.events[*i].action.address();
        at.and_then(|at| chosen.solver.known(at)) == Some(Value::Address(address))
    };
    let writes: Vec<EventId> = c.writes.iter().copied().filter(to).collect();
    match writes.iter().any(|w| *w >= c.initial) {
        true => writes.into_iter().filter(|w| *w >= c.initial).collect(),
        false => writes,
    }
}

/// Numbers undetermined values in the order in which they appear.
fn number_undetermined(state: &mut [Value]) {
    let mut seen: Vec<u32> = Vec::new();
    for value in state {
        if let Value::Undetermined(root) = value {
            let at = seen.iter().position(|s| s == root).unwrap_or_else(|| {
                seen.push(*root);
                seen.len() - 1
            });
            *value = Value::Undetermined(at as u32 + 1);
        }
    }
}

/// The last write of each list of candidates in a coherence order.
pub fn last_in(co: &Relation, choices: &[Vec<EventId>]) -> Vec<EventId> {
    let last = |writes: &Vec<EventId>| {
        let is_last = |w: &EventId| !writes.iter().any(|v| co.contains(*w, *v));
        writes.iter().copied().find(is_last)
    };
    choices.iter().filter_map(last).collect()
}

/// Advances to the next choice of one out of each; false after the last.
pub fn advance(choice: &mut [usize], sizes: impl Iterator<Item = usize>) -> bool {
    for (at, size) in choice.iter_mut().zip(sizes) {
        *at += 1;
        if *at < size {
            return true;
        }
        *at = 0;
    }
    false
}
