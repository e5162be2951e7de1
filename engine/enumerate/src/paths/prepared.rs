//! A path with its orders, dependencies and rmw pairs, as candidates use it.

use std::cell::OnceCell;

use super::dependencies::{dependencies, Dependencies, Order};
use super::path::{Action, Path, PathEventId};
use crate::term::Term;

pub struct PreparedPath {
    pub path: Path,
    pub order: Order,
    deps: OnceCell<Dependencies>,
    /// The events that the model uses, in order: register events only if it computes dependencies.
    pub visible: Vec<PathEventId>,
    /// The rmw pairs, as far as addresses are known.
    pub rmw: Vec<(PathEventId, PathEventId)>,
    /// The pairs are the same in every candidate: all addresses of atomic events are known.
    pub rmw_fixed: bool,
    /// Only events of one instruction form an rmw pair: there is no LL/SC.
    pub rmw_in_one_instruction: bool,
}

impl PreparedPath {
    /// `register_events`: the model uses them.
    pub fn new(path: Path, rmw_in_one_instruction: bool, register_events: bool) -> PreparedPath {
        let order = Order::new(&path);
        let rmw = rmw_pairs(&path, &order, rmw_in_one_instruction, |o| o);
        let visible = (0..path.events.len())
            .filter(|id| register_events || !path.events[*id].action.is_register())
            .collect();
        let rmw_fixed = path
            .events
            .iter()
            .filter(|e| e.atomic)
            .all(|e| matches!(e.action.address(), Some(Term::Known(_))));
        PreparedPath {
            path,
            order,
            deps: OnceCell::new(),
            visible,
            rmw,
            rmw_fixed,
            rmw_in_one_instruction,
        }
    }

    /// Computed when a model uses them; those of C and x86 do not.
    pub fn deps(&self) -> &Dependencies {
        let compute = || dependencies(&self.path, &self.order, &self.rmw);
        self.deps.get_or_init(compute)
    }
}

/// herd7's rmw pairs: an atomic load and the first atomic store to the same location after it, with
/// no other atomic load of the location in between.
pub fn rmw_pairs(
    path: &Path,
    order: &Order,
    rmw_in_one_instruction: bool,
    resolve: impl Fn(Term) -> Term,
) -> Vec<(PathEventId, PathEventId)> {
    let atomic = |load: bool| -> Vec<(PathEventId, Term)> {
        (0..path.events.len())
            .filter(|id| path.events[*id].atomic)
            .filter(|id| match path.events[*id].action {
                Action::Read { .. } => load,
                Action::Write { .. } => !load,
                _ => false,
            })
            .filter_map(|id| Some((id, resolve(path.events[id].action.address()?))))
            .collect()
    };
    let loads = atomic(true);
    let stores = atomic(false);
    let before = |a: PathEventId, b: PathEventId| order.before.contains(a, b);
    let mut out = Vec::new();
    for (r, at) in &loads {
        let mut first: Option<PathEventId> = None;
        for (w, address) in &stores {
            if address == at && before(*r, *w) && first.is_none_or(|f| before(*w, f)) {
                first = Some(*w);
            }
        }
        let Some(w) = first else { continue };
        let same = path.events[*r].instance == path.events[w].instance;
        let between = loads
            .iter()
            .any(|(e, address)| address == at && before(*r, *e) && before(*e, w));
        if (same || !rmw_in_one_instruction) && !between {
            out.push((*r, w));
        }
    }
    out
}
