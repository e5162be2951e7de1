//! The types of exceptions: which of them a handler catches.
//!
//! Types are known by their type information, as the Itanium C++ ABI lays it out (2.9.5).
use super::instruction::TypeInfoId;
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeInfo {
    /// The mangled name of its type information, without what linking appends.
    pub name: String,
    pub kind: TypeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    /// A class with its public bases: their offsets, or None for one that is virtual.
    Class(Vec<(TypeInfoId, Option<u64>)>),
    Pointer,
    /// Another type: it is only itself.
    Plain,
    /// Declared, not defined: its bases are not known.
    Unknown,
}

#[derive(Debug, Clone, Default)]
pub struct Exceptions {
    pub types: Vec<TypeInfo>,
    pub by_name: FxHashMap<String, TypeInfoId>,
    pub by_address: FxHashMap<u64, TypeInfoId>,
}

/// How a handler relates to a type that is thrown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Catch {
    No,
    /// The handler gets the object at this offset, or what a pointer points to.
    At(u64),
    /// This is not modelled.
    Unclear,
}

/// What a landing pad's second result says of the handler: the type that it is for, None for any.
pub fn selector(id: Option<TypeInfoId>) -> u64 {
    id.map_or(1, |id| u64::from(id) + 2)
}

/// That result where a landing pad only cleans up.
pub const CLEANUP: u64 = 0;

impl Exceptions {
    /// The number of a type by the mangled name of its type information.
    pub fn id(&mut self, name: &str) -> TypeInfoId {
        let name = name.split('.').next().unwrap_or(name);
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let id = self.types.len() as TypeInfoId;
        let kind = match name.strip_prefix("_ZTI") {
            Some(rest) if rest.starts_with('P') => TypeKind::Pointer,
            // fundamental types have one letter
            Some(rest) if rest.len() == 1 => TypeKind::Plain,
            _ => TypeKind::Unknown,
        };
        self.types.push(TypeInfo {
            name: name.to_string(),
            kind,
        });
        self.by_name.insert(name.to_string(), id);
        id
    }

    /// Whether a handler of type `handler` catches an object of type `thrown`
    /// ([except.handle] in the C++ standard).
    pub fn catches(&self, handler: TypeInfoId, thrown: TypeInfoId) -> Catch {
        if handler == thrown {
            return Catch::At(0);
        }
        match (
            &self.types[handler as usize].kind,
            &self.types[thrown as usize].kind,
        ) {
            // a conversion of pointers or of their qualifiers
            (TypeKind::Pointer, TypeKind::Pointer) => Catch::Unclear,
            (TypeKind::Class(_) | TypeKind::Unknown, TypeKind::Unknown) => Catch::Unclear,
            (_, TypeKind::Class(bases)) => {
                let mut found = Catch::No;
                for (base, offset) in bases {
                    match (self.catches(handler, *base), offset) {
                        (Catch::No, _) => {}
                        (Catch::At(at), Some(offset)) if found == Catch::No => {
                            found = Catch::At(at + offset);
                        }
                        // ambiguous, or a virtual base, whose offset is in the object
                        _ => return Catch::Unclear,
                    }
                }
                found
            }
            _ => Catch::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_of_a_base_catches_a_derived_class_at_the_offset_of_the_base() {
        let mut all = Exceptions::default();
        let (base, other) = (all.id("_ZTI4Base"), all.id("_ZTI5Other"));
        let derived = all.id("_ZTI7Derived.3");
        all.types[base as usize].kind = TypeKind::Class(Vec::new());
        all.types[other as usize].kind = TypeKind::Class(Vec::new());
        all.types[derived as usize].kind = TypeKind::Class(vec![(base, Some(8))]);
        assert_eq!(all.catches(base, derived), Catch::At(8));
        assert_eq!(all.catches(derived, base), Catch::No);
        assert_eq!(all.catches(other, derived), Catch::No);
        assert_eq!(all.id("_ZTI7Derived"), derived);
        let (int, text) = (all.id("_ZTIi"), all.id("_ZTIPKc"));
        assert_eq!(all.catches(int, text), Catch::No);
        assert_eq!(all.catches(base, int), Catch::No);
    }
}
