//! Memory instructions of explored threads: each performs one or several events.
use crate::source::Action;
use crate::threads::environment::{Interruption, ReadMode, ThreadEnvironment};
use program::interpreter::thread::Thread;
use program::interpreter::RunEnd;
use program::interpreter::{self, Cas, ExternCall, Flow};
use program::ir::arithmetic::rmw;
use program::ir::bits::mask;
use program::ir::{Access, Order, RmwOp, SiteId};
use program::library::call;
use program::memory::{Dep, Val};
use program::memory::{Named, NewLocal, Object, Visibility};
use std::sync::Arc;

/// Objects are aligned to at most a page when the lifetime of a local begins again.
const MAX_ALIGN: u32 = 12;

const ASYMMETRIC: &str = "the model gives no meaning to an asymmetric fence (sc, tso and rc20 do, \
                          by the sets LIGHT and HEAVY)";

impl ThreadEnvironment<'_> {
    /// Whether another thread may use a local whose lifetime ends. Its end is a use: it must be
    /// ordered with those of another thread, also where that is the only one that uses it.
    fn is_shared(&self, t: &Thread, local: &Object) -> Result<bool, Interruption> {
        match local.visibility {
            _ if self.local.alone || local.private => Ok(false),
            Visibility::ThisThread => Ok(false),
            Visibility::Shared => Ok(true),
            Visibility::OneThread(k) if self.sharing.owns(k, t.id) => Ok(false),
            Visibility::OneThread(_) => {
                let end = local.base + local.size;
                Err(self.sharing.learn_shared(local.base, end).into())
            }
        }
    }
}

impl interpreter::Environment for ThreadEnvironment<'_> {
    type Interruption = Interruption;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        self.sets.union(a, b)
    }

    fn require(&self, reads: Dep) -> Result<(), Interruption> {
        ThreadEnvironment::require(self, reads)
    }

    fn has_unknown(&self) -> bool {
        self.local.postponed != 0
    }

    fn by_choice(&mut self, reads: Dep) -> Dep {
        self.sets.chosen(reads)
    }

    fn compares_at_once(&self) -> bool {
        self.sets.tracked && !self.branches
    }

    fn control(&mut self, t: &mut Thread, reads: Dep) -> Result<(), Interruption> {
        ThreadEnvironment::require(self, reads)?;
        self.add_control(t, reads);
        Ok(())
    }

    fn computes_with_thread(&mut self, t: &Thread) -> Result<(), Interruption> {
        Ok(self.sharing.distinguish(t.id)?)
    }

    fn now(&self, _: &Thread) -> u32 {
        self.events() as u32
    }

    fn refuses_undefined(&self) -> bool {
        true
    }

    fn precedes(&self, dep: Dep, now: u32) -> bool {
        self.sets.precedes(dep, now)
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Result<Val, Interruption> {
        self.local.uses = address.dep;
        self.shared_address(t, address.dep)?;
        let how = ReadMode {
            order: access.order,
            rmw: false,
            uninitialised_ok: access.partial,
        };
        let mut value = self.read(t, self.spot(address, access), how)?;
        value.dep = self.read_through(value.dep, address.dep);
        Ok(value)
    }

    fn store(
        &mut self,
        t: &mut Thread,
        address: Val,
        value: Val,
        access: &Access,
    ) -> Result<(), Interruption> {
        self.local.uses = self.sets.union(address.dep, value.dep);
        self.shared_address(t, address.dep)?;
        self.write(t, self.spot(address, access), access.order, false, value)
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Result<Val, Interruption> {
        self.local.uses = self.sets.union(address.dep, operand.dep);
        self.shared_address(t, address.dep)?;
        let spot = self.spot(address, access);
        let how = ReadMode {
            order: access.order,
            rmw: true,
            uninitialised_ok: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        let new = rmw(op, access.bits, old.bits, operand.bits);
        let dep = match op {
            RmwOp::Xchg if self.sets.tracked => operand.dep,
            _ => self.sets.union(old.dep, operand.dep),
        };
        let mut value = Val::new(new, dep);
        let read_too = self.sets.union(old.dep, operand.dep);
        self.local.unchanged =
            new == old.bits && ThreadEnvironment::require(self, read_too).is_ok();
        if let RmwOp::Xchg = op {
            value.undefined = operand.undefined;
        }
        self.write(t, spot, access.order, true, value)?;
        self.local.unchanged = false;
        old.dep = self.read_through(old.dep, address.dep);
        Ok(old)
    }

    fn cas(
        &mut self,
        t: &mut Thread,
        cas: &Cas,
        access: &Access,
    ) -> Result<(Val, bool), Interruption> {
        let compared = self.sets.union(cas.address.dep, cas.expected.dep);
        self.local.uses = self.sets.union(compared, cas.desired.dep);
        self.shared_address(t, cas.address.dep)?;
        let spot = self.spot(cas.address, access);
        let how = ReadMode {
            order: cas.failure,
            rmw: true,
            uninitialised_ok: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        old.dep = self.read_through(old.dep, cas.address.dep);
        let compared = self.sets.union(old.dep, cas.expected.dep);
        let shared = self.is_event(t, spot)?;
        let mut same = old.bits == cas.expected.bits;
        let at_once = self.compares_at_once() && shared;
        if at_once {
            let is_known = ThreadEnvironment::require(self, compared).is_ok();
            let outcome = is_known.then_some(same);
            let (found, _) = self.ask(t, Action::Compare { outcome }, access.site)?;
            same = found == 1;
        } else {
            self.control(t, compared)?;
        }
        if !same {
            return Ok((old, false));
        }
        if ThreadEnvironment::require(self, old.dep).is_err() {
            old.bits = cas.expected.bits;
        }
        // clang's library compares all bytes, with those that are indeterminate
        let compares_undefined = (old.undefined | cas.expected.undefined) != 0;
        let has_failed = self.fails_once && self.local.spurious.contains(&access.site);
        let may_fail = (cas.weak || compares_undefined) && !has_failed;
        if may_fail && self.choose_one(t, 2, access.site)? == 1 {
            self.local
                .spurious
                .extend(self.fails_once.then_some(access.site));
            t.failures += 1;
            return Ok((old, false));
        }
        let read_too = self.sets.union(compared, cas.desired.dep);
        let is_known = ThreadEnvironment::require(self, read_too).is_ok();
        self.local.unchanged = cas.desired.bits == old.bits && is_known;
        let ctrl = t.ctrl;
        if at_once {
            // whether there is this write depends on what is compared; nothing after it does
            self.add_control(t, compared);
        }
        let written = self.write(t, spot, access.order, true, cas.desired);
        t.ctrl = ctrl;
        written?;
        self.local.unchanged = false;
        if at_once {
            // the instruction may return what was expected
            old.dep = self.sets.chosen(old.dep);
        }
        Ok((old, true))
    }

    fn fence(
        &mut self,
        t: &mut Thread,
        order: Order,
        signal: bool,
        site: SiteId,
    ) -> Result<(), Interruption> {
        self.local.uses = 0;
        if !signal && !self.local.alone {
            if matches!(order, Order::Light | Order::Heavy) && !self.asymmetric_fences {
                return Err(RunEnd::at_limit("model", ASYMMETRIC, Some(site)).into());
            }
            self.ask(t, Action::Fence { order }, site)?;
        }
        Ok(())
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Interruption> {
        let args = call.args.iter();
        self.local.uses = args.fold(0, |dep, arg| self.sets.union(dep, arg.dep));
        self.require_for_call(t, call)?;
        call::call(self, t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), Interruption> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Result<u64, Interruption> {
        let base = self.local.memory.next_local(t.id, local.align);
        let shared = !local.private && self.sharing.is_shared(base, base + local.size);
        if shared && !self.local.alone {
            let action = Action::Allocate {
                base,
                size: local.size,
                zeroed: false,
            };
            self.ask(t, action, local.site)?;
        }
        let memory = Arc::make_mut(&mut self.local.memory);
        memory.push_local(t.id, local);
        if shared {
            memory.share(base, Visibility::Shared);
        }
        if !local.private {
            let named = Named::Local(local.local);
            self.sharing.met(base, local.size, named);
        }
        Ok(base)
    }

    fn begin_local(&mut self, t: &mut Thread, address: u64) -> Result<u64, Interruption> {
        let ended = match self.local.memory.object_at(address) {
            Some(object) if object.freed => object,
            _ => return Ok(address),
        };
        if ended.visibility == Visibility::Shared {
            // as any object that threads share, another one than before
            let again = NewLocal {
                size: ended.size,
                align: 1 << ended.base.trailing_zeros().min(MAX_ALIGN),
                local: match ended.named {
                    Named::Local(local) => local,
                    _ => return Ok(address),
                },
                private: false,
                idle: ended.idle,
                site: ended.site,
            };
            return self.alloca(t, &again);
        }
        Arc::make_mut(&mut self.local.memory).begin_local(address);
        Ok(address)
    }

    fn end_local(
        &mut self,
        t: &mut Thread,
        address: u64,
        site: SiteId,
    ) -> Result<(), Interruption> {
        match self.local.memory.object_at(address) {
            Some(object) if !object.freed => {
                if self.is_shared(t, object)? {
                    let base = object.base;
                    self.ask(t, Action::Free { base }, site)?;
                }
            }
            _ => return Ok(()),
        }
        Arc::make_mut(&mut self.local.memory).end_local(address);
        self.settle(t);
        Ok(())
    }

    fn locals(&self, t: &Thread) -> usize {
        self.local.memory.locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize, ends: bool) -> Result<(), Interruption> {
        if self.local.memory.locals(t.id) <= mark && !ends {
            return Ok(());
        }
        // the locals of main live until the process ends
        let whole_process = t.id == 0 && t.frames.len() == 1;
        if !whole_process && !self.local.alone {
            let memory = &self.local.memory;
            let own = ends.then(|| memory.thread_locals(t.id));
            let mut ended = Vec::new();
            for object in memory
                .locals_from(t.id, mark)
                .chain(own.into_iter().flatten())
            {
                if !object.freed && self.is_shared(t, object)? {
                    ended.push((object.base, object.site));
                }
            }
            for (base, site) in ended {
                self.ask(t, Action::Free { base }, site)?;
            }
        }
        Arc::make_mut(&mut self.local.memory).pop_locals(t.id, mark, |_, _, _| {});
        self.settle(t);
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.local.memory.thread_local(t.id, global)
    }
}
