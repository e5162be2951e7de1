//! What final states give values to.

use super::types::Array;
use super::value::Address;

/// A register or a location, to which a final state gives a value; an array has one per element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observable {
    Register {
        thread: usize,
        name: String,
    },
    Memory(Address),
    /// `v[2]`
    Element {
        at: Address,
        index: u32,
    },
    /// `v`, declared as an array
    Array {
        at: Address,
        of: Array,
    },
}

impl Observable {
    /// The shared locations whose values it has.
    pub fn addresses(&self) -> Vec<Address> {
        match self {
            Observable::Register { .. } => Vec::new(),
            Observable::Memory(at) | Observable::Element { at, .. } => vec![*at],
            Observable::Array { at, of } => {
                let element = |i: u32| Address {
                    offset: at.offset + i64::from(i) * of.element.bytes(),
                    ..*at
                };
                (0..of.count).map(element).collect()
            }
        }
    }

    /// The number of its values.
    pub fn count(&self) -> usize {
        match self {
            Observable::Array { of, .. } => of.count as usize,
            _ => 1,
        }
    }

    /// What it consists of: the elements of an array, or itself.
    pub fn parts(&self) -> Vec<Observable> {
        match self {
            Observable::Array { .. } => {
                let elements = self.addresses().into_iter().zip(0..);
                let part = |(at, index)| Observable::Element { at, index };
                elements.map(part).collect()
            }
            single => vec![single.clone()],
        }
    }
}
