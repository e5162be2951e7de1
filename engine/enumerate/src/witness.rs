//! A witness: the events of one execution, rf, co and fr between them, and a cycle that shows that it
//! is not sequentially consistent.

use super::candidate::{Candidate, Chosen, EventId};
use super::paths::path::Action;
use super::term::Term;
use litmus::dialects::c::LOCK_READ;
use litmus::{Annotations, Test};
use relation::cycle::{cycle, label, Edge};
use relation::Relation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    /// None for the initial value of a location.
    pub thread: Option<usize>,
    /// `a`, `b`, … thread by thread; empty for an initial value.
    pub label: String,
    /// R, W, RMW, F, LOCK, UNLOCK
    pub kind: &'static str,
    /// Its annotations in lower case: `rlx`, `sc`, `mfence`.
    pub order: String,
    pub location: String,
    /// The value that it reads, and the value that it writes; empty if there is none.
    pub read: String,
    pub written: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub events: Vec<WitnessEvent>,
    /// From each write to the reads that read from it.
    pub rf: Vec<(usize, usize)>,
    /// From each write to the next write to its location.
    pub co: Vec<(usize, usize)>,
    /// From each read to the next write after the one that it reads from.
    pub fr: Vec<(usize, usize)>,
    /// A shortest cycle of po, rf, co and fr; empty when the execution is sequentially consistent.
    pub cycle: Vec<Edge>,
    /// The final state: names and values.
    pub state: Vec<(String, String)>,
    /// The axiom that forbids the execution; none when the model allows it.
    pub axiom: Option<String>,
}

impl Witness {
    /// `sm` relates the pieces of an access, if accesses are split.
    pub(super) fn new(
        test: &Test,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        po: Option<&Relation>,
        co: Option<&Relation>,
        sm: Option<&Relation>,
    ) -> Witness {
        let n = c.events.len();
        let nothing = Relation::new(n);
        let (po, co) = (po.unwrap_or(&nothing), co.unwrap_or(&nothing));
        let rf = Relation::of(n, chosen.rf.iter().copied());
        let rf_inverse_co = rf.inverse().sequence(co);
        let fr = rf_inverse_co.filter(|a, b| a != b);
        let mut used = vec![false; n];
        for (from, to) in rf.iter().chain(co.iter()) {
            used[from] = true;
            used[to] = true;
        }
        let is_shown = |i: EventId| {
            let action = &c.events[i].action;
            match i < c.initial {
                true => used[i],
                false => {
                    action.is_memory()
                        || matches!(action, Action::Fence | Action::Srcu { .. })
                        // a lock of the Linux kernel is shown as its write
                        || action.is_lock() && c.events[i].annotations != LOCK_READ
                }
            }
        };
        let shown: Vec<EventId> = (0..n).filter(|i| is_shown(*i)).collect();
        let number = |i: EventId| shown.binary_search(&i).ok();
        let pairs = |r: &Relation| -> Vec<(usize, usize)> {
            r.iter()
                .filter_map(|(a, b)| Some((number(a)?, number(b)?)))
                .collect()
        };
        // what leads to a piece of an access leads to the access
        let to = |r: &Relation| sm.map_or_else(|| r.clone(), |sm| r.sequence(sm));
        let next = co.difference(&co.sequence(co));
        let next_after_read = rf_inverse_co.difference(&rf_inverse_co.sequence(co));
        let next_after_read = next_after_read.filter(|a, b| a != b);
        Witness {
            events: events(test, c, chosen, &shown),
            rf: pairs(&rf),
            co: pairs(&next),
            fr: pairs(&next_after_read),
            cycle: cycle(
                &[
                    ("po", po),
                    ("rf", &to(&rf)),
                    ("co", &to(co)),
                    ("fr", &to(&fr)),
                ],
                n,
            )
            .into_iter()
            .filter_map(|(a, b, kind)| Some((number(a)?, number(b)?, kind)))
            .collect(),
            state: Vec::new(),
            axiom: None,
        }
    }
}

fn events(
    test: &Test,
    c: &Candidate<'_>,
    chosen: &Chosen<'_>,
    shown: &[EventId],
) -> Vec<WitnessEvent> {
    let printer = test.printer();
    let text = |operand: Option<Term>| {
        let value = operand.map(|o| chosen.solver.value(o));
        value.map_or(String::new(), |v| printer.value(v))
    };
    let mut labels = 0;
    let mut all = Vec::with_capacity(shown.len());
    for i in shown {
        let event = &c.events[*i];
        let kind = match event.action {
            Action::Update { .. } => "RMW",
            Action::Lock { .. } => "LOCK",
            Action::Unlock { .. } => "UNLOCK",
            Action::Fence => "F",
            Action::LockTest { .. } => "TRYLOCK",
            Action::Srcu { .. } => "SRCU",
            _ if event.action.is_load() => "R",
            _ => "W",
        };
        let initial = event.thread.is_none();
        all.push(WitnessEvent {
            thread: event.thread,
            label: match initial {
                true => String::new(),
                false => label(labels),
            },
            kind,
            order: match initial {
                true => String::new(),
                false => order(test, kind, event.annotations),
            },
            location: text(event.action.address()),
            read: text(event.action.read()),
            written: text(event.action.written()),
        });
        labels += usize::from(!initial);
    }
    all
}

/// An event's annotations, without those that repeat its kind.
fn order(test: &Test, kind: &str, annotations: Annotations) -> String {
    let has = |bit: usize| annotations >> bit & 1 == 1;
    let of_dialect = test.dialect.annotations;
    let tags = test.tags.iter().zip(of_dialect.len()..);
    let tags: Vec<&str> = tags
        .filter(|(_, bit)| has(*bit))
        .map(|(tag, _)| &**tag)
        .collect();
    if !tags.is_empty() {
        return tags.join(" ");
    }
    let implied = test.dialect.implied_annotations;
    let words = of_dialect
        .iter()
        .enumerate()
        .filter(|(bit, name)| has(*bit) && !implied.contains(name))
        .filter(|(_, name)| **name != "NA" || matches!(kind, "R" | "W" | "RMW"))
        .map(|(_, name)| name.to_ascii_lowercase());
    words.collect::<Vec<String>>().join(" ")
}
