//! Which accesses of an object that only one thread uses order other accesses of that thread.
//!
//! Such an access is no event of the search ([`environment`](crate::threads::environment)). That drops
//! nothing, and adds nothing either where the model does without it: nothing reads from the access, and
//! it has no co and no fr to another thread. But a model may give it a meaning by its kind alone, as
//! x86-TSO does: a locked instruction drains the store buffer, whatever it writes to.
//!
//! The model is asked, of the critical cycles of two threads and two locations: the access, of a third
//! location, stands between the two accesses of one thread, and a seq_cst fence between those of the
//! other. A kind of access orders if it makes one of these executions inconsistent. Under a model that
//! orders by dependencies it also does if another one after it is needed (on AArch64, an acquire load
//! after a store that releases), or that it reads what depends on the access before, or that the one after
//! depends on what it reads (on RISC-V, a read-modify-write that releases). An object with such an access is
//! then shared, so that each access of it is an event.

use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::drawing::{label, read, write};
use crate::consistency::tag::{self, Tags};
use crate::graph::execution_graph::{Graph, NONE};
use crate::source::{Action, Initial};
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

const RELAXED: (Kind, Order) = (Kind::Read, Order::Rlx);

/// What depends on what, of the accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depends {
    Nothing,
    /// The first of those between reads a write that depends on what comes first.
    OnFirst,
    /// What comes last depends on what the last of those between reads.
    Last,
}

/// How an access of one thread is followed by one of the other in a critical cycle: by rf, co or fr.
const EDGES: [(Tags, Tags); 3] = [
    (tag::WRITE, tag::READ),
    (tag::WRITE, tag::WRITE),
    (tag::READ, tag::WRITE),
];

/// How it leads from one thread to the other and back, and what depends on what in between.
type Cycle = ((Tags, Tags), (Tags, Tags), Depends);

impl OrderingAccesses {
    /// All atomic ones: for a model in which fences of several sorts order with them.
    pub const ALL: OrderingAccesses = OrderingAccesses(u32::MAX);

    fn bit(kind: Kind, order: Order) -> u32 {
        let order = match order {
            Order::Rlx => 0,
            Order::Acq => 1,
            Order::Rel => 2,
            Order::AcqRel => 3,
            Order::Sc => 4,
            // none is asked about
            Order::Na | Order::Light | Order::Heavy | Order::Kernel(_) => 5,
        };
        1 << (8 * kind as u32 + order)
    }

    pub fn contains(self, kind: Kind, order: Order) -> bool {
        order != Order::Na && self.0 & Self::bit(kind, order) != 0
    }

    /// Asks the model. `dependencies`: it orders by dependencies, so that two accesses may order what
    /// neither does, or one that reads what depends on an earlier read.
    pub fn new(
        checker: &mut ConsistencyChecker,
        dependencies: bool,
    ) -> Result<OrderingAccesses, CatError> {
        let mut found = OrderingAccesses::default();
        let mut graph = Graph::default();
        let all = [KINDS, KINDS].concat();
        let mut allows = |(there, back, depends): Cycle, between: &[(Kind, Order)]| {
            draw(&mut graph, there, back, (between, depends));
            checker.is_consistent(&graph)
        };
        let mut useful = Vec::new();
        for there in EDGES {
            for back in EDGES {
                for (depends, alone, may) in [
                    (Depends::Nothing, &[][..], true),
                    (
                        Depends::OnFirst,
                        &[RELAXED],
                        dependencies && back.1 == tag::READ,
                    ),
                    (Depends::Last, &[RELAXED], dependencies),
                ] {
                    let cycle = (there, back, depends);
                    if may && allows(cycle, alone)? && !allows(cycle, &all)? {
                        useful.push(cycle);
                    }
                }
            }
        }
        let fits = |depends, kind| depends == Depends::Nothing || kind != Kind::Write;
        for cycle in &useful {
            for one in KINDS.into_iter().filter(|one| fits(cycle.2, one.0)) {
                if !allows(*cycle, &[one])? {
                    found.0 |= Self::bit(one.0, one.1);
                }
            }
        }
        useful.retain(|(_, _, depends)| dependencies && *depends != Depends::OnFirst);
        for cycle in useful {
            for one in KINDS {
                for other in KINDS.into_iter().filter(|other| fits(cycle.2, other.0)) {
                    let known = found.contains(one.0, one.1) || found.contains(other.0, other.1);
                    if !known && !allows(cycle, &[one, other])? {
                        found.0 |= Self::bit(one.0, one.1) | Self::bit(other.0, other.1);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Draws a cycle: `there` leads from the first thread to the second, `back` to the first.
fn draw(
    graph: &mut Graph,
    there: (Tags, Tags),
    back: (Tags, Tags),
    (between, depends): (&[(Kind, Order)], Depends),
) {
    const X: usize = 0;
    const Y: usize = 1;
    const OWN: usize = 2;
    graph.reset();
    let relaxed = |address: usize, kind: Tags| match kind {
        tag::READ => read(address, Order::Rlx, false),
        _ => write(address, Order::Rlx, false),
    };
    for thread in [1, 2] {
        graph.push(0, &label(Action::Create { thread }), NONE);
    }
    // each reads, or follows, the last write so far
    let mut add = |thread: usize, action: Action| {
        let at = action.at();
        let location = at.map_or(NONE, |at| graph.locate(at, Initial::Value(0)));
        let id = graph.push(thread, &label(action), location);
        match action {
            Action::Read { .. } => {
                let last = graph.last_write(location);
                graph.set_source(id, last, graph.value_of(location, last));
            }
            Action::Write { .. } => graph.order_after(id, graph.last_write(location)),
            _ => {}
        }
        id
    };
    let first = add(1, relaxed(X, back.1));
    let forwarded = (depends == Depends::OnFirst).then(|| add(1, relaxed(OWN, tag::WRITE)));
    let mut last_read = None;
    for (kind, order) in between {
        if *kind != Kind::Write {
            last_read = Some(add(1, read(OWN, *order, *kind == Kind::Update)));
        }
        if *kind != Kind::Read {
            add(1, write(OWN, *order, *kind == Kind::Update));
        }
    }
    let end = add(1, relaxed(Y, there.0));
    add(2, relaxed(Y, there.1));
    add(2, Action::fence(Order::Sc));
    let last = add(2, relaxed(X, back.0));
    graph
        .dependencies
        .data
        .extend(forwarded.map(|write| (first, write)));
    let depended = last_read.filter(|_| depends == Depends::Last);
    for pairs in [
        &mut graph.dependencies.addr,
        &mut graph.dependencies.data,
        &mut graph.dependencies.ctrl,
    ] {
        pairs.extend(depended.map(|read| (read, end)));
    }
    // what comes first in the cycle's edge from the second thread to the first was added last
    match back {
        (tag::WRITE, tag::READ) => graph.set_source(first, last, 1),
        (tag::WRITE, _) => {
            graph.unorder(last, first);
            graph.order_after(last, NONE);
        }
        _ => graph.set_source(last, NONE, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consistency::uses::Uses;
    use crate::exploration::Acyclic;
    use cat::Model;
    use std::path::Path;

    /// A model of the package.
    fn model(name: &str) -> Model {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let model = Model::load(&models.join(format!("{name}.cat")), &[models]);
        model.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The accesses that order others in a model, by their kinds.
    fn ordering(model: &Model, acyclic: Acyclic) -> Vec<(Kind, Order)> {
        let mut checker = ConsistencyChecker::new(model, Some(acyclic), Uses::NONE)
            .unwrap_or_else(|error| panic!("{error}"));
        let found = OrderingAccesses::new(&mut checker, acyclic == Acyclic::Dependencies)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut kinds = KINDS.to_vec();
        kinds.retain(|(kind, order)| found.contains(*kind, *order));
        kinds
    }

    #[test]
    fn accesses_of_one_thread_order_where_the_model_orders_by_their_kind() {
        use Kind::{Read, Update, Write};
        use Order::{Acq, AcqRel, Rel, Rlx, Sc};
        let locked = [Rlx, Acq, Rel, AcqRel, Sc].map(|order| (Update, order));
        let on_x86 = [&[(Write, Sc)][..], &locked].concat();
        let acquires = [(Update, Acq), (Update, AcqRel), (Update, Sc)];
        let on_arm = [&[(Read, Acq), (Read, Sc)][..], &acquires].concat();
        let on_riscv = [&[(Read, Acq), (Read, Sc), (Write, Rel)][..], &locked].concat();
        let barriers = [(Read, Acq), (Read, Sc), (Write, Rel), (Write, Sc)];
        let on_power = [&barriers[..], &locked[1..]].concat();
        for (name, acyclic, expected) in [
            ("sc", Acyclic::ProgramOrder, vec![]),
            ("tso", Acyclic::ProgramOrder, on_x86),
            ("rc11", Acyclic::ProgramOrder, vec![]),
            ("rc20", Acyclic::ProgramOrder, vec![]),
            ("imm", Acyclic::Dependencies, vec![]),
            ("aarch64-programs", Acyclic::Dependencies, on_arm),
            ("power-programs", Acyclic::Dependencies, on_power),
            ("riscv-programs", Acyclic::Dependencies, on_riscv),
        ] {
            assert_eq!(ordering(&model(name), acyclic), expected, "{name}");
        }
    }

    /// What orders is an access that reads what depends on an earlier read, or two accesses.
    #[test]
    fn accesses_order_where_the_model_orders_by_more_than_one() {
        let released = [Order::Acq, Order::Rel].map(|order| (Kind::Update, order));
        let acquires = [(Kind::Read, Order::Acq), (Kind::Update, Order::Acq)];
        let two = [&[acquires[0], (Kind::Write, Order::Rel)][..], &released].concat();
        for (axiom, expected) in [
            ("data; (rf & int); [R & ACQ]; po", acquires.to_vec()),
            ("po; [W & REL]; po; [R & ACQ]; po | data; 0", two),
        ] {
            let text = format!(
                "with co from linearisations(W, 0)\nlet fr = rf^-1; co\n\
                 let fence = po; [F & SC]; po\n\
                 acyclic (rf | co | fr) & ext | {axiom} | fence as order"
            );
            let model = Model::parse(&text, "test.cat", &|_| None);
            let model = model.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(ordering(&model, Acyclic::Dependencies), expected, "{axiom}");
        }
    }
}
