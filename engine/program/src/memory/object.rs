//! Objects: bytes with their dependencies, in chunks that clones share until they are written.
use super::hash::mixed;
use super::value::Dep;
use crate::ir::instruction::SiteId;
use borsh::{BorshDeserialize, BorshSerialize};
use std::sync::Arc;

const CHUNK: usize = 128;

#[derive(Debug, Clone)]
pub struct Chunk {
    bytes: [u8; CHUNK],
    written: u128,
    /// The bytes that became indeterminate.
    unset: u128,
    deps: Option<Box<[Dep; CHUNK]>>,
}

/// The kind of an object, and which variable it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Named {
    Nothing,
    Global(u32),
    /// Allocated by the call at that site; the size in bytes.
    Heap(SiteId, u64),
    Local(u32),
    ThreadLocal(u32),
}

/// Which threads may use an object, as the explorer needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Only the thread that this memory belongs to.
    ThisThread,
    /// At most one thread; the number identifies the object.
    OneThread(u32),
    Shared,
}

/// A local variable that comes into scope.
pub struct NewLocal {
    pub size: u64,
    pub align: u64,
    /// Index into `Program::locals`.
    pub local: u32,
    pub private: bool,
    /// Nothing that the program does depends on its contents.
    pub idle: bool,
    pub site: SiteId,
}

#[derive(Debug, Clone)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    pub named: Named,
    pub freed: bool,
    pub constant: bool,
    /// A local variable whose address does not escape.
    pub private: bool,
    /// See [`NewLocal`].
    pub idle: bool,
    pub visibility: Visibility,
    /// The site of a local variable's declaration.
    pub site: SiteId,
    /// Uninitialised bytes are initialised zeros.
    pub zeroed: bool,
    pub chunks: Vec<Option<Arc<Chunk>>>,
}

impl Object {
    /// A byte, and its dependencies.
    pub fn byte(&self, offset: u64) -> (u8, Dep) {
        let (chunk, at) = (offset as usize / CHUNK, offset as usize % CHUNK);
        match self.chunks.get(chunk) {
            Some(Some(chunk)) => (
                chunk.bytes[at],
                chunk.deps.as_ref().map_or(0, |deps| deps[at]),
            ),
            _ => (0, 0),
        }
    }

    /// Writes a byte; returns how the hash of memory changes.
    pub fn set_byte(&mut self, offset: u64, byte: u8, dep: Dep) -> u64 {
        let (chunk, at) = (offset as usize / CHUNK, offset as usize % CHUNK);
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, None);
        }
        let slot = self.chunks[chunk].get_or_insert_with(|| {
            Arc::new(Chunk {
                bytes: [0; CHUNK],
                written: 0,
                unset: 0,
                deps: None,
            })
        });
        let chunk = Arc::make_mut(slot);
        let address = self.base + offset;
        let changed = mixed(address, chunk.bytes[at]) ^ mixed(address, byte);
        chunk.bytes[at] = byte;
        chunk.written |= 1 << at;
        chunk.unset &= !(1 << at);
        if dep != 0 {
            chunk.deps.get_or_insert_with(|| Box::new([0; CHUNK]))[at] = dep;
        } else if let Some(deps) = &mut chunk.deps {
            deps[at] = 0;
        }
        changed
    }

    /// A byte becomes indeterminate; returns how the hash of memory changes.
    pub fn unset_byte(&mut self, offset: u64) -> u64 {
        let changed = self.set_byte(offset, 0, 0);
        if let Some(Some(chunk)) = self.chunks.get_mut(offset as usize / CHUNK) {
            let chunk = Arc::make_mut(chunk);
            chunk.written &= !(1 << (offset as usize % CHUNK));
            chunk.unset |= 1 << (offset as usize % CHUNK);
        }
        changed
    }

    /// Whether some of the bytes are initialised.
    pub fn is_written(&self, offset: u64, size: u32) -> bool {
        (offset..offset + u64::from(size)).any(|offset| {
            let (chunk, at) = (offset as usize / CHUNK, offset as usize % CHUNK);
            match self.chunks.get(chunk) {
                Some(Some(c)) => match self.zeroed {
                    true => c.unset >> at & 1 == 0,
                    false => c.written >> at & 1 == 1,
                },
                _ => self.zeroed,
            }
        })
    }

    /// Whether all bytes are initialised.
    pub fn are_written(&self, offset: u64, size: u64) -> bool {
        let (chunk, at) = (offset as usize / CHUNK, offset as usize % CHUNK);
        if at + size as usize > CHUNK {
            return (offset..offset + size).all(|offset| self.is_written(offset, 1));
        }
        let bytes = u128::MAX.checked_shr((CHUNK as u64 - size) as u32);
        let bytes = bytes.unwrap_or(0) << at.min(CHUNK - 1);
        match self.chunks.get(chunk) {
            Some(Some(c)) if self.zeroed => c.unset & bytes == 0,
            Some(Some(c)) => c.written & bytes == bytes,
            _ => self.zeroed || size == 0,
        }
    }

    /// The bytes in chunks, with their addresses.
    pub fn stored(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        let bytes = self.chunks.iter().enumerate().flat_map(|(k, chunk)| {
            let bytes = chunk.iter().flat_map(|c| c.bytes.iter().enumerate());
            bytes.map(move |(offset, byte)| (k * CHUNK + offset, *byte))
        });
        bytes.map(|(offset, byte)| (self.base + offset as u64, byte))
    }
}

/// The chunks of an object that starts with these bytes.
pub fn chunks(image: &[u8]) -> Vec<Option<Arc<Chunk>>> {
    image
        .chunks(CHUNK)
        .map(|part| {
            let mut bytes = [0; CHUNK];
            bytes[..part.len()].copy_from_slice(part);
            Some(Arc::new(Chunk {
                bytes,
                written: u128::MAX,
                unset: 0,
                deps: None,
            }))
        })
        .collect()
}
