//! Threads that sleep at an address, as explored threads do: [`program::library::sleepers`] defines
//! the operations. The sleepers are a location of their own, which is in no object.
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
            self.has_written(t, at, Val::constant(value), word);
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
        let asleep = match at {
            Some(at) => {
                let found = self.read_sleepers(t, (word, at), sleepers::LOOK, false)?;
                sleepers::is_asleep(found, t.id)
            }
            None => true,
        };
        if !asleep {
            return Ok(());
        }
        let wait = Wait::For {
            what: sleepers::AWAITED[usize::from(call.arg(1).bits != 0)],
            reads: usize::from(at.is_some()),
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
        Ok(before != after)
    }

    pub(super) fn wake_sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (word, Some(at)) = self.sleepers(t, call)? else {
            return Ok(0);
        };
        let count = u32::try_from(call.arg(1).bits).unwrap_or(u32::MAX);
        let mask = match call.arg(2).bits as u32 {
            u32::MAX => 0,
            mask => u64::from(mask),
        };
        let before = self.read_sleepers(t, (word, at), sleepers::WAKE, true)?;
        let all = before != 0 && count >= sleepers::number(before);
        if all && call.function == Extern::Notify {
            return Err(Interruption::Blocked(Wait::Redundant, call.site));
        }
        let choice = match sleepers::alternatives(before, count, mask) {
            1 => 0,
            alternatives if alternatives > MAX_ALTERNATIVES => {
                let message = format!(
                    "a wake-up of {count} threads of {}",
                    sleepers::number(before)
                );
                return Err(Interruption::Unsupported(message, call.site));
            }
            alternatives => self.choose_one(t, alternatives, call.site)?,
        };
        let after = sleepers::wake(before, count, mask, choice);
        self.write_sleepers(t, (word, at), sleepers::WAKE, (before, after))?;
        Ok(u64::from(
            sleepers::number(before) - sleepers::number(after),
        ))
    }
}
