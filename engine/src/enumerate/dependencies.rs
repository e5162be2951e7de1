//! Address, data and control dependencies of a path, as herd7 computes them for models that
//! do not compute them in cat.

use super::bits::Bits;
use super::event::{Act, Event, Id, Path};

pub struct Dependencies {
    /// Program order as a model sees it.
    pub po: Bits,
    /// Program order and the causality inside instructions.
    pub before: Bits,
    /// Causality inside instructions, closed.
    pub iico: Bits,
    pub addr: Bits,
    pub data: Bits,
    pub ctrl: Bits,
    /// Dependencies up to a register.
    pub depend: Bits,
}

/// `pairs` are the atomic load-store pairs of the path.
pub fn dependencies(path: &Path, pairs: &[(Id, Id)]) -> Dependencies {
    let n = path.events.len();
    let act = |e: Id| &path.events[e].act;
    let relevant = |e: Id| !act(e).is_register();
    let load = |e: Id| act(e).is_load();
    let store = |e: Id| act(e).is_store();
    let any = |_: Id| true;
    let iico_data = Bits::from_pairs(n, &path.iico_data);
    let iico_ctrl = Bits::from_pairs(n, &path.iico_ctrl);
    let iico_order = Bits::from_pairs(n, &path.iico_order);
    let iico = iico_data
        .clone()
        .union(&iico_ctrl)
        .union(&iico_order)
        .closure();
    let mut po = Bits::new(n);
    for (a, x) in path.events.iter().enumerate() {
        for (b, y) in path.events.iter().enumerate() {
            if x.instance < y.instance {
                po.add(a, b);
            }
        }
    }
    let before = po.clone().union(&iico);
    if path.structured {
        po = before.clone();
    }
    let inside = Bits::from_pairs(n, &path.rf_reg)
        .union(&iico_data.restrict(|e| !relevant(e), |e| !relevant(e)))
        .closure();
    let depend = iico_ctrl
        .restrict(store, any)
        .union(&iico_data.restrict(load, any))
        .then(&inside);
    let event = |e: Id| -> &Event { &path.events[e] };
    let mut last_data = Bits::new(n);
    let mut last_address = Bits::new(n);
    for (a, b) in iico_data.pairs() {
        let port = event(a).data_port;
        if act(b).is_commit() || store(b) && port {
            last_data.add(a, b);
        }
        if load(b) || store(b) && !port || act(b).is_lock() {
            last_address.add(a, b);
        }
    }
    let loads: Vec<(Id, Id)> = (0..n).filter(|e| load(*e)).map(|e| (e, e)).collect();
    let start = depend.clone().union(&Bits::from_pairs(n, &loads));
    let mut data = start.then(&last_data);
    for (r, w) in pairs {
        if iico_data.has(*r, *w) {
            data.add(*r, *w);
        }
    }
    let addr = start.then(&last_address);
    let branches = before.restrict(|e| matches!(act(e), Act::Branch), relevant);
    let decisions = iico.restrict(|e| matches!(act(e), Act::Decision), relevant);
    let structured = Bits::from_pairs(n, &path.control).restrict(any, relevant);
    let control = branches.union(&decisions).union(&structured);
    let ctrl = depend
        .clone()
        .union(&addr)
        .union(&data)
        .then(&control)
        .union(&structured)
        .restrict(|e| load(e) || store(e), relevant);
    let data = data.restrict(any, |e| act(e).is_memory());
    Dependencies {
        po,
        before,
        iico,
        addr,
        data,
        ctrl,
        depend,
    }
}
