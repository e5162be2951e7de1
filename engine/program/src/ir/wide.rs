//! Values of 16 bytes, as 16-byte atomics read and write them: each is one number of 64 bits.
//!
//! A value below 2⁶² is its own number; others are numbered as they are met, in the whole process.
//! Equal numbers are equal values, which is what the explorer needs of a value.
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The size of a wide value in bytes.
pub const SIZE: u32 = 16;
const NUMBERED: u64 = 1 << 63;
const SMALL: u64 = 1 << 62;

#[derive(Default)]
struct Table {
    values: Vec<u128>,
    numbers: FxHashMap<u128, u64>,
}

fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(Mutex::default)
}

pub fn pack(value: u128) -> u64 {
    if value < u128::from(SMALL) {
        return value as u64;
    }
    let mut table = table().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = table.numbers.get(&value) {
        return *known;
    }
    let number = NUMBERED | table.values.len() as u64;
    table.values.push(value);
    table.numbers.insert(value, number);
    number
}

pub fn unpack(number: u64) -> u128 {
    if number & NUMBERED == 0 {
        return number.into();
    }
    let table = table().lock().unwrap_or_else(PoisonError::into_inner);
    let known = table.values.get((number & !NUMBERED) as usize);
    known.copied().unwrap_or_default()
}

pub fn from_halves(low: u64, high: u64) -> u64 {
    pack(u128::from(high) << 64 | u128::from(low))
}

pub fn halves(number: u64) -> (u64, u64) {
    let value = unpack(number);
    (value as u64, (value >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_number_and_a_number_one_value() {
        for value in [0, 7, 1 << 62, 1 << 63, u128::MAX, (5 << 64) | 3] {
            assert_eq!(unpack(pack(value)), value);
            assert_eq!(pack(value), pack(value));
        }
        assert_eq!(pack(42), 42);
        assert_ne!(pack(1 << 64), pack(2 << 64));
        assert_eq!(halves(from_halves(3, 5)), (3, 5));
    }
}
