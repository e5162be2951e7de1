//! Whether operations relate accesses or their parts ([`super::parts`]).

/// What an operation relates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// Parts or accesses: a set, or a relation that has all parts of an access, or none.
    #[default]
    Any,
    Parts,
    Accesses,
}

impl Grain {
    /// That of a set or relation of the input. herd7 names sets with capital letters.
    pub fn of_given(name: &str) -> Grain {
        match name {
            "rf" | "loc" | "rmw" => Grain::Parts,
            "id" | "int" | "ext" => Grain::Any,
            name if name.starts_with(|c: char| c.is_ascii_lowercase()) => Grain::Accesses,
            _ => Grain::Any,
        }
    }
}

/// The grain of each operation, and the relation between the parts of an access.
pub struct Parts {
    pub same_access: u32,
    pub grains: Vec<Grain>,
}
