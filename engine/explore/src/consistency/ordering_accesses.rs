//! Which accesses of an object that only one thread uses order other accesses of that thread.
//!
//! Such an access is no event of the search ([`environment`](crate::threads::environment)). That drops
//! nothing, and adds nothing either where the model does without it: nothing reads from the access, and
//! it has no co and no fr to another thread. But a model may give it a meaning by its kind alone, as
//! x86-TSO does: a locked instruction drains the store buffer, whatever it writes to.
//!
//! The model is asked, of the critical cycles of two threads and two locations: the access, of a third
//! location, stands between the two accesses of one thread, and a seq_cst fence between those of the
//! other. A kind of access orders if it makes one of these executions inconsistent. An object with
//! such an access is then shared, so that each access of it is an event.

use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::view::{tag, View, ViewEvent};
use cat::CatError;
use program::ir::Order;

/// The kinds of accesses that order others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderingAccesses(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Update,
}

/// All kinds of atomic accesses.
const KINDS: [(Kind, Order); 11] = [
    (Kind::Read, Order::Rlx),
    (Kind::Read, Order::Acq),
    (Kind::Read, Order::Sc),
    (Kind::Write, Order::Rlx),
    (Kind::Write, Order::Rel),
    (Kind::Write, Order::Sc),
    (Kind::Update, Order::Rlx),
    (Kind::Update, Order::Acq),
    (Kind::Update, Order::Rel),
    (Kind::Update, Order::AcqRel),
    (Kind::Update, Order::Sc),
];

/// How an access of one thread is followed by one of the other in a critical cycle: by rf, co or fr.
const EDGES: [(u32, u32); 3] = [
    (tag::WRITE, tag::READ),
    (tag::WRITE, tag::WRITE),
    (tag::READ, tag::WRITE),
];

impl OrderingAccesses {
    fn bit(kind: Kind, order: Order) -> u32 {
        1 << (8 * kind as u32 + order as u32)
    }

    pub fn contains(self, kind: Kind, order: Order) -> bool {
        self.0 & Self::bit(kind, order) != 0
    }

    /// Asks the model, which has to order by program order.
    pub fn new(checker: &mut ConsistencyChecker) -> Result<OrderingAccesses, CatError> {
        let mut found = OrderingAccesses::default();
        for there in EDGES {
            for back in EDGES {
                let mut allows = |between: &[(Kind, Order)]| -> Result<bool, CatError> {
                    Ok(checker.judges(|view| show(view, there, back, between))?.0)
                };
                if !allows(&[])? || allows(&KINDS)? {
                    continue;
                }
                for (kind, order) in KINDS {
                    if !allows(&[(kind, order)])? {
                        found.0 |= Self::bit(kind, order);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Fills a view with a cycle: `there` leads from the first thread to the second, `back` to the first.
fn show(view: &mut View, there: (u32, u32), back: (u32, u32), between: &[(Kind, Order)]) {
    const X: u32 = 0;
    const Y: u32 = 1;
    const OWN: u32 = 2;
    view.events.clear();
    view.rmw.clear();
    let mut orders = [vec![X], vec![Y], vec![OWN]];
    for location in [X, Y, OWN] {
        view.events.push(ViewEvent {
            thread: None,
            location: Some(location),
            tags: tag::WRITE | tag::INITIAL | tag::PLAIN,
            source: None,
        });
    }
    let mut add = |thread, location: Option<u32>, tags: u32| {
        let event = view.events.len() as u32;
        let order = location.map(|location| &mut orders[location as usize]);
        let last = order.as_ref().and_then(|order| order.last().copied());
        view.events.push(ViewEvent {
            thread: Some(thread),
            location,
            tags,
            source: last.filter(|_| tags & tag::READ != 0),
        });
        if tags & tag::WRITE != 0 {
            order.into_iter().for_each(|order| order.push(event));
        }
        event
    };
    let relaxed = tag::RLX | tag::ATOMIC;
    let first = add(0, Some(X), back.1 | relaxed);
    for (kind, order) in between {
        let order = match order {
            Order::Acq => tag::ACQ,
            Order::Rel => tag::REL,
            Order::AcqRel => tag::ACQ_REL,
            Order::Sc => tag::SC,
            _ => tag::RLX,
        };
        let kind = match kind {
            Kind::Read => tag::READ,
            Kind::Write => tag::WRITE,
            Kind::Update => tag::READ | tag::WRITE | tag::RMW,
        };
        add(0, Some(OWN), kind | order | tag::ATOMIC);
    }
    add(0, Some(Y), there.0 | relaxed);
    add(1, Some(Y), there.1 | relaxed);
    add(1, None, tag::FENCE | tag::PLAIN | tag::SC);
    let last = add(1, Some(X), back.0 | relaxed);
    // what comes first in the cycle's edge from the second thread to the first was added last
    match back {
        (tag::WRITE, tag::READ) => view.events[first as usize].source = Some(last),
        (tag::WRITE, _) => orders[X as usize].swap(1, 2),
        _ => view.events[last as usize].source = Some(X),
    }
    view.orders.clear();
    view.starts.clear();
    view.starts.push(0);
    for order in &orders {
        view.orders.extend(order);
        view.starts.push(view.orders.len() as u32);
    }
}
