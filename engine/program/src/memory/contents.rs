//! What is in memory: bytes, and numbers made of them.
use crate::ir::wide;
use crate::memory::address_space::{Memory, ResolvedAddress};
use crate::memory::value::{Dep, Val};

impl Memory {
    /// Reads up to 8 bytes, or 16, as a number. Uninitialised bytes are zeros.
    pub fn read(
        &self,
        place: ResolvedAddress,
        size: u32,
        mut union: impl FnMut(Dep, Dep) -> Dep,
    ) -> Val {
        self.read_with(place, size, &mut union)
    }

    fn read_with(
        &self,
        place: ResolvedAddress,
        size: u32,
        union: &mut dyn FnMut(Dep, Dep) -> Dep,
    ) -> Val {
        if size == wide::SIZE {
            let rest = ResolvedAddress {
                offset: place.offset + 8,
                ..place
            };
            let low = self.read_with(place, 8, union);
            let high = self.read_with(rest, 8, union);
            let bits = wide::from_halves(low.bits, high.bits);
            return Val::new(bits, union(low.dep, high.dep));
        }
        let object = self.object(place);
        let mut value = Val::default();
        let (mut last, mut bits) = (0, 0u64);
        for k in (0..u64::from(size.min(8))).rev() {
            let (byte, dep) = object.byte(place.offset + k);
            bits = bits << 8 | u64::from(byte);
            if dep != last {
                last = dep;
                value.dep = union(value.dep, dep);
            }
        }
        value.bits = bits;
        value
    }

    /// The number at an address, 0 if it is in no object: for objects of the library.
    pub fn word(&self, address: u64, size: u32) -> u64 {
        if size == wide::SIZE {
            return wide::from_halves(self.word(address, 8), self.word(address + 8, 8));
        }
        match self.find(address, u64::from(size)) {
            Ok(place) => {
                let object = self.object(place);
                (0..u64::from(size.min(8))).rev().fold(0, |bits, k| {
                    bits << 8 | u64::from(object.byte(place.offset + k).0)
                })
            }
            Err(_) => 0,
        }
    }

    /// Whether some of the bytes are initialised: a structure read as one number may have padding.
    pub fn written(&self, place: ResolvedAddress, size: u32) -> bool {
        self.object(place).is_written(place.offset, size)
    }

    /// Which of these bytes are indeterminate; empty if none is.
    pub fn unset(&self, place: ResolvedAddress, size: u64) -> Vec<bool> {
        let object = self.object(place);
        let unset: Vec<bool> = (0..size)
            .map(|k| !object.is_written(place.offset + k, 1))
            .collect();
        match unset.contains(&true) {
            true => unset,
            false => Vec::new(),
        }
    }

    /// Makes the bytes that are marked indeterminate.
    pub fn unset_bytes(&mut self, place: ResolvedAddress, unset: &[bool]) {
        if unset.is_empty() {
            return;
        }
        let object = self.object_mut(place);
        let mut changed = 0;
        for (k, _) in unset.iter().enumerate().filter(|(_, unset)| **unset) {
            changed ^= object.unset_byte(place.offset + k as u64);
        }
        if object.idle {
            self.idle ^= changed;
        }
        self.hash ^= changed;
    }

    /// Writes up to 8 bytes, or 16; returns how the hash of memory changes.
    pub fn write(&mut self, place: ResolvedAddress, size: u32, value: Val) -> u64 {
        if size == wide::SIZE {
            let (low, high) = wide::halves(value.bits);
            let rest = ResolvedAddress {
                offset: place.offset + 8,
                ..place
            };
            let changed = self.write(place, 8, Val { bits: low, ..value });
            return changed
                ^ self.write(
                    rest,
                    8,
                    Val {
                        bits: high,
                        ..value
                    },
                );
        }
        let object = self.object_mut(place);
        let mut changed = 0;
        for k in 0..u64::from(size.min(8)) {
            let byte = (value.bits >> (8 * k)) as u8;
            changed ^= match value.undefined >> k & 1 {
                1 => object.unset_byte(place.offset + k),
                _ => object.set_byte(place.offset + k, byte, value.dep),
            };
        }
        if object.idle {
            self.idle ^= changed;
        }
        self.hash ^= changed;
        changed
    }

    pub fn bytes(&self, place: ResolvedAddress, size: u64) -> Vec<(u8, Dep)> {
        let object = self.object(place);
        (0..size).map(|k| object.byte(place.offset + k)).collect()
    }

    pub fn write_bytes(&mut self, place: ResolvedAddress, bytes: &[(u8, Dep)]) {
        let object = self.object_mut(place);
        let mut changed = 0;
        for (k, (byte, dep)) in bytes.iter().enumerate() {
            changed ^= object.set_byte(place.offset + k as u64, *byte, *dep);
        }
        if object.idle {
            self.idle ^= changed;
        }
        self.hash ^= changed;
    }
}
