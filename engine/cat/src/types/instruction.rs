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
pub enum Instruction {
    /// Nothing to do: the value stands there already.
    None,
    /// Left to the operators on values.
    OnValues,
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

impl Instruction {
    /// Whether this gives nothing, given which operands are known to be empty.
    pub fn yields_empty(
        &self,
        events: &dyn Fn(Slot) -> bool,
        pairs: &dyn Fn(Slot) -> bool,
    ) -> bool {
        match self {
            Instruction::SetUnion(items) => items.iter().all(|item| events(*item)),
            Instruction::SetIntersection(a, b) | Instruction::Product(a, b) => {
                events(*a) || events(*b)
            }
            Instruction::SetDifference(a, _) | Instruction::Identity(a) => events(*a),
            Instruction::Union(items) => items.iter().all(|item| pairs(*item)),
            Instruction::Intersection(a, b) | Instruction::Sequence(a, b) => pairs(*a) || pairs(*b),
            Instruction::Difference(a, _)
            | Instruction::Domain(a)
            | Instruction::Range(a)
            | Instruction::Inverse(a)
            | Instruction::Plus(a) => pairs(*a),
            Instruction::Restrict(from, inner, to) => {
                pairs(*inner) || from.iter().chain(to).any(|side| events(*side))
            }
            _ => false,
        }
    }
}
