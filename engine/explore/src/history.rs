//! Histories of operation calls, and which of them a sequential specification allows.
//!
//! A history is linearizable if its calls have a total order in which each returns what the
//! sequential specification returns, and which contains the order of the calls: one precedes another
//! if its return happens before the other's beginning (Herlihy, Wing, "Linearizability: A correctness
//! condition for concurrent objects", TOPLAS 1990; with happens-before for real time as in Batty,
//! Dodds, Gotsman, "Library abstraction for C/C++ concurrency", POPL 2013).

use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::source::ThreadId;
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::{BTreeMap, BTreeSet};

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Call {
    pub number: u32,
    pub thread: ThreadId,
    pub result: u64,
    /// The event of its return.
    pub returned: EventId,
}

/// The calls of an execution, by their numbers, and which precede each: a bit each, by index.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct History {
    pub calls: Vec<Call>,
    pub before: Vec<u64>,
}

impl History {
    /// The history of an execution. `ordered`: whether one event comes before the other. A call
    /// begins where that is recorded, and else where its thread's last call has returned, or where
    /// the thread begins.
    pub fn of<E>(
        graph: &Graph,
        mut ordered: impl FnMut(EventId, EventId) -> Result<bool, E>,
    ) -> Result<History, E> {
        let mut calls = returned(graph);
        let begins: BTreeMap<u32, EventId> = recorded(graph)
            .filter(|(_, returned, _)| !returned)
            .map(|(number, _, id)| (number, id))
            .collect();
        calls.sort_by_key(|call| call.number);
        let mut before = vec![0; calls.len()];
        for (later, call) in calls.iter().enumerate() {
            let begin = begins.get(&call.number).copied();
            let begin = begin.or_else(|| last_return(graph, &calls, call));
            let begin = begin.unwrap_or(graph.threads[call.thread].creator);
            if begin == NONE {
                continue;
            }
            for (earlier, other) in calls.iter().enumerate() {
                let same = other.returned == begin;
                if earlier != later && (same || ordered(other.returned, begin)?) {
                    before[later] |= 1 << earlier;
                }
            }
        }
        Ok(History { calls, before })
    }

    /// The numbers of the calls with their results.
    fn results(&self) -> Vec<(u32, u64)> {
        let calls = self.calls.iter();
        calls.map(|call| (call.number, call.result)).collect()
    }

    /// Whether an order of the calls, by their numbers, contains the order of the history.
    fn is_extended_by(&self, order: &[u32]) -> bool {
        let mut passed = 0;
        order.iter().all(|number| {
            let index = self.calls.iter().position(|call| call.number == *number);
            index.is_some_and(|index| {
                passed |= 1 << index;
                self.before[index] & !passed == 0
            })
        })
    }
}

/// Where calls begin or have returned: their numbers, whether they have returned, the events.
fn recorded(graph: &Graph) -> impl Iterator<Item = (u32, bool, EventId)> + '_ {
    let ids = 0..graph.len() as EventId;
    ids.filter_map(|id| {
        let (number, returned) = graph.event(id).at()?.call()?;
        Some((number, returned, id))
    })
}

/// The calls that have returned, in the order in which these events were added.
fn returned(graph: &Graph) -> Vec<Call> {
    let returns = recorded(graph).filter(|(_, returned, _)| *returned);
    let calls = returns.map(|(number, _, id)| {
        let event = graph.event(id);
        Call {
            number,
            thread: event.thread,
            result: event.action.written().value,
            returned: id,
        }
    });
    calls.collect()
}

/// Where the call of the same thread before this one has returned.
fn last_return(graph: &Graph, calls: &[Call], call: &Call) -> Option<EventId> {
    let index = |id: EventId| graph.event(id).index;
    let earlier = calls.iter().filter(|other| {
        other.thread == call.thread && index(other.returned) < index(call.returned)
    });
    let last = earlier.max_by_key(|other| index(other.returned));
    last.map(|other| other.returned)
}

/// The sequential histories of a specification: for the results of calls, their orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specification {
    /// Some of its calls may wait forever: an implementation may hang too.
    pub may_hang: bool,
    orders: BTreeMap<Vec<(u32, u64)>, BTreeSet<Vec<u32>>>,
}

/// The sequential history that comes closest to one that is not linearizable: a call with its result
/// each; and the first call that returns something else.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Nearest {
    pub calls: Vec<(u32, u64)>,
    pub differs: u32,
}

/// A history that is not linearizable.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct UnexplainedCalls {
    pub history: History,
    pub nearest: Option<Nearest>,
}

impl UnexplainedCalls {
    /// The first call that the nearest sequential history does not explain.
    pub fn differs(&self) -> Option<&Call> {
        let number = self.nearest.as_ref()?.differs;
        self.history.calls.iter().find(|call| call.number == number)
    }
}

impl Specification {
    /// Adds the calls of an execution of the specification. Returns whether they have returned one
    /// after the other.
    pub fn add(&mut self, graph: &Graph) -> bool {
        let mut calls = returned(graph);
        let before = |call: &Call| {
            let others = calls.iter();
            others
                .filter(|other| graph.precedes(other.returned, call.returned))
                .filter(|other| other.number != call.number)
                .count()
        };
        let mut order: Vec<(usize, u32)> = calls
            .iter()
            .map(|call| (before(call), call.number))
            .collect();
        order.sort_unstable();
        if order
            .iter()
            .enumerate()
            .any(|(at, (before, _))| *before != at)
        {
            return false;
        }
        calls.sort_by_key(|call| call.number);
        let results = calls.iter().map(|call| (call.number, call.result));
        self.insert(
            results.collect(),
            order.iter().map(|(_, number)| *number).collect(),
        );
        true
    }

    /// Adds the results of calls, by their numbers, and an order in which they have these.
    fn insert(&mut self, results: Vec<(u32, u64)>, order: Vec<u32>) {
        self.orders.entry(results).or_default().insert(order);
    }

    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Whether a history is linearizable.
    pub fn allows(&self, history: &History) -> bool {
        let orders = self.orders.get(&history.results());
        orders.is_some_and(|orders| orders.iter().any(|order| history.is_extended_by(order)))
    }

    /// Of the sequential histories that have the order of a history, the one with the most results
    /// in common before the first that differs, and then altogether.
    pub fn nearest(&self, history: &History) -> Option<Nearest> {
        let result = |of: &[(u32, u64)], number: u32| {
            let found = of.iter().find(|(other, _)| *other == number);
            found.map_or(0, |(_, result)| *result)
        };
        let own = history.results();
        let mut best: Option<((usize, usize), Nearest)> = None;
        for (results, orders) in &self.orders {
            if results.len() != own.len() {
                continue;
            }
            let common = results.iter().filter(|pair| own.contains(pair)).count();
            for order in orders.iter().filter(|order| history.is_extended_by(order)) {
                let differs = |number: &u32| result(results, *number) != result(&own, *number);
                let Some(first) = order.iter().position(differs) else {
                    continue;
                };
                let rank = (first, common);
                if best.as_ref().is_none_or(|(known, _)| *known < rank) {
                    let calls = order
                        .iter()
                        .map(|number| (*number, result(results, *number)));
                    let nearest = Nearest {
                        calls: calls.collect(),
                        differs: order[first],
                    };
                    best = Some((rank, nearest));
                }
            }
        }
        best.map(|(_, nearest)| nearest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls 0, 1, … with these results; each bit set of `before` says which precede it.
    fn history(results: &[u64], before: &[u64]) -> History {
        let calls = results.iter().enumerate().map(|(number, result)| Call {
            number: number as u32,
            thread: 0,
            result: *result,
            returned: number as EventId,
        });
        History {
            calls: calls.collect(),
            before: before.to_vec(),
        }
    }

    /// `put(1)` is call 0, `take()` call 1, which returns 1 after it and 0 before it.
    fn queue() -> Specification {
        let mut specification = Specification::default();
        specification.insert(vec![(0, 0), (1, 1)], vec![0, 1]);
        specification.insert(vec![(0, 0), (1, 0)], vec![1, 0]);
        specification
    }

    #[test]
    fn calls_that_overlap_may_take_effect_in_any_order() {
        let overlap = [0, 0];
        assert!(queue().allows(&history(&[0, 0], &overlap)));
        assert!(queue().allows(&history(&[0, 1], &overlap)));
        assert!(!queue().allows(&history(&[0, 2], &overlap)));
    }

    #[test]
    fn a_call_takes_effect_after_those_that_precede_it() {
        let after = history(&[0, 0], &[0, 1]);
        assert!(!queue().allows(&after));
        let nearest = queue().nearest(&after).unwrap();
        assert_eq!(nearest.calls, [(0, 0), (1, 1)]);
        assert_eq!(nearest.differs, 1);
        assert!(!queue().allows(&history(&[0, 1], &[2, 0])));
    }
}
