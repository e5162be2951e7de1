//! Threads that sleep at an address, as explored threads do: [`program::library::sleepers`] defines
//! the operations. The sleepers are a location of their own, which is in no object.
use crate::reductions::Reduction;
use crate::source::{Action, Location, Wait};
use crate::threads::environment::{AccessTarget, Interruption, ThreadEnvironment};
use crate::threads::synchronisation::spot;
use program::interpreter::thread::Thread;
use program::interpreter::ExternCall;
use program::ir::{Extern, Order};
use program::library::sleepers;
use program::memory::Val;

/// More ways to choose the threads that are woken are refused.
const MAX_ALTERNATIVES: u32 = 1024;

type Done<T> = Result<T, Interruption>;

impl ThreadEnvironment<'_> {
    /// The word of a call, and the threads that sleep there; none if no other thread uses the word.
    fn sleepers(
        &mut self,
        t: &Thread,
        call: &ExternCall,
    ) -> Done<(AccessTarget, Option<Location>)> {
        let word = spot(call.arg(0), 1, call.site);
        self.require(word.addr)?;
        let shared = self.find(t, word, 1, false)?.is_none();
        Ok((word, shared.then(|| Location::of_sleepers(word.address))))
    }

    fn read_sleepers(
        &mut self,
        t: &mut Thread,
        (word, at): (AccessTarget, Location),
        order: Order,
        rmw: bool,
    ) -> Done<u64> {
        let action = Action::Read {
            at,
            order,
            rmw,
            uninitialised_ok: true,
            ignored: false,
        };
        let (found, new) = self.ask_with(t, action, word.site, (word.addr, 0))?;
        if new {
            self.has_read(t, at, found, word, (false, false));
        }
        self.answered(t, false);
        Ok(found)
    }

    /// The write of a read-modify-write that has found `before`.
    fn write_sleepers(
        &mut self,
        t: &mut Thread,
        (word, at): (AccessTarget, Location),
        order: Order,
        (before, value): (u64, u64),
    ) -> Done<()> {
        let action = Action::Write {
            at,
            order,
            value,
            rmw: true,
            undefined: 0,
        };
        self.local.unchanged = before == value;
        if self.ask_with(t, action, word.site, (word.addr, 0))?.1 {
            self.has_written(t, at, Val::constant(value), word, false);
        }
        self.local.unchanged = false;
        Ok(())
    }

    pub(super) fn begin_to_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let (word, Some(at)) = self.sleepers(t, call)? else {
            return Ok(());
        };
        let refused = |message: &str| Interruption::Unsupported(message.to_string(), call.site);
        if t.id >= sleepers::THREADS {
            return Err(refused("sleeping in a thread after the sixteenth"));
        }
        let mask = sleepers::mask(call.arg(1).bits)
            .ok_or_else(|| refused("a futex mask with other bits than 1, 2 and 4, and not all"))?;
        let before = self.read_sleepers(t, (word, at), sleepers::ENTER, true)?;
        let after = sleepers::enter(before, t.id, mask);
        self.write_sleepers(t, (word, at), sleepers::ENTER, (before, after))
    }

    pub(super) fn sleep_until_woken(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let (word, at) = self.sleepers(t, call)?;
        let (asleep, reads) = match at {
            Some(at) => {
                let found = self.read_sleepers(t, (word, at), sleepers::LOOK, false)?;
                match sleepers::is_moved(found, t.id) {
                    true => {
                        let target = self.target_of(t, word)?;
                        let found = self.read_sleepers(t, target, sleepers::LOOK, false)?;
                        (sleepers::is_asleep(found, t.id), 3)
                    }
                    false => (sleepers::is_asleep(found, t.id), 1),
                }
            }
            None => (true, 0),
        };
        if !asleep {
            return Ok(());
        }
        let wait = Wait::For {
            what: sleepers::AWAITED[usize::from(call.arg(1).bits != 0)],
            reads,
        };
        Err(Interruption::Blocked(wait, call.site))
    }

    pub(super) fn stop_to_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        let (word, Some(at)) = self.sleepers(t, call)? else {
            return Ok(true);
        };
        let before = self.read_sleepers(t, (word, at), sleepers::LOOK, true)?;
        let after = sleepers::leave(before, t.id);
        self.write_sleepers(t, (word, at), sleepers::LOOK, (before, after))?;
        if !sleepers::is_moved(before, t.id) {
            return Ok(before != after);
        }
        let target = self.target_of(t, word)?;
        let before = self.read_sleepers(t, target, sleepers::LOOK, true)?;
        let after = sleepers::leave(before, t.id);
        self.write_sleepers(t, target, sleepers::LOOK, (before, after))?;
        Ok(before != after)
    }

    pub(super) fn wake_sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (word, Some(at)) = self.sleepers(t, call)? else {
            return Ok(0);
        };
        let count = u32::try_from(call.arg(1).bits).unwrap_or(u32::MAX);
        let mask = u64::from(call.arg(2).bits as u32);
        let before = self.read_sleepers(t, (word, at), sleepers::WAKE, true)?;
        let all = before != 0 && count >= sleepers::number(before);
        let reduced = self.sharing.reductions.has(Reduction::NotifiedSleepers);
        if reduced && all && call.function == Extern::Notify {
            return Err(Interruption::Blocked(Wait::Redundant, call.site));
        }
        let after = self.left_of(t, call, before, (count, mask))?;
        self.write_sleepers(t, (word, at), sleepers::WAKE, (before, after))?;
        Ok(u64::from(
            sleepers::number(before) - sleepers::number(after),
        ))
    }

    /// The sleepers at the address to which the threads are moved that sleep at a word. It is
    /// written before they are, so that executions in which it is not known yet are none.
    fn target_of(&mut self, t: &mut Thread, word: AccessTarget) -> Done<(AccessTarget, Location)> {
        let at = Location::of_target(word.address);
        match self.read_sleepers(t, (word, at), sleepers::LOOK, false)? {
            0 => Err(Interruption::Blocked(Wait::Redundant, word.site)),
            address => Ok((word, Location::of_sleepers(address))),
        }
    }

    pub(super) fn look_at_sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        match self.sleepers(t, call)? {
            (word, Some(at)) => self.read_sleepers(t, (word, at), sleepers::LOOK, false),
            _ => Ok(0),
        }
    }

    /// Wakes and moves threads in one step: the second set is written first, and where the first has
    /// changed since it was looked at, this is no execution. There is one in which it has not.
    pub(super) fn requeue_sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (word, Some(at)) = self.sleepers(t, call)? else {
            return Ok(0);
        };
        let other = spot(call.arg(3), 1, call.site);
        self.require(other.addr)?;
        if self.find(t, other, 1, false)?.is_some() {
            let end = other.address + 1;
            return Err(self.sharing.learn_shared(other.address, end).into());
        }
        let count = |k: usize| u32::try_from(call.arg(k).bits).unwrap_or(u32::MAX);
        let (seen, wakes, moves) = (call.arg(4).bits, count(1), count(2));
        let woken = self.left_of(t, call, seen, (wakes, 0))?;
        let left = self.left_of(t, call, woken, (moves, 0))?;
        let mut there = 0;
        if left != woken {
            let target = Location::of_target(word.address);
            let known = self.read_sleepers(t, (word, target), sleepers::LOOK, true)?;
            if ![0, other.address].contains(&known) {
                let message = "threads that are moved from one futex to several others";
                return Err(Interruption::Unsupported(message.to_string(), call.site));
            }
            self.write_sleepers(t, (word, target), sleepers::LOOK, (known, other.address))?;
            let at = Location::of_sleepers(other.address);
            there = self.read_sleepers(t, (other, at), sleepers::WAKE, true)?;
            let after = sleepers::moved(woken, left, there).1;
            self.write_sleepers(t, (other, at), sleepers::WAKE, (there, after))?;
        }
        let before = self.read_sleepers(t, (word, at), sleepers::WAKE, true)?;
        if before != seen {
            return Err(Interruption::Blocked(Wait::Redundant, call.site));
        }
        let after = sleepers::moved(woken, left, there).0;
        self.write_sleepers(t, (word, at), sleepers::WAKE, (before, after))?;
        Ok(u64::from(
            sleepers::number(before) - sleepers::number(after),
        ))
    }

    /// The sleepers that are left when at most `count` of those that a mask reaches were chosen.
    fn left_of(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        all: u64,
        (count, mask): (u32, u64),
    ) -> Done<u64> {
        let choice = match sleepers::alternatives(all, count, mask) {
            1 => 0,
            alternatives if alternatives > MAX_ALTERNATIVES => {
                let message = format!("a choice of {count} threads of {}", sleepers::number(all));
                return Err(Interruption::Unsupported(message, call.site));
            }
            alternatives => self.choose_one(t, alternatives, call.site)?,
        };
        Ok(sleepers::wake(all, count, mask, choice))
    }
}
