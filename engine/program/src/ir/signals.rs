//! What a program may lack, to see whether anything notices: operations on which threads wait, and
//! asymmetric fences.
use crate::ir::instruction::{Extern, Op, Operand, Order, SiteId};
use crate::ir::program::Program;

/// An operation that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    pub site: SiteId,
    /// In words.
    pub what: &'static str,
    /// It wakes all threads that wait, or more than one.
    pub wakes_several: bool,
}

impl Program {
    fn signal(&self, op: &Op) -> Option<Signal> {
        let signal = |site: SiteId, what, wakes_several| Signal {
            site,
            what,
            wakes_several,
        };
        let (site, wakes_several) = match op {
            Op::Extern {
                function: Extern::CondSignal,
                site,
                ..
            } => (*site, false),
            Op::Extern {
                function: Extern::CondBroadcast,
                site,
                ..
            } => (*site, true),
            Op::Extern {
                function: Extern::Wake,
                site,
                args,
                ..
            } => (*site, args.get(1).is_some_and(wakes_several)),
            Op::Extern {
                function: Extern::Requeue,
                site,
                ..
            } => (*site, false),
            Op::Rmw { access, .. } if self.sites[access.site as usize].posts => {
                return Some(signal(access.site, "post", false))
            }
            Op::Fence {
                order: Order::Light | Order::Heavy,
                site,
                ..
            } => return Some(signal(*site, "fence", false)),
            _ => return None,
        };
        let is_own = self.sites[site as usize].notifies;
        is_own.then(|| signal(site, "notification", wakes_several))
    }

    /// All operations that may be left out.
    pub fn signals(&self) -> Vec<Signal> {
        let code = self.functions.iter().flat_map(|function| &function.code);
        let mut signals: Vec<Signal> = code.filter_map(|inst| self.signal(&inst.op)).collect();
        signals.sort_unstable();
        signals.dedup();
        signals
    }

    /// This program without the signals at these sites, or with ones that wake one thread at most.
    pub fn with_fewer_signals(&self, sites: &[SiteId], to_one: bool) -> Program {
        let mut program = self.clone();
        for inst in program.functions.iter_mut().flat_map(|f| &mut f.code) {
            let Some(signal) = self.signal(&inst.op).filter(|s| sites.contains(&s.site)) else {
                continue;
            };
            if to_one && !signal.wakes_several {
                continue;
            }
            match (&mut inst.op, to_one) {
                (Op::Extern { function, args, .. }, true) => match function {
                    Extern::CondBroadcast => *function = Extern::CondSignal,
                    _ => args[1] = Operand::Const(1),
                },
                (_, true) => {}
                (Op::Extern { function, .. }, false) => *function = Extern::Ignored(0),
                (Op::Fence { order, .. }, false) => *order = Order::Na,
                (Op::Rmw { dst, access, .. }, false) => {
                    inst.op = Op::Copy {
                        bits: access.bits,
                        dst: *dst,
                        a: Operand::Const(0),
                    }
                }
                _ => {}
            }
        }
        program
    }
}

fn wakes_several(count: &Operand) -> bool {
    !matches!(count, Operand::Const(0 | 1))
}
