//! Memory: objects at fixed addresses.
//!
//! An address includes the thread that allocated the object, and is the same in every run that
//! allocates in the same order. Heap addresses are never reused, so every use after free is found
//! (and ABA by reuse does not occur). Clones share everything until it is written.
use crate::ir::instruction::SiteId;
use crate::ir::program::Program;
use crate::memory::hash::mixed;
use crate::memory::object::{chunks, Named, NewLocal, Object, Visibility};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
struct Arena {
    next: u64,
    /// Addresses below this are not used again: other threads may know them.
    known: u64,
    objects: Vec<Arc<Object>>,
}

#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Globals, then heap, stack and thread-locals of each thread.
    arenas: Vec<Arc<Arena>>,
    /// Hash of all bytes.
    pub hash: u64,
    /// The part of `hash` that idle objects have.
    pub idle: u64,
}

#[derive(Debug, Clone, Copy)]
enum Area {
    Heap = 1,
    Stack = 2,
    ThreadLocal = 3,
}

/// Heap objects start in different ones of these.
const SLOT: u64 = 1 << 16;

/// Objects of so many times 16 bytes or more have addresses in common.
const LARGE: u64 = 64;

/// Addresses contain the thread's number.
pub const MAX_THREADS: usize = 64;

#[derive(Debug, Clone, Copy)]
pub struct ResolvedAddress {
    pub(super) arena: usize,
    pub(super) object: usize,
    pub(super) offset: u64,
}

type Fault = String;

pub const USE_OF_ENDED_LOCAL: &str = "use of a local variable after the end of its lifetime";

impl Memory {
    /// Addresses differ from this bit on if their areas or threads do.
    pub const SHIFT: u32 = 36;

    pub fn new(program: &Program) -> Memory {
        let mut globals = Arena::default();
        for (k, global) in program.globals.iter().enumerate() {
            if global.size == 0 || global.thread_local || global.declared {
                continue;
            }
            globals.objects.push(Arc::new(Object {
                base: global.address,
                size: global.size,
                named: Named::Global(k as u32),
                freed: false,
                constant: global.constant,
                private: false,
                idle: false,
                visibility: Visibility::ThisThread,
                site: 0,
                zeroed: true,
                chunks: chunks(&global.image),
            }));
        }
        Memory {
            arenas: vec![Arc::new(globals)],
            hash: 0,
            idle: 0,
        }
    }

    pub fn add_thread(&mut self, program: &Program) {
        let thread = (self.arenas.len() - 1) / 3;
        for area in [Area::Heap, Area::Stack, Area::ThreadLocal] {
            let base = ((area as u64) << 8 | thread as u64) << Memory::SHIFT;
            self.arenas.push(Arc::new(Arena {
                next: base,
                known: base,
                objects: Vec::new(),
            }));
        }
        for (k, global) in program.globals.iter().enumerate() {
            if global.thread_local {
                let named = Named::ThreadLocal(k as u32);
                let index = 3 + 3 * thread;
                let base = self.add(index, global.size, global.align, named, true, false);
                if let Ok(place) = self.find(base, 1) {
                    let object = self.object_mut(place);
                    object.chunks = chunks(&global.image);
                    object.site = global.site;
                }
            }
        }
    }

    fn add(
        &mut self,
        arena: usize,
        size: u64,
        align: u64,
        named: Named,
        zeroed: bool,
        private: bool,
    ) -> u64 {
        let base = self.next(arena, align);
        let arena = Arc::make_mut(&mut self.arenas[arena]);
        // a gap: one past the end of an object is in no object
        arena.next = base + size + 16;
        arena.objects.push(Arc::new(Object {
            base,
            size,
            named,
            freed: false,
            constant: false,
            private,
            idle: false,
            visibility: Visibility::ThisThread,
            site: 0,
            zeroed,
            chunks: Vec::new(),
        }));
        base
    }

    /// The address of the next object of an arena.
    fn next(&self, arena: usize, align: u64) -> u64 {
        let align = align.max(16);
        self.arenas[arena].next.div_ceil(align) * align
    }

    /// The address of a thread's next allocation. Small objects of different sizes have no address in
    /// common, unless they are aligned to more than 16 bytes: the n-th allocation may be of another object
    /// in another execution, and what is learned of an address, as the size of atomic accesses, holds for
    /// all executions.
    pub fn next_allocation(&self, thread: usize, size: u64, align: u64) -> u64 {
        let class = size.div_ceil(16).min(LARGE);
        let offset = 16 * (class * class.saturating_sub(1) / 2);
        let slot = self.next(1 + 3 * thread, SLOT.max(align));
        (slot + offset).div_ceil(align.max(1)) * align.max(1)
    }

    /// Whether a thread's next allocation may have this size.
    pub fn has_room(&self, thread: usize, size: u64, align: u64) -> bool {
        let arena = 1 + 3 * thread;
        let end = self.arenas[arena]
            .next
            .saturating_add(2 * SLOT)
            .saturating_add(align.saturating_mul(2))
            .saturating_add(size);
        end >> Memory::SHIFT == self.arenas[arena].next >> Memory::SHIFT
    }

    pub fn next_local(&self, thread: usize, align: u64) -> u64 {
        self.next(2 + 3 * thread, align)
    }

    pub fn share(&mut self, base: u64, visibility: Visibility) {
        if let Ok(place) = self.locate(base) {
            self.object_mut(place).visibility = visibility;
        }
    }

    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.arenas
            .iter()
            .flat_map(|a| a.objects.iter().map(|o| &**o))
    }

    /// The thread's locals from number `mark` on.
    pub fn locals_from(&self, thread: usize, mark: usize) -> impl Iterator<Item = &Object> {
        let locals = &self.arenas[2 + 3 * thread].objects;
        locals[mark.min(locals.len())..].iter().map(|o| &**o)
    }

    /// For how many threads there are arenas.
    pub fn threads(&self) -> usize {
        self.arenas.len() / 3
    }

    /// `site` is that of the call that allocates.
    pub fn allocate(
        &mut self,
        thread: usize,
        size: u64,
        align: u64,
        zeroed: bool,
        site: SiteId,
    ) -> u64 {
        let named = Named::Heap(site, size);
        let arena = 1 + 3 * thread;
        let base = self.next_allocation(thread, size, align);
        Arc::make_mut(&mut self.arenas[arena]).next = base;
        self.add(arena, size, align, named, zeroed, false)
    }

    pub fn push_local(&mut self, thread: usize, local: &NewLocal) -> u64 {
        let named = Named::Local(local.local);
        let arena = 2 + 3 * thread;
        let base = self.add(arena, local.size, local.align, named, false, local.private);
        if let Ok(place) = self.locate(base) {
            let object = self.object_mut(place);
            object.site = local.site;
            object.idle = local.idle;
        }
        base
    }

    /// The number of the thread's locals.
    pub fn locals(&self, thread: usize) -> usize {
        self.arenas[2 + 3 * thread].objects.len()
    }

    /// Drops the locals from number `mark` on; calls `each` with the bytes of private ones.
    pub fn pop_locals(
        &mut self,
        thread: usize,
        mark: usize,
        mut each: impl FnMut(&Object, u64, u8),
    ) {
        if self.locals(thread) <= mark {
            return;
        }
        let arena = Arc::make_mut(&mut self.arenas[2 + 3 * thread]);
        for object in arena.objects.drain(mark..).rev() {
            match object.visibility {
                Visibility::Shared => arena.known = arena.next,
                _ => arena.next = object.base.max(arena.known),
            }
            for (address, byte) in object.stored() {
                self.hash ^= mixed(address, byte);
                if object.idle {
                    self.idle ^= mixed(address, byte);
                }
                if object.private {
                    each(&object, address, byte);
                }
            }
        }
    }

    /// A thread's copies of the thread-local variables.
    pub fn thread_locals(&self, thread: usize) -> impl Iterator<Item = &Object> {
        let objects = self.arenas.get(3 + 3 * thread).map(|a| &a.objects[..]);
        objects.unwrap_or_default().iter().map(|o| &**o)
    }

    /// The address of a thread's copy of a thread-local variable.
    pub fn thread_local(&self, thread: usize, global: u32) -> u64 {
        let named = Named::ThreadLocal(global);
        let found = self.thread_locals(thread).find(|o| o.named == named);
        found.map_or(0, |o| o.base)
    }

    /// Frees a heap object.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        let place = self.locate(address)?;
        let object = self.object(place);
        if !matches!(object.named, Named::Heap(..)) || object.base != address {
            return Err("free of a pointer that malloc did not return".to_string());
        }
        if object.freed {
            return Err("double free".to_string());
        }
        self.object_mut(place).freed = true;
        Ok(())
    }

    /// The lifetime of a local ends: what it contains is lost.
    pub fn end_local(&mut self, address: u64) {
        let Ok(place) = self.locate(address) else {
            return;
        };
        let object = self.object_mut(place);
        object.freed = true;
        let changed = object
            .stored()
            .fold(0, |hash, (address, byte)| hash ^ mixed(address, byte));
        let idle = object.idle;
        object.chunks = Vec::new();
        self.hash ^= changed;
        if idle {
            self.idle ^= changed;
        }
    }

    /// The lifetime of a local begins again.
    pub fn begin_local(&mut self, address: u64) {
        if let Ok(place) = self.locate(address) {
            self.object_mut(place).freed = false;
        }
    }

    pub fn object(&self, place: ResolvedAddress) -> &Object {
        &self.arenas[place.arena].objects[place.object]
    }

    pub(super) fn object_mut(&mut self, place: ResolvedAddress) -> &mut Object {
        let arena = Arc::make_mut(&mut self.arenas[place.arena]);
        Arc::make_mut(&mut arena.objects[place.object])
    }

    /// The object that an address is in, or just past the end of; also if it was freed.
    pub fn object_at(&self, address: u64) -> Option<&Object> {
        Some(self.object(self.locate(address).ok()?))
    }

    /// The zero-terminated text at an address.
    pub fn text(&self, address: u64) -> String {
        let bytes = (address..address.saturating_add(4096)).map(|at| self.word(at, 1) as u8);
        let text: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Whether an address is in a thread's heap, stack or thread-local variables.
    pub fn is_of_thread(address: u64) -> bool {
        matches!(address >> Memory::SHIFT >> 8, 1..=3)
    }

    /// Whether an address is in a thread's stack.
    pub fn is_of_stack(address: u64) -> bool {
        address >> Memory::SHIFT >> 8 == Area::Stack as u64
    }

    /// Whether an address is in a thread's copies of the thread-local variables.
    pub fn is_thread_local(address: u64) -> bool {
        address >> Memory::SHIFT >> 8 == Area::ThreadLocal as u64
    }

    pub fn thread_of(address: u64) -> usize {
        (address >> Memory::SHIFT & 0xff) as usize
    }

    /// Whether an address is in the memory of a thread other than main. Other numbers may look like
    /// addresses of more threads than there can be.
    pub fn names_thread(address: u64) -> bool {
        Memory::is_of_thread(address) && (1..MAX_THREADS).contains(&Memory::thread_of(address))
    }

    /// An address at the same place in another thread's memory.
    pub fn of_other_thread(address: u64) -> u64 {
        let most = MAX_THREADS - 1;
        let other = match Memory::thread_of(address) {
            0 => return address,
            thread if thread == most => 1,
            thread => most - thread,
        };
        (address & !(0xff << Memory::SHIFT)) | (other as u64) << Memory::SHIFT
    }

    /// Base and size of the object at an address.
    pub fn extent(&self, address: u64) -> Option<(u64, u32)> {
        let object = self.object(self.locate(address).ok()?);
        Some((object.base, object.size as u32))
    }

    fn locate(&self, address: u64) -> Result<ResolvedAddress, Fault> {
        let high = address >> Memory::SHIFT;
        let (area, thread) = ((high >> 8) as usize, (high & 0xff) as usize);
        let arena = match area {
            0 if thread == 0 => 0,
            1..=3 => area + 3 * thread,
            _ => usize::MAX,
        };
        if address < 4096 {
            return Err("access through a null pointer".to_string());
        }
        let outside = || format!("access to unallocated memory at {address:#x}");
        let Some(objects) = self.arenas.get(arena).map(|a| &a.objects) else {
            return Err(outside());
        };
        let after = objects.partition_point(|o| o.base <= address);
        match after.checked_sub(1).map(|k| (k, &objects[k])) {
            Some((k, object)) if address - object.base <= object.size => Ok(ResolvedAddress {
                arena,
                object: k,
                offset: address - object.base,
            }),
            _ => Err(outside()),
        }
    }

    pub fn find(&self, address: u64, size: u64) -> Result<ResolvedAddress, Fault> {
        let place = self.locate(address)?;
        let object = self.object(place);
        if object.freed {
            let message = match object.named {
                Named::Local(_) => USE_OF_ENDED_LOCAL,
                _ => "use after free",
            };
            return Err(message.to_string());
        }
        if place.offset + size > object.size {
            return Err(format!(
                "access to bytes {} to {} of an object of {} bytes",
                place.offset,
                place.offset + size,
                object.size
            ));
        }
        Ok(place)
    }

    /// The object that the program accesses, or an error message.
    pub fn access(
        &self,
        program: &Program,
        address: u64,
        size: u64,
        write: bool,
    ) -> Result<ResolvedAddress, Fault> {
        let place = self.find(address, size).map_err(|message| {
            // name the object if it is known
            match self.find(address, 0).map(|p| self.object(p).named) {
                Ok(Named::Global(k)) => {
                    format!("{message}, {}", program.globals[k as usize].name)
                }
                _ => message,
            }
        })?;
        if write && self.object(place).constant {
            return Err("write to a constant".to_string());
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, Memory, MAX_THREADS};

    #[test]
    fn a_number_beyond_all_threads_names_none() {
        let of = |thread: usize| {
            (Area::Stack as u64) << 8 << Memory::SHIFT | (thread as u64) << Memory::SHIFT
        };
        assert!(Memory::names_thread(of(1)) && Memory::names_thread(of(MAX_THREADS - 1)));
        for thread in [0, MAX_THREADS, 255] {
            assert!(!Memory::names_thread(of(thread)), "{thread}");
        }
    }
}
