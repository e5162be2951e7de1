//! The instructions that meet the world, an event or some at a time.
use crate::source::Action;
use crate::threads::environment::{How, Stop, World};
use program::interpreter::thread::Thread;
use program::interpreter::{self, Cas, ExternCall, Flow};
use program::ir::arithmetic::{mask, rmw};
use program::ir::{Access, Order, RmwOp, SiteId};
use program::library::call;
use program::memory::{Dep, Val};
use program::memory::{Named, NewLocal, Sharing};
use std::sync::Arc;

impl interpreter::World for World<'_> {
    type Stop = Stop;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        a | b
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Result<Val, Stop> {
        self.own.uses = address.dep;
        let how = How {
            order: access.order,
            exclusive: false,
            lax: false,
        };
        let mut value = self.read(t, self.spot(address, access), how)?;
        value.dep |= address.dep;
        Ok(value)
    }

    fn store(
        &mut self,
        t: &mut Thread,
        address: Val,
        value: Val,
        access: &Access,
    ) -> Result<(), Stop> {
        self.own.uses = address.dep | value.dep;
        self.write(t, self.spot(address, access), access.order, false, value)
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Result<Val, Stop> {
        self.own.uses = address.dep | operand.dep;
        let spot = self.spot(address, access);
        let how = How {
            order: access.order,
            exclusive: true,
            lax: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        let new = rmw(op, access.bits, old.bits, operand.bits);
        let value = Val {
            bits: new,
            dep: old.dep | operand.dep,
        };
        self.own.unchanged = new == old.bits;
        self.write(t, spot, access.order, true, value)?;
        self.own.unchanged = false;
        old.dep |= address.dep;
        Ok(old)
    }

    fn cas(&mut self, t: &mut Thread, cas: &Cas, access: &Access) -> Result<(Val, bool), Stop> {
        self.own.uses = cas.address.dep | cas.expected.dep | cas.desired.dep;
        let spot = self.spot(cas.address, access);
        let how = How {
            order: cas.failure,
            exclusive: true,
            lax: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        old.dep |= cas.address.dep;
        if old.bits != cas.expected.bits {
            return Ok((old, false));
        }
        let shared = self.find(t, spot, access.size.into(), true)?.is_none();
        let may_fail = cas.weak && shared && !self.own.spurious.contains(&access.site);
        if may_fail && self.choose(2, access.site)? == 1 {
            self.own.spurious.push(access.site);
            self.own.failed = Some((t.epoch, t.reads.len().saturating_sub(1)));
            return Ok((old, false));
        }
        self.own.unchanged = cas.desired.bits == old.bits;
        self.write(t, spot, access.order, true, cas.desired)?;
        self.own.unchanged = false;
        Ok((old, true))
    }

    fn fence(
        &mut self,
        _: &mut Thread,
        order: Order,
        signal: bool,
        site: SiteId,
    ) -> Result<(), Stop> {
        self.own.uses = 0;
        if !signal && !self.own.alone {
            self.ask(Action::Fence { order }, site)?;
        }
        Ok(())
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Stop> {
        self.own.uses = call.args.iter().fold(0, |dep, arg| dep | arg.dep);
        call::call(self, t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), Stop> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Result<u64, Stop> {
        let base = self.own.memory.next_local(t.id, local.align);
        let shared = !local.private && self.sharing.is_shared(base, base + local.size);
        if shared && !self.own.alone {
            let action = Action::Allocate {
                base,
                size: local.size,
                zeroed: false,
            };
            self.ask(action, local.site)?;
        }
        let memory = Arc::make_mut(&mut self.own.memory);
        memory.push_local(t.id, local);
        if shared {
            memory.share(base, Sharing::Shared);
        }
        if !local.private {
            let named = Named::Local(local.local);
            self.sharing.met(base, local.size, named);
        }
        Ok(base)
    }

    fn locals(&self, t: &Thread) -> usize {
        self.own.memory.locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize) -> Result<(), Stop> {
        if self.own.memory.locals(t.id) <= mark {
            return Ok(());
        }
        // main's own locals end with the process
        let whole_process = t.id == 0 && t.frames.len() == 1;
        if !whole_process && !self.own.alone {
            let locals = self.own.memory.locals_from(t.id, mark);
            let shared = locals.filter(|o| o.sharing == Sharing::Shared);
            let ends: Vec<_> = shared.map(|o| (o.base, o.site)).collect();
            for (base, site) in ends {
                self.ask(Action::Free { base }, site)?;
            }
        }
        Arc::make_mut(&mut self.own.memory).pop_locals(t.id, mark, |_, _| {});
        self.settle(t);
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.own.memory.thread_local(t.id, global)
    }
}
