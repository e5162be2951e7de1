//! Instructions on rows of bits.

/// The place of a set among sets, of a relation among relations. Those of an operation's
/// operands are before its own.
pub type Slot = u32;

/// The slot of what is empty in every graph, among sets and among relations.
pub const NOTHING: Slot = 0;

/// Slots of sets that never change.
pub const NO_EVENTS: Slot = NOTHING;

pub const ALL_EVENTS: Slot = 1;

/// Slots of relations that never change.
pub const NO_PAIRS: Slot = NOTHING;

pub const ALL_PAIRS: Slot = 1;

pub const IDENTITY: Slot = 2;

/// Computes a value into the operation's slot from those in other slots.
#[derive(Clone, Debug)]
pub enum Instr {
    /// Nothing to do: the value stands there already.
    None,
    /// Left to the operators on values.
    Any,
    SetUnion(Box<[Slot]>),
    SetIntersection(Slot, Slot),
    SetDifference(Slot, Slot),
    SetComplement(Slot),
    Domain(Slot),
    Range(Slot),
    Union(Box<[Slot]>),
    Intersection(Slot, Slot),
    Difference(Slot, Slot),
    Complement(Slot),
    Product(Slot, Slot),
    Sequence(Slot, Slot),
    Restrict(Option<Slot>, Slot, Option<Slot>),
    Identity(Slot),
    Inverse(Slot),
    Plus(Slot),
    Star(Slot),
    Optional(Slot),
    /// The least fixpoint of a group of relations and sets.
    Fix(u32),
    /// A name of a fixpoint, which stands in its slot once the fixpoint is computed.
    Item,
}

impl Instr {
    /// Whether this gives nothing, given which operands are known to be empty.
    pub fn comes_to_nothing(
        &self,
        events: &dyn Fn(Slot) -> bool,
        pairs: &dyn Fn(Slot) -> bool,
    ) -> bool {
        match self {
            Instr::SetUnion(items) => items.iter().all(|item| events(*item)),
            Instr::SetIntersection(a, b) | Instr::Product(a, b) => events(*a) || events(*b),
            Instr::SetDifference(a, _) | Instr::Identity(a) => events(*a),
            Instr::Union(items) => items.iter().all(|item| pairs(*item)),
            Instr::Intersection(a, b) | Instr::Sequence(a, b) => pairs(*a) || pairs(*b),
            Instr::Difference(a, _)
            | Instr::Domain(a)
            | Instr::Range(a)
            | Instr::Inverse(a)
            | Instr::Plus(a) => pairs(*a),
            Instr::Restrict(from, inner, to) => {
                pairs(*inner) || from.iter().chain(to).any(|side| events(*side))
            }
            _ => false,
        }
    }
}
