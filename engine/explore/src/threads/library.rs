//! The library as explored threads meet it: threads, locks, condition variables, allocation,
//! copies of memory, the ways to end.
//!
//! Each of its objects keeps its state in one location, which its operations read, and write
//! where something changes, as one read-modify-write. Zeros, which every static initialiser is,
//! are a free mutex, a condition that nobody waits for, a flag of a call that is still to be made.
//!
//! | object    | state                                                                      |
//! |-----------|----------------------------------------------------------------------------|
//! | mutex     | 4 bytes: its owner's number plus one, 0 when free; `RECURSIVE`             |
//! | condition | 8 bytes: a bit for each thread that waits                                  |
//! | barrier   | 8 bytes: how many threads it is for, how many are there, its round         |
//! | once flag | 4 bytes: 0 new, 1 under way, 2 over                                        |
use crate::source::{Action, Kind, Wait, LOCK};
use crate::threads::environment::{How, Spot, Stop, World};
use program::interpreter::thread::Thread;
use program::interpreter::{End, ExternCall, Flow, Outcome};
use program::ir::{Extern, Order, SiteId};
use program::library::calls::Wanted;
use program::memory::{Dep, Val};
use program::memory::{Named, Sharing, MAX_THREADS};
use program::sc::machine::thread_handle;
use std::sync::Arc;

const RECURSIVE: u64 = 1 << 31;
/// What `pthread_barrier_wait` gives to one of the threads.
const SERIAL: u64 = 0xffff_ffff;

type Done<T> = Result<T, Stop>;

impl World<'_> {
    pub fn library(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let arg = |k: usize| call.arg(k);
        let at = arg(0).bits;
        let number = |bits: u64| Ok(Flow::Value(Val::constant(bits)));
        match call.function {
            Extern::ThreadCreate => self.create(t, call),
            Extern::ThreadJoin => self.join(t, call),
            Extern::MutexInit => {
                let recursive = match arg(1).bits {
                    0 => arg(2).bits & 1 == 1,
                    attributes => self.plain(t, call, attributes, 4)? == 1,
                };
                let state = if recursive { RECURSIVE } else { 0 };
                self.set_plain(t, call, at, 4, state)?;
                number(0)
            }
            Extern::AttrSetType => {
                self.set_plain(t, call, at, 4, arg(1).bits)?;
                number(0)
            }
            Extern::MutexLock => {
                self.lock(t, call.site, at)?;
                number(0)
            }
            Extern::MutexTrylock => {
                let (taken, dep) = self.try_lock(t, call.site, at)?;
                let bits = if taken { 0 } else { arg(1).bits };
                Ok(Flow::Value(Val { bits, dep }))
            }
            Extern::MutexUnlock => {
                self.unlock(t, call.site, at)?;
                number(0)
            }
            Extern::CondWait => self.wait(t, call),
            Extern::CondSignal => {
                self.signal(t, call, at)?;
                number(0)
            }
            Extern::CondBroadcast => {
                let state = spot(at, 8, call.site);
                if self.take(t, state, Order::Rlx, true)?.bits != 0 {
                    self.put(t, state, Order::Rlx, 0)?;
                }
                number(0)
            }
            Extern::BarrierInit => {
                self.set_plain(t, call, at, 8, (arg(1).bits & 0xffff) << 48)?;
                number(0)
            }
            Extern::BarrierWait => self.barrier(t, call, at),
            Extern::Once => self.once(t, call),
            Extern::Malloc | Extern::Calloc | Extern::AlignedAlloc => {
                number(self.allocate(t, call)?)
            }
            Extern::PosixMemalign => {
                let base = self.own.memory.next_allocation(t.id, arg(1).bits.max(1));
                self.set_plain(t, call, at, 8, base)?;
                self.allocate(t, call)?;
                number(0)
            }
            Extern::Realloc => self.reallocate(t, call),
            Extern::Free => {
                if at != 0 {
                    self.free(t, call.site, at)?;
                }
                number(0)
            }
            Extern::Memcpy => {
                let size = call.copied()?;
                if size > 0 {
                    let from = spot(arg(1).bits, 0, call.site);
                    let bytes = self.read_range(t, from, size, true)?;
                    self.write_range(t, spot(at, 0, call.write_site), &bytes)?;
                }
                Ok(Flow::Value(arg(0)))
            }
            Extern::Memset => {
                let size = call.copied()?;
                if size > 0 {
                    let bytes = vec![(arg(1).bits as u8, arg(1).dep); size as usize];
                    self.write_range(t, spot(at, 0, call.site), &bytes)?;
                }
                Ok(Flow::Value(arg(0)))
            }
            Extern::ThreadSelf
            | Extern::ThreadEqual
            | Extern::ThreadExit
            | Extern::AssertFail
            | Extern::Abort(_)
            | Extern::Trap
            | Extern::Exit
            | Extern::Ignored(_) => Ok(call.alone(t.id, |at| self.own.memory.text(at))?),
        }
    }

    fn plain(&mut self, t: &mut Thread, call: &ExternCall, at: u64, size: u32) -> Done<u64> {
        let how = How {
            order: Order::Na,
            exclusive: false,
            lax: false,
        };
        Ok(self.read(t, spot(at, size, call.site), how)?.bits)
    }

    fn set_plain(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        at: u64,
        size: u32,
        value: u64,
    ) -> Done<()> {
        let value = Val::constant(value);
        self.write(t, spot(at, size, call.site), Order::Na, false, value)
    }

    /// The read of a read-modify-write.
    fn take(&mut self, t: &mut Thread, state: Spot, order: Order, lax: bool) -> Done<Val> {
        let exclusive = true;
        let how = How {
            order,
            exclusive,
            lax,
        };
        self.read(t, state, how)
    }

    /// Its write.
    fn put(&mut self, t: &mut Thread, state: Spot, order: Order, value: u64) -> Done<()> {
        self.write(t, state, order, true, Val::constant(value))
    }

    fn fault<T>(&self, kind: Kind, message: &str, site: SiteId) -> Done<T> {
        Err(Stop::Fault(kind, message.to_string(), site))
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        if self.own.alone {
            return Err(Stop::NotAlone);
        }
        call.started(self.program)?;
        let thread = self.sharing.thread(t.id, self.own.created);
        if thread >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(End::new(Outcome::Bound, message, Some(call.site)).into());
        }
        self.set_plain(t, call, call.args[0].bits, 8, thread_handle(thread))?;
        self.ask(Action::Create { thread }, call.site)?;
        self.own.created += 1;
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (out, size) = (call.args[1], call.args[2]);
        let known = self.sharing.threads();
        let thread = call.joined(t.id, known, self.own.joined)?;
        let (result, _) = self.ask(Action::Join { thread }, call.site)?;
        if out.bits != 0 {
            let dep = self.answered();
            let value = Val { bits: result, dep };
            let to = spot(out.bits, size.bits as u32, call.site);
            self.write(t, to, Order::Na, false, value)?;
        }
        self.own.joined |= 1 << thread;
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    fn blocked<T>(&self, t: &Thread, state: Spot, what: &'static str) -> Done<T> {
        let asked = self.find(t, state, state.size.into(), true)?.is_none();
        let wait = match (asked, what) {
            (true, LOCK) => Wait::Lock,
            _ => Wait::For {
                what,
                reads: usize::from(asked),
            },
        };
        Err(Stop::Blocked(wait, state.site))
    }

    /// Takes a mutex, if it is free or may be taken again; whether it did. A round of a loop that
    /// takes a lock and gives it back changes nothing, unless others look without waiting.
    fn try_lock(&mut self, t: &mut Thread, site: SiteId, mutex: u64) -> Done<(bool, Dep)> {
        let state = spot(mutex, 4, site);
        let now = self.take(t, state, Order::Acq, false)?;
        let recursive = now.bits & RECURSIVE;
        let held = self.own.holds(mutex);
        if now.bits == recursive {
            let taken = recursive | (t.id as u64 + 1);
            self.still = !self.program.has_trylock;
            self.put(t, state, Order::Acq, taken)?;
            self.still = false;
        } else if held == 0 || recursive == 0 {
            return Ok((false, now.dep));
        }
        self.hold(t, mutex, held + 1, recursive);
        Ok((true, now.dep))
    }

    fn lock(&mut self, t: &mut Thread, site: SiteId, mutex: u64) -> Done<()> {
        match self.try_lock(t, site, mutex)?.0 {
            true => Ok(()),
            false => self.blocked(t, spot(mutex, 4, site), LOCK),
        }
    }

    fn unlock(&mut self, t: &mut Thread, site: SiteId, mutex: u64) -> Done<()> {
        let held = self.own.holds(mutex);
        if held == 0 {
            let message = "unlock of a mutex that the thread does not hold";
            return self.fault(Kind::Lock, message, site);
        }
        if held == 1 {
            self.still = !self.program.has_trylock;
            self.release(t, site, mutex)?;
            self.still = false;
        }
        let free = self.own.free_state(mutex);
        self.hold(t, mutex, held - 1, free);
        Ok(())
    }

    fn release(&mut self, t: &mut Thread, site: SiteId, mutex: u64) -> Done<()> {
        let free = Val::constant(self.own.free_state(mutex));
        self.write(t, spot(mutex, 4, site), Order::Rel, false, free)
    }

    /// Joins those who wait, gives the mutex back, waits to be taken out, takes the mutex.
    /// Nobody wakes without a signal.
    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (condition, mutex) = (call.args[0].bits, call.args[1].bits);
        if self.own.holds(mutex) == 0 {
            let message = "a wait for a condition without its mutex";
            return self.fault(Kind::Lock, message, call.site);
        }
        let me = 1 << t.id;
        let state = spot(condition, 8, call.site);
        let waiting = self.take(t, state, Order::Rlx, true)?.bits;
        self.put(t, state, Order::Rlx, waiting | me)?;
        self.release(t, call.write_site, mutex)?;
        let how = How {
            order: Order::Rlx,
            exclusive: false,
            lax: true,
        };
        if self.read(t, state, how)?.bits & me != 0 {
            return self.blocked(t, state, "a condition");
        }
        let lock = spot(mutex, 4, call.site);
        let now = self.take(t, lock, Order::Acq, false)?.bits;
        if now & !RECURSIVE != 0 {
            return self.blocked(t, lock, LOCK);
        }
        self.put(t, lock, Order::Acq, now | (t.id as u64 + 1))?;
        Ok(Flow::Value(Val::constant(0)))
    }

    /// Wakes one of those who wait now.
    fn signal(&mut self, t: &mut Thread, call: &ExternCall, condition: u64) -> Done<()> {
        let state = spot(condition, 8, call.site);
        let waiting = self.take(t, state, Order::Rlx, true)?.bits;
        let chosen = match waiting.count_ones() {
            0 => return Ok(()),
            1 => 0,
            ways => self.choose(ways, call.site)?,
        };
        let mut others = waiting;
        for _ in 0..chosen {
            others &= others - 1;
        }
        let woken = others & others.wrapping_neg();
        self.put(t, state, Order::Rlx, waiting & !woken)
    }

    /// Arrival is an acq_rel increment, leaving an acquire read: a barrier orders what is before
    /// it in any thread before what is after it in any other.
    fn barrier(&mut self, t: &mut Thread, call: &ExternCall, barrier: u64) -> Done<Flow> {
        let arriving = spot(barrier, 8, call.write_site);
        let now = self.take(t, arriving, Order::AcqRel, false)?.bits;
        let (all, there, round) = (now >> 48, now >> 32 & 0xffff, now & 0xffff_ffff);
        if all == 0 {
            return self.fault(Kind::Lock, "a barrier for no threads", call.site);
        }
        if there + 1 == all {
            let next = all << 48 | (round + 1) & 0xffff_ffff;
            self.put(t, arriving, Order::AcqRel, next)?;
            return Ok(Flow::Value(Val::constant(SERIAL)));
        }
        self.put(t, arriving, Order::AcqRel, now + (1 << 32))?;
        let leaving = spot(barrier, 8, call.site);
        let how = How {
            order: Order::Acq,
            exclusive: false,
            lax: false,
        };
        if self.read(t, leaving, how)?.bits & 0xffff_ffff == round {
            return self.blocked(t, leaving, "a barrier");
        }
        Ok(Flow::Value(Val::constant(0)))
    }

    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let state = spot(call.args[0].bits, 4, call.site);
        match self.take(t, state, Order::Acq, false)?.bits {
            0 => {}
            1 => return self.blocked(t, state, "a call that is made once"),
            _ => return Ok(Flow::Value(Val::constant(0))),
        }
        let id = call.started(self.program)?;
        self.put(t, state, Order::Acq, 1)?;
        Ok(Flow::Once(id, state.address))
    }

    pub fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        self.write(t, spot(flag, 4, site), Order::Rel, false, Val::constant(2))
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let Wanted {
            size,
            align,
            zeroed,
        } = call.wanted()?;
        let base = self.own.memory.next_allocation(t.id, align);
        let shared = self.sharing.is_shared(base, base + size);
        if shared && !self.own.alone {
            let action = Action::Allocate { base, size, zeroed };
            self.ask(action, call.site)?;
        }
        let memory = Arc::make_mut(&mut self.own.memory);
        memory.allocate(t.id, size, align, zeroed);
        if shared {
            memory.share(base, Sharing::Shared);
        }
        self.sharing.met(base, size, Named::Heap);
        t.progress();
        Ok(base)
    }

    fn free(&mut self, t: &mut Thread, site: SiteId, address: u64) -> Done<()> {
        let at = spot(address, 0, site);
        let object = self.own.memory.object_at(address);
        if object.is_some_and(|o| o.named != Named::Heap || o.base != address) {
            let message = "free of what malloc did not give";
            return self.fault(Kind::Memory, message, site);
        }
        if object.is_some_and(|o| o.freed) || self.find(t, at, 0, true)?.is_some() {
            let freed = Arc::make_mut(&mut self.own.memory).free(address);
            freed.map_err(|message| Stop::Fault(Kind::Memory, message, site))?;
        } else {
            self.ask(Action::Free { base: address }, site)?;
        }
        t.progress();
        Ok(())
    }

    /// A new object with the contents of the old one, which ends.
    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let before = self.own.memory.clone();
        let moved = self.move_object(t, call, old, size);
        if moved.is_err() {
            // to be run again
            self.own.memory = before;
        }
        Ok(Flow::Value(Val::constant(moved?)))
    }

    fn move_object(&mut self, t: &mut Thread, call: &ExternCall, old: u64, size: u64) -> Done<u64> {
        let kept = match (old, self.own.memory.object_at(old)) {
            (0, _) => 0,
            (_, Some(object)) => object.size.min(size),
            (_, None) => {
                let message = "realloc of what another thread has allocated".to_string();
                return Err(Stop::Unsupported(message, call.site));
            }
        };
        let from = spot(old, 0, call.site);
        let bytes = match kept {
            0 => Vec::new(),
            kept => self.read_range(t, from, kept, true)?,
        };
        let new = self.allocate(t, call)?;
        if kept > 0 {
            self.write_range(t, spot(new, 0, call.site), &bytes)?;
        }
        if old != 0 {
            self.free(t, call.site, old)?;
        }
        Ok(new)
    }
}

fn spot(address: u64, size: u32, site: SiteId) -> Spot {
    Spot {
        address,
        size,
        site,
    }
}
