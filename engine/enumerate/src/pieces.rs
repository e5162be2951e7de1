//! Tests whose accesses have mixed sizes, as herd7's variant `mixed` takes them: memory is divided
//! into pieces of the smallest size that an access or a location of the test has, and an access is
//! an event for each of its pieces. Pieces have reads-from and coherence of their own; `sm` relates
//! those of one access, and a model that does not use it does not apply to such tests.
//!
//! Alglave, Deacon, Grisenthwaite, Hacquard, Maranget: "Armed Cats", TOPLAS 2021; Flur et
//! al.: "Mixed-size concurrency: ARM, POWER, C/C++11, and SC", POPL 2017.

use crate::error::EnumerateError;
use litmus::value::{Address, Op, Value};
use litmus::{Observable, Program, Test};

/// The bits of the pieces of a test that is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceBits(pub i64);

/// The initial value of a location, or of a piece of one.
#[derive(Clone, Copy, Debug)]
pub struct InitialWrite {
    pub at: Address,
    pub value: Value,
    /// The number of the location that it is a piece of.
    pub access: Option<usize>,
}

impl PieceBits {
    /// Those of the smallest access or location. None if the dialect has no accesses of mixed sizes,
    /// the size of an access is not known, values have more than 64 bits, or an atomic or ordered
    /// access is one of two registers.
    pub fn of(test: &Test) -> Option<PieceBits> {
        let Program::Assembly(threads) = &test.program else {
            return None;
        };
        let mut smallest = 64;
        for thread in threads {
            for (instruction, bits) in thread.instructions.iter().zip(&thread.access_bits) {
                if instruction.is_atomic_pair() {
                    return None;
                }
                if instruction.accesses_memory() {
                    smallest = smallest.min((*bits)?);
                }
            }
        }
        let smallest = test.types.sizes().fold(smallest, i64::min);
        let supported = test.dialect.mixed_sizes && test.types.sizes().all(|bits| bits <= 64);
        supported.then_some(PieceBits(smallest))
    }

    /// The addresses of the pieces of a location, or of an element of an array.
    pub fn addresses(self, test: &Test, at: Address) -> impl Iterator<Item = Address> {
        let bits = i64::from(test.types.of(&Observable::Memory(at)).bits);
        let count = (bits / self.0).max(1);
        (0..count).map(move |number| Address {
            offset: at.offset + number * self.0 / 8,
            ..at
        })
    }

    /// The initial values of all pieces. An error if locations overlap.
    pub fn initial(self, test: &Test) -> Result<Vec<InitialWrite>, EnumerateError> {
        let mut all: Vec<InitialWrite> = Vec::new();
        for (number, (at, value)) in test.initial_values().enumerate() {
            let pieces: Vec<Address> = self.addresses(test, at).collect();
            for (shift, piece) in (0..).step_by(self.0 as usize).zip(&pieces) {
                let split = || {
                    let rest = Op::ShiftRight.apply(value, Value::Int(shift))?;
                    Op::Mask.apply(rest, Value::Int(self.0))
                };
                let value = match pieces.len() {
                    1 => value,
                    _ => split().map_err(|_| EnumerateError::NoResult)?,
                };
                all.push(InitialWrite {
                    at: *piece,
                    value,
                    access: Some(number),
                });
            }
        }
        let mut addresses: Vec<Address> = all.iter().map(|write| write.at).collect();
        addresses.sort_unstable();
        match addresses.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(EnumerateError::Unaligned(test.printer().address(pair[0]))),
            None => Ok(all),
        }
    }

    /// The value that these pieces form, the first at the lowest address.
    pub fn join(self, pieces: &[Value]) -> Value {
        if let [single] = pieces {
            return *single;
        }
        let mut whole = 0;
        for (shift, piece) in (0..64).step_by(self.0 as usize).zip(pieces) {
            match piece {
                Value::Int(part) => whole |= part << shift,
                other => return *other,
            }
        }
        Value::Int(whole)
    }
}

/// Whether an access of so many bits lies within its location, at a multiple of its size, as herd7
/// requires.
pub fn is_aligned(test: &Test, at: Address, bits: i64) -> bool {
    let size = bits / 8;
    at.offset >= 0 && at.offset % size == 0 && at.offset + size <= test.types.bytes(at.name)
}

/// Whether so many bits hold the initial value of a location, which is the whole of it. herd7 ignores
/// the rest in the dialects in which it does not split accesses.
pub fn holds(test: &Test, at: Address, value: Value, bits: i64) -> bool {
    if !test.dialect.mixed_sizes {
        return true;
    }
    let of = test.types.of(&Observable::Memory(at));
    let value = of.unsigned().cast(value);
    Op::ExactMask.apply(value, Value::Int(bits)).is_ok()
}
