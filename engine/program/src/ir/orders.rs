//! Reads and replaces the memory orders of a program's operations.
//!
//! An order is written `rlx acq rel acq_rel sc`; the orders of a compare-exchange are those of
//! success and failure, `acq_rel/rlx` (C11, 7.17.7.4); the order of a fence that is removed is
//! `none`. Fences of the Linux kernel's memory model have the names of their annotations there: `rmb`,
//! `wmb`, `before-atomic`, …. Asymmetric fences are not among them: there is no other order that they
//! could have. C11 restricts the orders of stores in 7.17.7.1 and those of loads in 7.17.7.2.
use crate::error::{Error, Result};
use crate::ir::annotation::Annotation;
use crate::ir::instruction::{Inst, Op, Order, SiteId};
use crate::ir::program::Program;
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

const NONE: &str = "none";
const OF_A_FENCE: &str =
    "of a fence: acq, rel, acq_rel, sc, or the name of one of the Linux kernel's";
const READS: [Order; 3] = [Order::Rlx, Order::Acq, Order::Sc];
const WRITES: [Order; 3] = [Order::Rlx, Order::Rel, Order::Sc];
const ALL: [Order; 5] = [Order::Rlx, Order::Acq, Order::Rel, Order::AcqRel, Order::Sc];

/// The fence of this name, in this notation.
fn fence(text: &str) -> Option<Order> {
    let of_kernel = Annotation::FENCES.iter().map(|each| Order::Kernel(*each));
    let mut known = ALL[1..].iter().copied().chain(of_kernel);
    known.find(|order| order.name() == text)
}

fn parse(text: &str, allowed: &[Order]) -> Option<Order> {
    allowed.iter().copied().find(|order| order.name() == text)
}

/// The site of an operation that has a memory order.
fn site(op: &Op) -> Option<SiteId> {
    match op {
        Op::Load { access, .. }
        | Op::Store { access, .. }
        | Op::Rmw { access, .. }
        | Op::Cas { access, .. } => (access.order != Order::Na).then_some(access.site),
        Op::Fence {
            signal: false,
            site,
            ..
        } => Some(*site),
        _ => None,
    }
}

/// The order of an operation, in this notation.
fn written(op: &Op) -> String {
    match op {
        Op::Cas {
            access, failure, ..
        } => format!("{}/{}", access.order.name(), failure.name()),
        Op::Fence {
            order: Order::Na, ..
        } => NONE.to_string(),
        Op::Fence { order, .. } => order.name().to_string(),
        Op::Load { access, .. } | Op::Store { access, .. } | Op::Rmw { access, .. } => {
            access.order.name().to_string()
        }
        _ => String::new(),
    }
}

/// Sets the order of an operation, or returns the allowed ones.
fn set(op: &mut Op, text: &str) -> std::result::Result<Order, &'static str> {
    match op {
        Op::Load { access, .. } => {
            access.order = parse(text, &READS).ok_or("of a load: rlx, acq or sc")?;
            Ok(access.order)
        }
        Op::Store { access, .. } => {
            access.order = parse(text, &WRITES).ok_or("of a store: rlx, rel or sc")?;
            Ok(access.order)
        }
        Op::Rmw { access, .. } => {
            access.order =
                parse(text, &ALL).ok_or("of a read-modify-write: rlx, acq, rel, acq_rel or sc")?;
            Ok(access.order)
        }
        Op::Cas {
            access, failure, ..
        } => {
            let pair = text.split_once('/');
            let pair =
                pair.and_then(|(one, other)| Some((parse(one, &ALL)?, parse(other, &READS)?)));
            let (success, other) = pair.ok_or(
                "of a compare-exchange: success/failure, as acq_rel/acq; on failure rlx, acq or sc",
            )?;
            (access.order, *failure) = (success, other);
            Ok(success)
        }
        Op::Fence { order, .. } => {
            *order = match text {
                NONE => Order::Na,
                text => fence(text).ok_or(OF_A_FENCE)?,
            };
            Ok(*order)
        }
        _ => Err("of this operation: none"),
    }
}

/// A fence to put before or after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewFence<'a> {
    pub at: SiteId,
    pub after: bool,
    pub order: &'a str,
}

impl Program {
    /// A hash of the code, variables and sites of the program.
    pub fn fingerprint(&self) -> u64 {
        let exits = (&self.thread_exits, &self.process_exits);
        let code = (&self.functions, &self.constructors, self.main, exits);
        let memory = (&self.globals, &self.locals, &self.parameters);
        let mut hasher = DefaultHasher::new();
        format!("{code:?}{memory:?}{:?}", self.sites).hash(&mut hasher);
        hasher.finish()
    }

    /// The order of each site, in the notation of `with_orders`; empty for a site without one.
    pub fn orders(&self) -> Vec<String> {
        let mut orders = vec![String::new(); self.sites.len()];
        for inst in self.functions.iter().flat_map(|f| &f.code) {
            if let Some(site) = site(&inst.op).filter(|s| !self.sites[*s as usize].fixed) {
                orders[site as usize] = written(&inst.op);
            }
        }
        orders
    }

    /// This program with other orders at some sites. Other sites, and all site numbers, stay the
    /// same.
    pub fn with_orders(&self, orders: &FxHashMap<SiteId, &str>) -> Result<Program> {
        let mut program = self.clone();
        let mut left = orders.clone();
        for inst in program.functions.iter_mut().flat_map(|f| &mut f.code) {
            let Some(site) = site(&inst.op) else { continue };
            let Some(text) = left.remove(&site) else {
                continue;
            };
            let known = &mut program.sites[site as usize];
            known.order = set(&mut inst.op, text).map_err(|allowed| {
                Error::invalid(format!("memory order {text:?} is not one {allowed}"))
                    .at(|| known.place())
            })?;
        }
        match left.keys().min() {
            None => Ok(program),
            Some(site) => {
                let place = program.sites.get(*site as usize).map(|s| s.place());
                let message = format!("site {site} has no memory order");
                Err(Error::invalid(message).at(|| place.unwrap_or_default()))
            }
        }
    }

    /// This program with additional fences. Each gets a new site after all others, at the position
    /// of the operation it is placed beside.
    pub fn with_fences(&self, fences: &[NewFence]) -> Result<Program> {
        let mut program = self.clone();
        let mut asked: FxHashMap<(SiteId, bool), Order> = FxHashMap::default();
        for new in fences {
            let order = fence(new.order).ok_or_else(|| {
                let message = format!("memory order {:?} is not one {OF_A_FENCE}", new.order);
                Error::invalid(message)
            })?;
            asked.insert((new.at, new.after), order);
        }
        for function in &mut program.functions {
            let code = std::mem::take(&mut function.code);
            // the new index of each instruction, or of the fence before it
            let mut moved: Vec<u32> = Vec::with_capacity(code.len());
            for inst in code {
                moved.push(function.code.len() as u32);
                let (at, dbg, call) = (site(&inst.op), inst.dbg, inst.call);
                let mut fence = |after: bool, code: &mut Vec<Inst>| {
                    let Some(order) = at.and_then(|at| asked.remove(&(at, after))) else {
                        return;
                    };
                    let mut made = program.sites[at.unwrap_or_default() as usize].clone();
                    (made.kind, made.order) = ("F", order);
                    let site = program.sites.len() as SiteId;
                    program.sites.push(made);
                    let op = Op::Fence {
                        order,
                        signal: false,
                        site,
                    };
                    code.push(Inst {
                        op,
                        dbg,
                        call,
                        unwind: None,
                    });
                };
                fence(false, &mut function.code);
                function.code.push(inst);
                fence(true, &mut function.code);
            }
            for inst in &mut function.code {
                for edge in inst.edges_mut() {
                    edge.pc = moved[edge.pc as usize];
                }
            }
        }
        match asked.keys().min() {
            None => Ok(program),
            Some((site, _)) => Err(Error::invalid(format!(
                "a fence cannot be placed beside site {site}"
            ))),
        }
    }
}
