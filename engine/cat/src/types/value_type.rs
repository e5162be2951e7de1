//! The types of values.

/// The static type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `{}`, of every type.
    Nothing,
    /// `_`, of every type.
    Universe,
    Set,
    Relation,
    /// Not static, or a fault.
    Dynamic,
}

/// What a graph gives under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputType {
    Set,
    Relation,
    /// A set or relation that is empty in every graph.
    Nothing,
}
