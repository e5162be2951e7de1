//! Address, data and control dependencies of a path, as herd7 computes them for models that do not
//! compute them in cat: relations over the events of the path, register events included.

use super::path::{Action, Path, PathEvent, PathEventId};
use relation::{Relation, Set};

/// The orders of the events of a path.
pub struct Order {
    /// The transitive closure of the causality inside instructions.
    pub iico: Relation,
    /// Program order and the causality inside instructions.
    pub before: Relation,
    /// Program order as models see it, where that is not `before`.
    program_order: Option<Relation>,
}

impl Order {
    pub fn new(path: &Path) -> Order {
        let n = path.events.len();
        let causes = [&path.iico_data, &path.iico_ctrl, &path.iico_order];
        let mut iico = Relation::of(n, causes.into_iter().flatten().copied());
        iico.close();
        let po = program_order(path);
        let before = po.union(&iico);
        Order {
            program_order: (!path.structured).then_some(po),
            iico,
            before,
        }
    }

    /// Program order as models see it.
    pub fn po(&self) -> &Relation {
        self.program_order.as_ref().unwrap_or(&self.before)
    }
}

/// From each event to those of later instructions; the events of a path are in their order.
fn program_order(path: &Path) -> Relation {
    let n = path.events.len();
    let mut po = Relation::new(n);
    let (mut later, mut same) = (Set::new(n), Set::new(n));
    let mut instance = None;
    for (id, event) in path.events.iter().enumerate().rev() {
        if instance.replace(event.instance) != Some(event.instance) {
            later.union_with(&same);
        }
        same.insert(id);
        po.insert_all(id, &later);
    }
    po
}

pub struct Dependencies {
    pub addr: Relation,
    pub data: Relation,
    pub ctrl: Relation,
    /// Those in `data` only by values that are chosen.
    pub chosen: Relation,
    /// Dependencies from memory events to register events.
    pub depend: Relation,
}

/// `pairs` are the rmw pairs of the path. A chosen address orders what a branch does: later stores
/// wait for what it depends on.
pub fn dependencies(
    path: &Path,
    order: &Order,
    pairs: &[(PathEventId, PathEventId)],
) -> Dependencies {
    let mut all = through(path, order, pairs, &path.rf_reg);
    if !path.chosen.is_empty() {
        let computed = path
            .rf_reg
            .iter()
            .filter(|pair| !path.chosen.contains(pair));
        let computed = through(path, order, pairs, &computed.copied().collect::<Vec<_>>());
        let addr = all.addr.difference(&computed.addr);
        all.ctrl.union_with(&addr.sequence(order.po()));
        all.ctrl.union_with(&addr);
        all.chosen = all.data.difference(&computed.data);
        all.addr = computed.addr;
    }
    all
}

/// The dependencies by these registers.
fn through(
    path: &Path,
    order: &Order,
    pairs: &[(PathEventId, PathEventId)],
    rf_reg: &[(PathEventId, PathEventId)],
) -> Dependencies {
    let n = path.events.len();
    if pairs.is_empty() && has_no_dependencies(path) {
        return Dependencies {
            addr: Relation::new(n),
            data: Relation::new(n),
            ctrl: Relation::new(n),
            chosen: Relation::new(n),
            depend: Relation::new(n),
        };
    }
    let set = |selects: &dyn Fn(&PathEvent) -> bool| {
        Set::of(n, (0..n).filter(|id| selects(&path.events[*id])))
    };
    let actions = |selects: fn(&Action) -> bool| set(&|event| selects(&event.action));
    let (loads, stores) = (actions(Action::is_load_or_test), actions(Action::is_store));
    let internal = actions(Action::is_internal);
    let relevant = internal.complement();
    let ports = set(&|event| event.data_port);
    let iico_data = Relation::of(n, path.iico_data.iter().copied());
    let iico_ctrl = Relation::of(n, path.iico_ctrl.iter().copied());
    let mut inside = within(&iico_data, &internal, &internal);
    rf_reg.iter().for_each(|(a, b)| inside.insert(*a, *b));
    inside.close();
    let mut given = iico_ctrl.restrict_domain(&stores);
    let from_loads = iico_data.restrict_domain(&loads);
    given.union_with(&from_loads);
    let depend = given.sequence(&inside);
    let mut start = depend.clone();
    start.union_with(&Relation::identity(&loads));
    let mut last_data = iico_data.restrict_range(&actions(Action::is_commit));
    last_data.union_with(&within(&iico_data, &ports, &stores));
    let has_address = |action: &Action| action.is_load() || action.is_lock();
    let mut last_address = iico_data.restrict_range(&set(&|event| has_address(&event.action)));
    last_address.union_with(&within(&iico_data, &ports.complement(), &stores));
    let mut data = start.sequence(&last_data);
    let inside_one = pairs.iter().filter(|(r, w)| iico_data.contains(*r, *w));
    inside_one.for_each(|(r, w)| data.insert(*r, *w));
    let addr = start.sequence(&last_address);
    let branches = actions(|action| matches!(action, Action::Branch));
    let decisions = actions(|action| matches!(action, Action::Decision));
    let structured = Relation::of(n, path.control.iter().copied());
    // herd7 starts with loads here, and not with tests of locks
    let tests = actions(|action| matches!(action, Action::LockTest { .. }));
    let from_reads = structured.restrict_domain(&tests.complement());
    let mut control = structured.restrict_range(&relevant);
    control.union_with(&within(&order.before, &branches, &relevant));
    control.union_with(&within(&order.iico, &decisions, &relevant));
    let mut known = depend.union(&addr);
    known.union_with(&data);
    let mut ctrl = known.sequence(&control);
    ctrl.union_with(&from_reads);
    if !path.control.is_empty() {
        // what a branch assigns depends on its condition
        let mut steps = inside.union(&from_reads);
        steps.close();
        ctrl.union_with(&from_loads.sequence(&steps).sequence(&from_reads));
    }
    Dependencies {
        ctrl: within(&ctrl, &loads.union(&stores), &relevant),
        data: data.restrict_range(&actions(Action::is_memory)),
        chosen: Relation::new(n),
        addr,
        depend,
    }
}

/// Whether values that are read only go to registers that are not read again and nothing depends
/// on them: then there are no dependencies, as in most C tests.
fn has_no_dependencies(path: &Path) -> bool {
    let action = |id: &PathEventId| &path.events[*id].action;
    path.rf_reg.is_empty()
        && path.iico_ctrl.is_empty()
        && path.control.is_empty()
        && !path.events.iter().any(|event| event.action.is_commit())
        && path.iico_data.iter().all(|(from, to)| match action(from) {
            Action::RegisterWrite => false,
            from => !from.is_load_or_test() || matches!(action(to), Action::RegisterWrite),
        })
}

/// The pairs from an event of one set to one of the other.
fn within(relation: &Relation, from: &Set, to: &Set) -> Relation {
    relation.restrict(Some(from), Some(to))
}
