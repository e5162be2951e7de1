//! What the initial state declares: the types of locations and registers.

use super::observable::Observable;
use super::types::{Array, Type};
use rustc_hash::FxHashMap;

/// What a name is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaration {
    Scalar(Type),
    /// A pointer to values of the type.
    Pointer(Type),
    Array(Array),
}

#[derive(Clone, Debug, Default)]
pub struct Types {
    /// By index into the test's location names.
    pub locations: FxHashMap<u32, Declaration>,
    /// By thread and name.
    pub registers: FxHashMap<usize, FxHashMap<String, Declaration>>,
}

impl Types {
    pub fn array(&self, name: u32) -> Option<Array> {
        match self.locations.get(&name) {
            Some(Declaration::Array(array)) => Some(*array),
            _ => None,
        }
    }

    /// The bits of the values of declared locations.
    pub fn sizes(&self) -> impl Iterator<Item = i64> + '_ {
        let of = |declared: &Declaration| match declared {
            Declaration::Scalar(of) => of.bits,
            Declaration::Pointer(_) => Type::POINTER.bits,
            Declaration::Array(array) => array.element.bits,
        };
        self.locations.values().map(move |d| i64::from(of(d)))
    }

    /// The bytes of a location, by its name.
    pub fn bytes(&self, name: u32) -> i64 {
        match self.locations.get(&name) {
            None => Type::INT.bytes(),
            Some(Declaration::Scalar(of)) => of.bytes(),
            Some(Declaration::Pointer(_)) => Type::POINTER.bytes(),
            Some(Declaration::Array(array)) => array.element.bytes() * i64::from(array.count),
        }
    }

    /// The type of an observable, or of its elements.
    pub fn of(&self, observable: &Observable) -> Type {
        let declared = match observable {
            Observable::Register { thread, name } => {
                let declared = self.registers.get(thread);
                declared.and_then(|of| of.get(name)).copied()
            }
            Observable::Memory(at) | Observable::Element { at, .. } => {
                self.locations.get(&at.name).copied()
            }
            Observable::Array { of, .. } => return of.element,
        };
        match (declared, observable) {
            (None, _) => Type::INT,
            (Some(Declaration::Scalar(of)), _) => of,
            (Some(Declaration::Array(array)), _) => array.element,
            (Some(Declaration::Pointer(of)), Observable::Element { .. }) => of,
            (Some(Declaration::Pointer(_)), _) => Type::POINTER,
        }
    }
}
