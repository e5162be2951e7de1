//! The types of values. A type does not change how a
//! test executes: values have 64 bits everywhere. As in herd7, it determines the distance between
//! the elements of an array, how a final value is printed, and the bits of it that a condition
//! compares.

use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub bits: u32,
    pub signed: bool,
}

impl Type {
    /// That of whatever has no declaration.
    pub const INT: Type = Type::new(32, true);
    pub const POINTER: Type = Type::new(64, false);

    const fn new(bits: u32, signed: bool) -> Type {
        Type { bits, signed }
    }

    /// The type of this name, with the size and the sign that herd7 gives it.
    pub fn named(name: &str) -> Option<Type> {
        let (bits, signed) = match name {
            "int" | "long" | "int32_t" | "atomic_int" => (32, true),
            "uint32_t" | "atomic_t" => (32, false),
            "char" | "int8_t" => (8, true),
            "uint8_t" => (8, false),
            "short" | "int16_t" => (16, true),
            "uint16_t" => (16, false),
            "int64_t" | "intptr_t" => (64, true),
            "uint64_t" | "uintptr_t" => (64, false),
            "__int128" | "int128_t" => (128, true),
            "__int128_t" | "__uint128_t" | "__uint128" | "uint128_t" => (128, false),
            _ => return None,
        };
        Some(Type::new(bits, signed))
    }

    /// The type of the same size without a sign.
    pub fn unsigned(self) -> Type {
        Type {
            signed: false,
            ..self
        }
    }

    pub fn bytes(self) -> i64 {
        i64::from(self.bits / 8)
    }

    /// The part of a value that the type holds.
    pub fn cast(self, value: Value) -> Value {
        match value {
            Value::Int(n) if self.bits < 64 => {
                let spare = 64 - self.bits;
                Value::Int(match self.signed {
                    true => (n << spare) >> spare,
                    false => (((n as u64) << spare) >> spare) as i64,
                })
            }
            other => other,
        }
    }

    /// A value of this type is printed as a number without a sign.
    pub fn is_unsigned_word(self) -> bool {
        self.bits >= 64 && !self.signed
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    pub element: Type,
    pub count: u32,
}
