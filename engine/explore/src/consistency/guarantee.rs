//! Whether a model guarantees what the explorer relies on.
//!
//! The search that postpones reads: no execution has a cycle of rf and of what events need. A cycle
//! passes through two or three threads here. Each reads from the one before, and writes what the next
//! one reads; what it writes needs what it reads, in one of the ways below. An axiom that forbids
//! these cycles and not longer ones of the same edges is not found by this.
//!
//! A fixed order of arrivals at barriers ([`sharing`]): what a thread has done before it arrives or
//! ends is there for every thread that leaves the barrier or joins it.
//!
//! Rounds that are undone ([`undone_rounds`]), and writes of test-and-set loops, which are left out:
//! read-modify-writes continue release sequences. What reads from one is ordered by whatever it would be ordered by if it read from the
//! write that the read-modify-write reads from.
//!
//! [`sharing`]: crate::threads::sharing
//! [`undone_rounds`]: crate::threads::undone_rounds

use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::drawing::{label, read, write};
use crate::consistency::stale_access::{StaleAccess, SyncEdge};
use crate::consistency::tag::{self, Tags};
use crate::consistency::view::{View, ViewEvent};
use crate::graph::execution_graph::{Graph, NONE};
use crate::source::{Action, Initial};
use cat::CatError;
use program::ir::Order;

/// How a thread's write needs its read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Data,
    /// What is written is chosen by what is read.
    Chosen,
    Addr,
    /// The address of an access between the two.
    AddrPo,
    Ctrl,
    /// The read acquires.
    Acquire,
    Fence(Order),
    /// A read-modify-write whose write depends on its read.
    Rmw,
    /// A store between the two, and a load of what it has stored.
    Forwarded,
    /// The same; what is stored is chosen.
    ForwardedChoice,
    /// The write is that of a thread that is created after the read.
    Created,
    /// The write releases.
    Release(Order),
    /// The write is that of a read-modify-write that releases.
    ReleaseRmw(Order),
    /// The read is that of a compare-exchange that succeeds, or not.
    Compared(bool),
}

/// The ways that the search relies on.
const NEEDS: [Need; 14] = [
    Need::Data,
    Need::Chosen,
    Need::Addr,
    Need::AddrPo,
    Need::Ctrl,
    Need::Acquire,
    Need::Fence(Order::Acq),
    Need::Fence(Order::Rel),
    Need::Fence(Order::AcqRel),
    Need::Fence(Order::Sc),
    Need::Rmw,
    Need::Forwarded,
    Need::ForwardedChoice,
    Need::Created,
];

/// The ways that the search makes use of where the model has them.
const RELEASES: [Need; 5] = [
    Need::Release(Order::Rel),
    Need::Release(Order::Sc),
    Need::ReleaseRmw(Order::Rel),
    Need::ReleaseRmw(Order::AcqRel),
    Need::ReleaseRmw(Order::Sc),
];

/// The ways that make a compare-exchange a branch, where the model has them.
const COMPARES: [Need; 2] = [Need::Compared(false), Need::Compared(true)];

impl Need {
    fn name(self) -> &'static str {
        match self {
            Need::Data => "data",
            Need::Chosen => "chosen",
            Need::Addr => "addr",
            Need::AddrPo => "addr; po",
            Need::Ctrl => "ctrl",
            Need::Acquire => "[ACQ]; po",
            Need::Fence(Order::Acq) => "po; [F & ACQ]; po",
            Need::Fence(Order::Rel) => "po; [F & REL]; po",
            Need::Fence(Order::AcqRel) => "po; [F & ACQ_REL]; po",
            Need::Fence(_) => "po; [F & SC]; po",
            Need::Rmw => "rmw",
            Need::Forwarded => "data; rfi; data",
            Need::ForwardedChoice => "chosen; rfi; data",
            Need::Created => "po; [create]; po",
            Need::Release(_) => "po; [REL]",
            Need::ReleaseRmw(_) => "po; [REL & RMW]",
            Need::Compared(false) => "[CASF]; po",
            Need::Compared(true) => "[domain(rmw & ctrl)]; po",
        }
    }
}

/// A cycle that the model allows, in words; none if it allows none.
pub fn allowed_cycle(checker: &mut ConsistencyChecker) -> Result<Option<String>, CatError> {
    // coherence alone forbids a cycle within one location
    let within = |cycle: &[Need]| cycle.iter().all(|need| *need == Need::Rmw);
    allowed_of(checker, &NEEDS, |cycle| !within(cycle))
}

/// Whether a release store, and the write of a read-modify-write that releases, needs everything
/// before it too.
pub fn releases_last(checker: &mut ConsistencyChecker) -> Result<bool, CatError> {
    let needs = [&NEEDS[..], &RELEASES].concat();
    let released = |cycle: &[Need]| cycle.iter().any(|need| RELEASES.contains(need));
    Ok(allowed_of(checker, &needs, released)?.is_none())
}

/// Whether everything after a compare-exchange needs its read, as after a branch.
pub fn branches_on_compare(checker: &mut ConsistencyChecker) -> Result<bool, CatError> {
    let needs = [&NEEDS[..], &COMPARES].concat();
    let compared = |cycle: &[Need]| cycle.iter().any(|need| COMPARES.contains(need));
    Ok(allowed_of(checker, &needs, compared)?.is_none())
}

fn allowed_of(
    checker: &mut ConsistencyChecker,
    needs: &[Need],
    asked: impl Fn(&[Need]) -> bool,
) -> Result<Option<String>, CatError> {
    let count = needs.len();
    let pairs = (0..count).flat_map(|a| (a..count).map(move |b| vec![needs[a], needs[b]]));
    let triples = (0..count).flat_map(|a| {
        let rest = move |b: usize| (a..count).map(move |c| vec![needs[a], needs[b], needs[c]]);
        (a..count).flat_map(rest)
    });
    let mut graph = Graph::default();
    for cycle in pairs.chain(triples).filter(|cycle| asked(cycle)) {
        draw(&cycle, &mut graph);
        if checker.is_consistent(&graph)? {
            let names = cycle.iter().map(|need| need.name());
            let names: Vec<_> = names.flat_map(|name| [name, "rfe"]).collect();
            return Ok(Some(names.join("; ")));
        }
    }
    Ok(None)
}

/// Whether no execution has an access that a barrier, or the end of a thread, makes too old.
pub fn orders_by_barriers(checker: &mut ConsistencyChecker) -> Result<bool, CatError> {
    let rmw = tag::RMW | tag::ACQ_REL | tag::ATOMIC;
    let (arrive, arrived) = match checker.in_halves() {
        true => (tag::READ | rmw, tag::WRITE | rmw),
        false => (tag::READ | tag::WRITE | rmw, tag::READ | tag::WRITE | rmw),
    };
    let leave = tag::READ | tag::ACQ | tag::ATOMIC;
    let edge = |to: Tags| SyncEdge { from: arrived, to };
    for hop in [edge(arrive), edge(leave), SyncEdge::THREAD] {
        for kind in [tag::PLAIN, tag::RLX | tag::ATOMIC] {
            for access in [tag::READ, tag::WRITE] {
                let stale = StaleAccess {
                    write: tag::WRITE | kind,
                    hop,
                    access: access | kind,
                    source: None,
                    earlier: false,
                };
                if !checker.forbids(stale)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// A message that one thread passes to another: a write of data, a write of a flag, with a fence in
/// between or without, a read of the flag, a read of the data.
#[derive(Clone, Copy)]
struct Message {
    written: Tags,
    before: Option<Tags>,
    read: Tags,
    after: Option<Tags>,
    /// The read of the data, and the write of it.
    data: Tags,
    /// Whether the data are read before they are written.
    stale: bool,
}

/// Whether a read that reads from a read-modify-write is ordered by all that it is ordered by if it
/// reads from the write before.
pub fn updates_continue(checker: &mut ConsistencyChecker) -> Result<bool, CatError> {
    const RELEASES: [(Tags, Option<Tags>); 5] = [
        (tag::RLX, None),
        (tag::REL, None),
        (tag::SC, None),
        (tag::RLX, Some(tag::REL)),
        (tag::RLX, Some(tag::SC)),
    ];
    const ACQUIRES: [(Tags, Option<Tags>); 5] = [
        (tag::RLX, None),
        (tag::ACQ, None),
        (tag::SC, None),
        (tag::RLX, Some(tag::ACQ)),
        (tag::RLX, Some(tag::SC)),
    ];
    for (written, before) in RELEASES {
        for (read, after) in ACQUIRES {
            for (data, stale) in [(tag::RLX | tag::ATOMIC, true), (tag::PLAIN, false)] {
                let message = Message {
                    written,
                    before,
                    read,
                    after,
                    data,
                    stale,
                };
                if !message.is_continued(checker)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

impl Message {
    /// Whether what orders the message does so too if a read-modify-write passes it on.
    fn is_continued(self, checker: &mut ConsistencyChecker) -> Result<bool, CatError> {
        let in_halves = checker.in_halves();
        let (consistent, flagged) = checker.judges(|view| self.show(view, None, in_halves))?;
        if consistent && (self.stale || flagged) {
            return Ok(true);
        }
        for update in [tag::RLX, tag::ACQ, tag::REL, tag::ACQ_REL, tag::SC] {
            let passed = |view: &mut View| self.show(view, Some(update), in_halves);
            if checker.judges(passed)? != (consistent, flagged) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn show(self, view: &mut View, update: Option<Tags>, in_halves: bool) {
        const DATA: u32 = 0;
        const FLAG: u32 = 1;
        view.events.clear();
        view.rmw.clear();
        let add = |view: &mut View, thread, location, tags, source| {
            view.events
                .push(ViewEvent::new(thread, location, tags, source));
            view.events.len() as u32 - 1
        };
        let initial = tag::INITIAL_WRITE;
        for location in [DATA, FLAG] {
            add(view, None, Some(location), initial, None);
        }
        let fence = |order| tag::FENCE | tag::PLAIN | order;
        let data = add(view, Some(1), Some(DATA), tag::WRITE | self.data, None);
        if let Some(order) = self.before {
            add(view, Some(1), None, fence(order), None);
        }
        let written = tag::WRITE | tag::ATOMIC | self.written;
        let mut flags = vec![FLAG, add(view, Some(1), Some(FLAG), written, None)];
        if let Some(order) = update {
            let (read, write) = (tag::READ, tag::WRITE);
            let kind = tag::RMW | tag::ATOMIC | order;
            let source = flags.last().copied();
            if in_halves {
                let first = add(view, Some(2), Some(FLAG), kind | read, source);
                let second = add(view, Some(2), Some(FLAG), kind | write, None);
                flags.push(second);
                view.rmw.push((first, second));
            } else {
                flags.push(add(view, Some(2), Some(FLAG), kind | read | write, source));
            }
        }
        let read = tag::READ | tag::ATOMIC | self.read;
        add(view, Some(0), Some(FLAG), read, flags.last().copied());
        if let Some(order) = self.after {
            add(view, Some(0), None, fence(order), None);
        }
        let source = if self.stale { DATA } else { data };
        add(
            view,
            Some(0),
            Some(DATA),
            tag::READ | self.data,
            Some(source),
        );
        view.orders.clear();
        view.starts.clear();
        view.starts.push(0);
        view.orders.extend([DATA, data]);
        view.starts.push(2);
        view.orders.extend(flags);
        view.starts.push(view.orders.len() as u32);
    }
}

/// Draws a cycle of relaxed accesses, a thread for each need.
fn draw(cycle: &[Need], graph: &mut Graph) {
    graph.reset();
    for thread in 1..=cycle.len() {
        graph.push(0, &label(Action::Create { thread }), NONE);
    }
    // the location that each thread reads: that of the thread before, if that one's read and write
    // are of one location, which is so for any but the last
    let mut places = vec![0; cycle.len()];
    let last = cycle.iter().position(|need| *need != Need::Rmw);
    let start = (last.unwrap_or(0) + 1) % cycle.len();
    for step in 1..=cycle.len() {
        let (before, thread) = (
            (start + step - 1) % cycle.len(),
            (start + step) % cycle.len(),
        );
        if step < cycle.len() {
            places[thread] = match cycle[before] {
                Need::Rmw => places[before],
                _ => step,
            };
        }
    }
    let spare = cycle.len() + 1;
    let mut ends = Vec::new();
    let mut exchanged = Vec::new();
    for (number, need) in cycle.iter().enumerate() {
        let thread = number + 1;
        let (from, to) = (places[number], places[(number + 1) % cycle.len()]);
        let mut add = |thread: usize, action: Action| {
            let at = action.at();
            let location = at.map_or(NONE, |at| graph.locate(at, Initial::Value(0)));
            graph.push(thread, &label(action), location)
        };
        let order = match need {
            Need::Acquire => Order::Acq,
            _ => Order::Rlx,
        };
        let rmw = matches!(need, Need::Rmw | Need::Compared(_));
        let entry = add(thread, read(from, order, rmw));
        let own = spare + number;
        let between = match need {
            Need::AddrPo => Some((add(thread, read(own, Order::Rlx, false)), NONE)),
            Need::Fence(order) => {
                add(thread, Action::fence(*order));
                None
            }
            Need::Compared(true) => {
                exchanged.push((entry, add(thread, write(from, Order::Rlx, true))));
                None
            }
            Need::Forwarded | Need::ForwardedChoice => {
                let stored = add(thread, write(own, Order::Rlx, false));
                Some((add(thread, read(own, Order::Rlx, false)), stored))
            }
            _ => None,
        };
        let writer = match need {
            Need::Created => {
                let created = cycle.len() + 1 + number;
                add(thread, Action::Create { thread: created });
                created
            }
            _ => thread,
        };
        let (order, rmw) = match need {
            Need::Release(order) => (*order, false),
            Need::ReleaseRmw(order) => (*order, true),
            _ => (Order::Rlx, *need == Need::Rmw),
        };
        if matches!(need, Need::ReleaseRmw(_)) {
            add(writer, read(to, Order::Rlx, true));
        }
        let exit = add(writer, write(to, order, rmw));
        let dependencies = &mut graph.dependencies;
        match (need, between) {
            (Need::Data | Need::Rmw, _) => dependencies.data.push((entry, exit)),
            (Need::Chosen, _) => {
                dependencies.data.push((entry, exit));
                dependencies.chosen.push((entry, exit));
            }
            (Need::Addr, _) => dependencies.addr.push((entry, exit)),
            (Need::Ctrl, _) => dependencies.ctrl.push((entry, exit)),
            (Need::AddrPo, Some((access, _))) => dependencies.addr.push((entry, access)),
            (Need::Forwarded | Need::ForwardedChoice, Some((load, stored))) => {
                dependencies.data.extend([(entry, stored), (load, exit)]);
                let chosen = (*need == Need::ForwardedChoice).then_some((entry, stored));
                dependencies.chosen.extend(chosen);
            }
            _ => {}
        }
        if let Some((load, stored)) = between.filter(|(_, stored)| *stored != NONE) {
            graph.order_after(stored, NONE);
            graph.set_source(load, stored, 1);
        }
        ends.push((entry, exit));
    }
    for step in 0..cycle.len() {
        let next = (start + step) % cycle.len();
        let number = (next + cycle.len() - 1) % cycle.len();
        let (exit, entry) = (ends[number].1, ends[next].0);
        let location = graph.event(exit).location;
        let last = graph.last_write(location);
        graph.order_after(exit, last);
        graph.set_source(entry, exit, 1);
        if let Some((_, written)) = exchanged.iter().find(|(read, _)| *read == entry) {
            graph.order_after(*written, exit);
        }
    }
    graph.dependencies.ctrl.extend(exchanged);
}
