//! A path with its dependencies, and where its events go in a candidate.

use std::cell::OnceCell;

use super::dependencies::{dependencies, Dependencies, Order};
use super::event::{Act, Id, Operand, Path};

pub struct Prepared {
    pub path: Path,
    pub order: Order,
    deps: OnceCell<Dependencies>,
    /// The events a model sees, in order: all but registers'.
    pub visible: Vec<Id>,
    /// The atomic load-store pairs.
    pub rmw: Vec<(Id, Id)>,
    /// The pairs are the same in every candidate: all addresses of atomic events are known.
    pub rmw_fixed: bool,
    pub allowed: PairAllowed,
}

/// Whether a pair of atomic events of different instructions is one: some architectures ask for
/// the same instruction.
pub type PairAllowed = fn(same_instance: bool) -> bool;

impl Prepared {
    /// `registers`: the model sees their events too.
    pub fn new(path: Path, allowed: PairAllowed, registers: bool) -> Prepared {
        let order = Order::new(&path);
        let rmw = pairs(&path, &order, allowed, |o| o);
        let visible = (0..path.events.len())
            .filter(|id| registers || !path.events[*id].act.is_register())
            .collect();
        let rmw_fixed = path
            .events
            .iter()
            .filter(|e| e.atomic)
            .all(|e| matches!(e.act.address(), Some(Operand::Known(_))));
        Prepared {
            path,
            order,
            deps: OnceCell::new(),
            visible,
            rmw,
            rmw_fixed,
            allowed,
        }
    }

    /// Computed for a model that asks: those of C and x86 do not.
    pub fn deps(&self) -> &Dependencies {
        let compute = || dependencies(&self.path, &self.order, &self.rmw);
        self.deps.get_or_init(compute)
    }
}

/// herd7's atomic pairs: an atomic load and the first atomic store to the same location after
/// it, with no other atomic load of the location in between.
pub fn pairs(
    path: &Path,
    order: &Order,
    allowed: PairAllowed,
    resolve: impl Fn(Operand) -> Operand,
) -> Vec<(Id, Id)> {
    let atomic = |load: bool| -> Vec<(Id, Operand)> {
        (0..path.events.len())
            .filter(|id| path.events[*id].atomic)
            .filter(|id| match path.events[*id].act {
                Act::Read { .. } => load,
                Act::Write { .. } => !load,
                _ => false,
            })
            .filter_map(|id| Some((id, resolve(path.events[id].act.address()?))))
            .collect()
    };
    let loads = atomic(true);
    let stores = atomic(false);
    let before = |a: Id, b: Id| order.before.contains(a, b);
    let mut out = Vec::new();
    for (r, at) in &loads {
        let mut first: Option<Id> = None;
        for (w, place) in &stores {
            if place == at && before(*r, *w) && first.map_or(true, |f| before(*w, f)) {
                first = Some(*w);
            }
        }
        let Some(w) = first else { continue };
        let same = path.events[*r].instance == path.events[w].instance;
        let between = loads
            .iter()
            .any(|(e, place)| place == at && before(*r, *e) && before(*e, w));
        if allowed(same) && !between {
            out.push((*r, w));
        }
    }
    out
}
