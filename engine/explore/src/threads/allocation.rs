//! Library calls of explored threads ([`Library`]), with allocation and copies of memory.
use crate::source::{Action, FaultKind, Wait};
use crate::threads::environment::{Interruption, ReadMode, ThreadEnvironment};
use crate::threads::synchronisation::spot;
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow};
use program::ir::{Order, Program, SiteId, SyncObject};
use program::library::call::Wanted;
use program::library::mutex::Lock;
use program::library::operations::Library;
use program::memory::{Byte, Dep, Memory, Named, Object, Val, Visibility};
use std::sync::Arc;

type Done<T> = Result<T, Interruption>;

impl ThreadEnvironment<'_> {
    fn move_object(&mut self, t: &mut Thread, call: &ExternCall, old: u64, size: u64) -> Done<u64> {
        let copied = match (old, self.local.memory.object_at(old)) {
            (0, _) => 0,
            (_, Some(object)) => object.size.min(size),
            (_, None) => {
                let message =
                    "realloc of memory that another thread has allocated is not supported"
                        .to_string();
                return Err(Interruption::Unsupported(message, call.site));
            }
        };
        let from = spot(Val::constant(old), 0, call.site);
        let bytes = match copied {
            0 => Vec::new(),
            copied => self.read_range(t, from, copied, true)?,
        };
        let new = self.allocate(t, call)?;
        if copied > 0 {
            self.write_range(t, spot(Val::constant(new), 0, call.site), &bytes)?;
        }
        if old != 0 {
            self.free(t, call.site, old)?;
        }
        Ok(new)
    }
}

impl<'p> Library<'p> for ThreadEnvironment<'p> {
    fn field(&mut self, t: &mut Thread, call: &ExternCall, at: u64, size: u32) -> Done<u64> {
        let how = ReadMode {
            order: Order::Na,
            rmw: false,
            uninitialised_ok: false,
        };
        Ok(self
            .read(t, spot(Val::constant(at), size, call.site), how)?
            .bits)
    }

    fn program(&self) -> &'p Program {
        self.program
    }

    fn either(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        if self.local.alone || self.local.spurious.contains(&call.site) {
            return Ok(false);
        }
        Ok(self.choose_one(t, 2, call.site)? == 1)
    }

    fn chosen(&mut self, t: &mut Thread, call: &ExternCall, choice: bool) -> Dep {
        if choice {
            self.local.spurious.push(call.site);
            t.failures += 1;
        }
        // a loop that it ends does not end by itself: as if it were read now
        self.sets.of_other(self.events() + 1)
    }

    fn byte(&mut self, t: &mut Thread, call: &ExternCall, at: u64) -> Done<Val> {
        let how = ReadMode {
            order: Order::Na,
            rmw: false,
            uninitialised_ok: false,
        };
        self.read(t, spot(Val::constant(at), 1, call.site), how)
    }

    fn set_field(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        at: u64,
        size: u32,
        value: u64,
    ) -> Done<()> {
        let value = Val::constant(value);
        self.write(
            t,
            spot(Val::constant(at), size, call.site),
            Order::Na,
            false,
            value,
        )
    }

    fn choose(&mut self, t: &mut Thread, call: &ExternCall, alternatives: u32) -> Done<u64> {
        let choice = self.choose_one(t, alternatives, call.site)?;
        let again = self.local.chosen.replace(t.epoch) == Some(t.epoch);
        if again || choice + 1 == u64::from(alternatives) {
            t.progress();
        } else {
            // a loop that is in the same state after it need not be run again: the last alternative
            // is explored from there
            t.failures += 1;
        }
        Ok(choice)
    }

    fn called(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.call_begins(t, call)
    }

    fn returned(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.call_returns(t, call)
    }

    fn discard(&mut self, call: &ExternCall) -> Done<Flow> {
        Err(Interruption::Blocked(Wait::Redundant, call.site))
    }

    fn misuse(&mut self, call: &ExternCall) -> Done<Flow> {
        let message = self.local.memory.text(call.arg(0).bits);
        Err(Interruption::Fault(FaultKind::Lock, message, call.site))
    }

    fn refuse(&mut self, call: &ExternCall) -> Done<Flow> {
        let message = self.local.memory.text(call.arg(0).bits);
        Err(Interruption::Unsupported(message, call.site))
    }

    fn begin_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Done<()> {
        self.begin_object(t, call, object, value)
    }

    fn end_life(&mut self, t: &mut Thread, call: &ExternCall, object: SyncObject) -> Done<()> {
        self.end_object(t, call, object)
    }

    fn text(&self, address: u64) -> String {
        self.local.memory.text(address)
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        self.create_thread(t, call)
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        self.join_thread(t, call)
    }

    fn detach(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.detach_thread(t, call)
    }

    fn try_lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<(Lock, Val)> {
        let (lock, dep) = self.try_lock_mutex(t, call.site, call.args[0])?;
        Ok((lock, Val::new(0, dep)))
    }

    fn lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let error = self.lock_mutex(t, call.site, call.args[0])?;
        Ok(Flow::Value(Val::constant(error)))
    }

    fn unlock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        self.unlock_mutex(t, call)
    }

    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let error = self.wait_for_condition(t, call)?;
        Ok(Flow::Value(Val::constant(error)))
    }

    fn signal(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.signal_condition(t, call)
    }

    fn broadcast(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.broadcast_condition(t, call)
    }

    fn begin_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        self.begin_to_sleep(t, call)?;
        Ok(true)
    }

    fn sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.sleep_until_woken(t, call)
    }

    fn end_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        self.stop_to_sleep(t, call)
    }

    fn wake(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        self.wake_sleepers(t, call)
    }

    fn sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        self.look_at_sleepers(t, call)
    }

    fn requeue(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        self.requeue_sleepers(t, call)
    }

    fn wait_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        self.meet_at_barrier(t, call)
    }

    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        self.call_once(t, call)
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let Wanted {
            size,
            align,
            zeroed,
        } = call.wanted()?;
        let base = self.local.memory.next_allocation(t.id, align);
        let shared = self.sharing.is_shared(base, base + size);
        if shared && !self.local.alone {
            let action = Action::Allocate { base, size, zeroed };
            self.ask(t, action, call.site)?;
        }
        let memory = Arc::make_mut(&mut self.local.memory);
        memory.allocate(t.id, size, align, zeroed, call.site);
        if shared {
            memory.share(base, Visibility::Shared);
        }
        self.sharing.met(base, size, Named::Heap(call.site, size));
        t.changed = Some(call.site);
        self.local.progress = None;
        t.progress();
        Ok(base)
    }

    fn posix_memalign(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let align = call.arg(1).bits.max(1);
        let base = self.local.memory.next_allocation(t.id, align);
        self.set_field(t, call, call.arg(0).bits, 8, base)?;
        self.allocate(t, call)?;
        Ok(())
    }

    fn free(&mut self, t: &mut Thread, site: SiteId, address: u64) -> Done<()> {
        let at = spot(Val::constant(address), 0, site);
        let object = self.local.memory.object_at(address);
        let is_other = |o: &Object| !matches!(o.named, Named::Heap(..)) || o.base != address;
        let is_variable = Memory::is_of_stack(address) || Memory::is_thread_local(address);
        if object.is_some_and(is_other) || is_variable {
            let message = "free of a pointer that malloc did not return";
            return Err(Interruption::Fault(
                FaultKind::Memory,
                message.to_string(),
                site,
            ));
        }
        if object.is_some_and(|o| o.freed) || self.find(t, at, 0, true)?.is_some() {
            let freed = Arc::make_mut(&mut self.local.memory).free(address);
            freed.map_err(|message| Interruption::Fault(FaultKind::Memory, message, site))?;
        } else {
            self.ask(t, Action::Free { base: address }, site)?;
        }
        t.changed = Some(site);
        self.local.progress = None;
        t.progress();
        Ok(())
    }

    /// Allocates a new object with the contents of the old one, which is freed.
    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let before = self.local.memory.clone();
        let moved = self.move_object(t, call, old, size);
        if moved.is_err() {
            // the instruction runs again from its beginning
            self.local.memory = before;
        }
        moved
    }

    fn copy(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let from = spot(call.arg(1), 0, call.site);
        let bytes = self.read_range(t, from, size, true)?;
        let to = spot(call.arg(0), 0, call.write_site);
        self.write_range(t, to, &bytes)
    }

    fn fill(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let value = call.arg(1);
        let byte = Byte {
            value: value.bits as u8,
            dep: value.dep,
            undefined: false,
        };
        let bytes = vec![byte; size as usize];
        self.write_range(t, spot(call.arg(0), 0, call.site), &bytes)
    }
}
