//! How a thread reads and writes memory: its own directly, shared memory by events.
use crate::consistency::ordering_accesses::Kind;
use crate::semantics::environment::{AccessTarget, Accesses, Done, Events, Interruption, ReadMode};
use crate::source::{Action, FaultKind, Location, Rewrite, ThreadId};
use crate::threads::environment::ThreadEnvironment;
use crate::threads::left_out_accesses::{AccessKind, LeftOutAccess};
use crate::threads::local_state::{UnnoticedWrite, Written};
use crate::threads::sharing::SharingChanged;
use program::interpreter::thread::Thread;
use program::ir::bits::mask;
use program::ir::wide;
use program::ir::{Order, SiteId};
use program::memory::{is_wholly, Byte, Dep, Named, ResolvedAddress, Val};
use std::sync::Arc;

/// How many of the values that it has written a thread remembers, to find that it writes one again.
const MAX_WRITTEN: usize = 8;

impl ThreadEnvironment<'_> {
    /// A shared location was read, for the first time by this instruction.
    pub(super) fn has_read(
        &self,
        t: &mut Thread,
        at: Location,
        bits: u64,
        spot: AccessTarget,
        (ignored, plain): (bool, bool),
    ) {
        self.sharing
            .record_use(at, self.user(t, spot.site), !spot.update);
        if !ignored {
            let known = (!self.is_postponed()).then_some(bits);
            t.saw(at.address, at.size, known, plain);
        }
    }

    /// A shared location was written, for the first time by this instruction. That is progress, and
    /// none of the thread's loops waits for a change of what it has read so far, unless the write
    /// may be left out with the iteration of a loop that it is in ([`location_uses`]). The write of
    /// a read-modify-write that changes nothing may be, too: what reads from it could read from the
    /// write before it, with the same order between threads, as read-modify-writes continue release
    /// sequences.
    ///
    /// [`location_uses`]: crate::threads::location_uses
    pub(super) fn has_written(
        &mut self,
        t: &mut Thread,
        at: Location,
        value: Val,
        spot: AccessTarget,
        (order, rmw): (Order, bool),
    ) {
        let plain = order.is_plain(rmw);
        self.sharing.record_use(at, self.user(t, spot.site), false);
        let orders = !plain && (order.releases() || self.settings.relaxed_order);
        self.local
            .has_written(t.epoch, UnnoticedWrite { at, plain, orders });
        if self.local.quiet || self.still || self.local.unchanged {
            return;
        }
        if spot.update && self.sharing.is_unobserved(at) {
            return;
        }
        let mut reads = t.reads.iter().rev();
        let read = reads.find(|read| (read.address, read.size) == (at.address, at.size));
        let last = self.local.written.iter().find(|known| known.at == at);
        let known = match read {
            Some(read) => read.bits,
            None => last.and_then(|known| known.bits),
        };
        let is_known = self.require(value.dep).is_ok();
        let defined = value.undefined == 0;
        let is_there = is_known && defined && known == Some(value.bits);
        // what reads from this write could read from the thread's last one
        let could = match last {
            Some(last) => self.covers(last.dep, value.dep),
            None => !self.sets.tracked || self.local.written.len() < MAX_WRITTEN,
        };
        let is_there = is_there && could;
        let same = |known: &&Written| is_there && known.bits == Some(value.bits);
        let again = last.filter(same);
        let in_doubt = last.is_some_and(|last| self.require(last.dep).is_err());
        if plain && again.is_some_and(|last| last.unpublished) && self.sharing.flags_races {
            return;
        }
        if is_there && self.sharing.is_own(at, t.id) {
            return;
        }
        let is_like = |last: &Written| (last.order, last.rmw) == (order, rmw);
        // there was no other progress since then, or that is not known
        let follows = last
            .is_some_and(|last| is_like(last) && t.epoch - last.epoch == t.doubts - last.doubts);
        let follows = follows && !(plain && self.sharing.flags_races);
        let directly = follows
            && self.sharing.rewrites_directly(spot.site)
            && !(self.sets.tracked && self.may_be_separate(at, t.id));
        if directly && again.is_some_and(|last| last.epoch == t.epoch) {
            let index = (self.local.events_before + self.local.answers.len() - 1) as u32;
            let site = spot.site;
            self.local.rewrites.push(Rewrite { at, index, site });
            return;
        }
        // the same value may be written again, or that of a read-modify-write be unchanged
        let is_reread = read.is_some_and(|read| read.bits.is_none());
        let updates = self.local.answers.contains(&None);
        let unknown = !is_known || is_reread || in_doubt;
        let in_doubt = updates
            || directly && (unknown || again.is_some())
            || unknown && !self.sharing.is_known_shared(at, t.id);
        self.local.written.retain(|known| known.at != at);
        if self.local.written.len() == MAX_WRITTEN {
            self.local.written.remove(0);
        }
        self.local.progress = Some(at);
        t.changed = Some(spot.site);
        match in_doubt {
            true => t.progress_in_doubt(),
            false => t.progress(),
        }
        self.local.written.push(Written {
            at,
            bits: (is_known && defined).then_some(value.bits),
            dep: value.dep,
            order,
            rmw,
            epoch: t.epoch,
            doubts: t.doubts,
            unpublished: plain,
        });
    }

    /// Whether another thread may write a location between two writes of this one.
    fn may_be_separate(&self, at: Location, thread: ThreadId) -> bool {
        let kind = AccessKind {
            plain: false,
            writes: true,
            again: true,
        };
        self.sharing.may_race(LeftOutAccess { at, thread, kind })
    }

    /// The thread's own memory was read.
    fn has_read_own(&self, t: &Thread, spot: AccessTarget, size: u64) {
        if spot.update || self.local.alone {
            return;
        }
        for at in self.sharing.updated(spot.address, size) {
            self.sharing.record_use(*at, self.user(t, spot.site), true);
        }
    }

    /// The thread's own memory was written. `reads`: what the value depends on that was there, and
    /// the one that was written.
    fn has_stored(&self, t: &mut Thread, reads: [Dep; 2]) {
        self.settle(t);
        if reads.iter().any(|reads| self.require(*reads).is_err()) {
            // it is not known whether the state of memory has changed
            t.progress_in_doubt();
        } else if !self.covers(reads[0], reads[1]) {
            t.progress();
        }
    }

    /// Shares an object of the thread's own whose access orders others in the model. Compilers keep no
    /// access of a local variable whose address does not escape.
    fn check_ordering(
        &self,
        place: ResolvedAddress,
        kind: Kind,
        order: Order,
    ) -> Result<(), SharingChanged> {
        let object = self.local.memory.object(place);
        let orders = self.sharing.ordering.contains(kind, order);
        match orders && !self.local.alone && !object.private && !object.constant {
            true => Err(self
                .sharing
                .learn_shared(object.base, object.base + object.size)),
            false => Ok(()),
        }
    }

    /// What so many bytes of the thread's own memory depend on, where dependencies are tracked.
    fn stored(&self, place: ResolvedAddress, size: u64) -> Dep {
        match self.sets.tracked {
            false => 0,
            true => self.union_of(&self.local.memory.bytes(place, size)),
        }
    }

    /// Whether nothing depends on the value that an update is about to write to the thread's own
    /// memory.
    fn is_ignored(&self, spot: AccessTarget) -> Result<bool, SharingChanged> {
        let at = Location {
            address: spot.address,
            size: spot.size,
        };
        match spot.update && !self.local.alone {
            true => self.sharing.is_unobserved_update(at),
            false => Ok(false),
        }
    }

    /// The locations of an atomic access: one, unless atomic accesses of several sizes overlap.
    fn parts(&self, spot: AccessTarget) -> Done<Vec<Location>> {
        let AccessTarget { address, size, .. } = spot;
        let pieces = self.sharing.pieces(address, size.into(), 16)?;
        let end = address + u64::from(size);
        if pieces == [Location { address, size }] || self.sharing.is_divided(address, end) {
            return Ok(pieces);
        }
        Err(match self.sharing.learn_whole(address, end) {
            Some(changed) => changed.into(),
            None => self.divide(spot, end),
        })
    }

    /// Learns that atomic accesses have parts of this memory that ends at `end`.
    fn divide(&self, of: AccessTarget, end: u64) -> Interruption {
        match self.settings.mixed_sizes {
            true => self.sharing.learn_divided((of.address, end), of.site).into(),
            false => Interruption::Unsupported(
                "an access to memory that is accessed atomically with other sizes is not supported under this model".to_string(),
                of.site,
            ),
        }
    }

    /// A plain load of so many bytes may be of a part of an atomic object where the model defines races:
    /// without one, there is one write that it may read from. But 16 bytes may be initialised in part,
    /// which is known of their halves only.
    fn check_part(&self, at: Location, spot: AccessTarget, size: u64) -> Done<()> {
        let end = at.address + u64::from(at.size);
        let part = at.address < spot.address || end > spot.address + size;
        let in_part = at.size == wide::SIZE && !self.is_initialised(at.address);
        match part && (in_part || !self.sharing.flags_races) {
            true => Err(self.divide(spot, spot.address + size)),
            false => Ok(()),
        }
    }

    /// Whether an address is in an object that has initial values.
    fn is_initialised(&self, address: u64) -> bool {
        let extent = self.sharing.extent(address);
        extent.is_some_and(|(_, extent)| matches!(extent.named, Named::Global(_)))
    }

    /// Reads a location of an access. `continues`: see [`EventLabel`](crate::source::EventLabel).
    fn read_piece(
        &mut self,
        t: &mut Thread,
        (spot, at): (AccessTarget, Location),
        how: ReadMode,
        continues: bool,
    ) -> Done<Val> {
        let plain = how.order.is_plain(how.rmw);
        let ignored = spot.update && self.sharing.is_unobserved(at);
        let action = Action::Read {
            at,
            order: how.order,
            rmw: how.rmw,
            uninitialised_ok: how.uninitialised_ok,
            ignored,
        };
        let (bits, new) = self.ask_with(t, action, spot.site, (spot.addr, 0), continues)?;
        if new {
            self.has_read(t, at, bits, spot, (ignored, plain));
        }
        let mut value = Val::new(bits, self.answered(t, plain));
        value.undefined = self.undefined();
        Ok(value)
    }

    /// Writes a location of an access.
    fn write_piece(
        &mut self,
        t: &mut Thread,
        (spot, at): (AccessTarget, Location),
        (order, rmw): (Order, bool),
        value: Val,
        continues: bool,
    ) -> Done<()> {
        let action = Action::Write {
            at,
            order,
            value: value.bits,
            rmw,
            undefined: value.undefined,
        };
        let depends = (spot.addr, value.dep);
        if self.ask_with(t, action, spot.site, depends, continues)?.1 {
            self.has_written(t, at, value, spot, (order, rmw));
        }
        Ok(())
    }

    /// The number that these bytes are, the lowest first.
    fn value_of(&self, bytes: &[Byte]) -> Val {
        if bytes.len() == wide::SIZE as usize {
            let (low, high) = bytes.split_at(8);
            let (low, high) = (self.value_of(low), self.value_of(high));
            let mut value = Val::new(wide::from_halves(low.bits, high.bits), self.union_of(bytes));
            value.undefined = low.undefined & high.undefined;
            return value;
        }
        let bits = |byte: &Byte| u64::from(byte.value);
        let low_first = bytes.iter().rev();
        let mut value = Val::new(
            low_first.fold(0, |all, byte| all << 8 | bits(byte)),
            self.union_of(bytes),
        );
        let undefined = bytes.iter().enumerate().filter(|(_, byte)| byte.undefined);
        value.undefined = undefined.fold(0, |set, (k, _)| set | 1 << k);
        value
    }
}

impl Accesses for ThreadEnvironment<'_> {
    fn is_event(&self, t: &Thread, to: AccessTarget, write: bool) -> Done<bool> {
        Ok(self.find(t, to, to.size.into(), write)?.is_none())
    }

    fn read(&mut self, t: &mut Thread, spot: AccessTarget, how: ReadMode) -> Done<Val> {
        let AccessTarget { size, site, .. } = spot;
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size.into(), false)? {
            self.check_ordering(place, Kind::Read, how.order)?;
            self.has_read_own(t, spot, size.into());
            let memory = &self.local.memory;
            let mut value = memory.read(place, size, |a, b| self.sets.union(a, b));
            if is_wholly(value.undefined, 8 * size) && !how.uninitialised_ok {
                return Err(unwritten(site));
            }
            value.dep = self.read_own(value.dep, spot.addr);
            self.own_address(t, spot);
            if self.in_library {
                self.require(value.dep)?;
                self.add_control(t, value.dep);
            }
            return Ok(value);
        }
        if how.order.is_plain(how.rmw) {
            let bytes = self.read_range(t, spot, size.into(), how.uninitialised_ok)?;
            return Ok(self.value_of(&bytes));
        }
        let parts = self.parts(spot)?;
        let how = ReadMode {
            uninitialised_ok: how.uninitialised_ok || parts.len() > 1,
            ..how
        };
        let mut bytes = Vec::new();
        for (k, at) in parts.into_iter().enumerate() {
            let value = self.read_piece(t, (spot, at), how, k > 0)?;
            if at.size == size {
                return Ok(value);
            }
            bytes.extend(bytes_of(value, at.size));
        }
        Ok(self.value_of(&bytes))
    }

    fn write(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        order: Order,
        rmw: bool,
        value: Val,
    ) -> Done<()> {
        let AccessTarget { size, site, .. } = spot;
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size.into(), true)? {
            let kind = if rmw { Kind::Update } else { Kind::Write };
            self.check_ordering(place, kind, order)?;
            self.own_address(t, spot);
            let ignored = self.is_ignored(spot)?;
            let before = self.stored(place, size.into());
            let dep = self.left_here(t, value.dep);
            let value = Val { dep, ..value };
            let changed = Arc::make_mut(&mut self.local.memory).write(place, size, value);
            if changed != 0 && ignored {
                self.local.ignored ^= changed;
            } else if changed != 0 {
                t.changed = Some(site);
                self.local.progress = None;
            }
            self.has_stored(t, [before, value.dep]);
            return Ok(());
        }
        if order.is_plain(rmw) {
            return self.write_range(t, spot, &bytes_of(value, size));
        }
        let bits = mask(value.bits, 8 * size);
        let whole = Val { bits, ..value };
        for (k, at) in self.parts(spot)?.into_iter().enumerate() {
            let value = match at.size == size {
                true => whole,
                false => {
                    let from = (at.address - spot.address) as usize;
                    self.value_of(&bytes_of(whole, size)[from..from + at.size as usize])
                }
            };
            self.write_piece(t, (spot, at), (order, rmw), value, k > 0)?;
        }
        Ok(())
    }

    /// The bytes are read in pieces.
    fn read_range(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Done<Vec<Byte>> {
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size, false)? {
            self.has_read_own(t, spot, size);
            self.own_address(t, spot);
            let mut bytes = self.local.memory.bytes(place, size);
            if spot.addr != 0 {
                for byte in &mut bytes {
                    byte.dep = self.read_own(byte.dep, spot.addr);
                }
            }
            return Ok(bytes);
        }
        let pieces = self.sharing.pieces(spot.address, size, 8)?;
        let how = ReadMode {
            uninitialised_ok: uninitialised_ok || pieces.len() > 1,
            ..ReadMode::PLAIN
        };
        let whole = size;
        let mut bytes = Vec::with_capacity(size as usize);
        for at in pieces {
            let Location { address, size } = at;
            self.check_part(at, spot, whole)?;
            let value = self.read_piece(t, (spot, at), how, false)?;
            let part = |k: u64| (k.clamp(address, address + u64::from(size)) - address) as usize;
            let (from, to) = (part(spot.address), part(spot.address + whole));
            bytes.extend(&bytes_of(value, size)[from..to]);
        }
        Ok(bytes)
    }

    /// They are written in pieces.
    fn write_range(&mut self, t: &mut Thread, spot: AccessTarget, bytes: &[Byte]) -> Done<()> {
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, bytes.len() as u64, true)? {
            self.own_address(t, spot);
            let before = self.stored(place, bytes.len() as u64);
            let mut bytes = bytes.to_vec();
            for byte in &mut bytes {
                byte.dep = self.left_here(t, byte.dep);
            }
            let bytes = &bytes;
            let stored = self.union_of(bytes);
            let memory = Arc::make_mut(&mut self.local.memory);
            memory.write_bytes(place, bytes);
            t.changed = Some(spot.site);
            self.local.progress = None;
            self.has_stored(t, [before, stored]);
            return Ok(());
        }
        let pieces = self.sharing.pieces(spot.address, bytes.len() as u64, 8)?;
        for at in pieces {
            let Location { address, size } = at;
            let end = spot.address + bytes.len() as u64;
            if address < spot.address || address + u64::from(size) > end {
                return Err(self.divide(spot, end));
            }
            let from = (address - spot.address) as usize;
            if size == wide::SIZE && is_partly_undefined(&bytes[from..from + size as usize]) {
                return Err(self.divide(spot, end));
            }
            let value = self.value_of(&bytes[from..from + size as usize]);
            self.write_piece(t, (spot, at), (Order::Na, false), value, false)?;
        }
        Ok(())
    }

    fn read_outside(
        &mut self,
        t: &mut Thread,
        of: (AccessTarget, Location),
        order: Order,
        rmw: bool,
    ) -> Done<u64> {
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        Ok(self.read_piece(t, of, how, false)?.bits)
    }

    fn write_outside(
        &mut self,
        t: &mut Thread,
        of: (AccessTarget, Location),
        order: Order,
        (before, value): (u64, u64),
    ) -> Done<()> {
        self.local.unchanged = before == value;
        self.write_piece(t, of, (order, true), Val::constant(value), false)?;
        self.local.unchanged = false;
        Ok(())
    }
}

/// Whether some of these bytes are indeterminate and others are not.
fn is_partly_undefined(bytes: &[Byte]) -> bool {
    bytes.iter().any(|byte| byte.undefined) && !bytes.iter().all(|byte| byte.undefined)
}

/// The bytes of a number, the lowest first.
fn bytes_of(value: Val, size: u32) -> Vec<Byte> {
    if size == wide::SIZE {
        let (low, high) = wide::halves(value.bits);
        let half = |bits| bytes_of(Val { bits, ..value }, 8);
        return [half(low), half(high)].concat();
    }
    let bytes = value.bits.to_le_bytes();
    let byte = |(k, value_of_byte): (usize, &u8)| Byte {
        value: *value_of_byte,
        dep: value.dep,
        undefined: value.undefined >> k & 1 == 1,
    };
    bytes[..size as usize]
        .iter()
        .enumerate()
        .map(byte)
        .collect()
}

pub fn unwritten(site: SiteId) -> Interruption {
    let message = "read of uninitialised memory".to_string();
    Interruption::Fault(FaultKind::Uninitialised, message, site)
}
