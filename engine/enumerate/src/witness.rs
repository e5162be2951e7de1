//! One execution as data: its events, how they communicate, and the cycle that shows that the
//! threads do not simply take turns.

use super::candidate::{Candidate, Chosen, Index};
use super::event::{Act, Operand};
use super::threads::Threads;
use litmus::{Dialect, Test};
use relation::cycle::{cycle, label, Edge};
use relation::Relation;

/// An event of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// None for the initial value of a location.
    pub thread: Option<usize>,
    /// `a`, `b`, … thread by thread; empty for an initial value.
    pub label: String,
    /// R, W, RMW, F, LOCK, UNLOCK
    pub kind: &'static str,
    /// The model's sets that its annotation puts it in, in small letters: `rlx`, `sc`, `mfence`.
    pub order: String,
    pub location: String,
    /// The value that it reads, and the one that it writes; each empty if it does not.
    pub read: String,
    pub written: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub events: Vec<Shown>,
    /// From each write to the reads that see it.
    pub rf: Vec<(usize, usize)>,
    /// From each write to the next of its location.
    pub co: Vec<(usize, usize)>,
    /// From each read to the first write that it comes too early for.
    pub fr: Vec<(usize, usize)>,
    /// A shortest cycle of po, rf, co and fr; empty when the execution has none, which is to say
    /// when it is sequentially consistent.
    pub cycle: Vec<Edge>,
    /// The final state, by name.
    pub state: Vec<(String, String)>,
    /// The axiom that forbids the execution; none when the model allows it.
    pub axiom: Option<String>,
}

impl Witness {
    pub(super) fn new(
        test: &Test,
        threads: &Threads,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        po: Option<&Relation>,
        co: Option<&Relation>,
    ) -> Witness {
        let n = c.events.len();
        let nothing = Relation::new(n);
        let (po, co) = (po.unwrap_or(&nothing), co.unwrap_or(&nothing));
        let rf = Relation::of(n, chosen.rf.iter().copied());
        let sees_before = rf.inverse().sequence(co);
        let fr = sees_before.filter(|a, b| a != b);
        let mut used = vec![false; n];
        for (from, to) in rf.iter().chain(co.iter()) {
            used[from] = true;
            used[to] = true;
        }
        let shown = |i: Index| {
            let act = &c.events[i].act;
            match i < c.initial {
                true => used[i],
                false => act.is_memory() || act.is_lock() || matches!(act, Act::Fence),
            }
        };
        let kept: Vec<Index> = (0..n).filter(|i| shown(*i)).collect();
        let place = |i: Index| kept.binary_search(&i).ok();
        let pairs = |r: &Relation| -> Vec<(usize, usize)> {
            r.iter()
                .filter_map(|(a, b)| Some((place(a)?, place(b)?)))
                .collect()
        };
        let next = co.difference(&co.sequence(co));
        let soonest = sees_before.difference(&sees_before.sequence(co));
        let soonest = soonest.filter(|a, b| a != b);
        Witness {
            events: events(test, threads, c, chosen, &kept),
            rf: pairs(&rf),
            co: pairs(&next),
            fr: pairs(&soonest),
            cycle: cycle(&[("po", po), ("rf", &rf), ("co", co), ("fr", &fr)], n)
                .into_iter()
                .filter_map(|(a, b, kind)| Some((place(a)?, place(b)?, kind)))
                .collect(),
            state: Vec::new(),
            axiom: None,
        }
    }
}

fn events(
    test: &Test,
    threads: &Threads,
    c: &Candidate<'_>,
    chosen: &Chosen<'_>,
    kept: &[Index],
) -> Vec<Shown> {
    let printer = test.printer();
    let text = |operand: Option<Operand>| {
        let value = operand.map(|o| chosen.solver.value(o));
        value.map_or(String::new(), |v| printer.value(v))
    };
    let mut number = 0;
    let mut all = Vec::with_capacity(kept.len());
    for i in kept {
        let event = &c.events[*i];
        let kind = match event.act {
            Act::Update { .. } => "RMW",
            Act::Lock { .. } => "LOCK",
            Act::Unlock { .. } => "UNLOCK",
            Act::Fence => "F",
            _ if event.act.is_load() => "R",
            _ => "W",
        };
        let initial = event.thread.is_none();
        all.push(Shown {
            thread: event.thread,
            label: match initial {
                true => String::new(),
                false => label(number),
            },
            kind,
            order: match initial {
                true => String::new(),
                false => order(test.dialect, kind, threads.tags, event.tags),
            },
            location: text(event.act.address()),
            read: text(event.act.read()),
            written: text(event.act.written()),
        });
        number += usize::from(!initial);
    }
    all
}

/// What an event's annotation says: the sets of the dialect it is in, but for those that only
/// repeat what its kind says.
fn order(dialect: Dialect, kind: &str, tags: &[&str], held: u64) -> String {
    let repeats: &[&str] = match dialect {
        Dialect::C => &["A", "RMW", "LK", "LS", "UL", "annot"],
        _ => &["annot"],
    };
    let words = tags
        .iter()
        .enumerate()
        .filter(|(bit, tag)| held >> bit & 1 == 1 && !repeats.contains(tag))
        .filter(|(_, tag)| **tag != "NA" || matches!(kind, "R" | "W" | "RMW"))
        .map(|(_, tag)| tag.to_ascii_lowercase());
    words.collect::<Vec<String>>().join(" ")
}
