//! What is in memory: bytes, and numbers made of them.
use crate::ir::wide;
use crate::memory::address_space::{Memory, ResolvedAddress};
use crate::memory::value::{Byte, Dep, Val};

impl Memory {
    /// Reads up to 8 bytes, or 16, as a number. Indeterminate bytes are zeros, and marked; of 16, if
    /// all are.
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
            let mut value = Val::new(bits, union(low.dep, high.dep));
            if low.undefined & high.undefined == u8::MAX {
                value.undefined = u8::MAX;
            }
            return value;
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
        if !object.are_written(place.offset, size.into()) {
            let unwritten = |k: &u32| !object.is_written(place.offset + u64::from(*k), 1);
            value.undefined = (0..size.min(8))
                .filter(unwritten)
                .fold(0, |set, k| set | 1 << k);
        }
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

    pub fn bytes(&self, place: ResolvedAddress, size: u64) -> Vec<Byte> {
        let object = self.object(place);
        let whole = object.are_written(place.offset, size);
        let byte = |offset| {
            let (value, dep) = object.byte(offset);
            Byte {
                value,
                dep,
                undefined: !whole && !object.is_written(offset, 1),
            }
        };
        (place.offset..place.offset + size).map(byte).collect()
    }

    pub fn write_bytes(&mut self, place: ResolvedAddress, bytes: &[Byte]) {
        let object = self.object_mut(place);
        let mut changed = 0;
        for (k, byte) in bytes.iter().enumerate() {
            let offset = place.offset + k as u64;
            changed ^= match byte.undefined {
                true => object.unset_byte(offset),
                false => object.set_byte(offset, byte.value, byte.dep),
            };
        }
        if object.idle {
            self.idle ^= changed;
        }
        self.hash ^= changed;
    }
}
