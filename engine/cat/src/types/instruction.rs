//! Instructions on rows of bits.

/// The index of a set among sets, or of a relation among relations. The slots of an operation's
/// operands precede its own.
pub type Slot = u32;

/// The slot of the value that is empty in every graph.
pub const NOTHING: Slot = 0;

/// Slots of constant sets.
pub const NO_EVENTS: Slot = NOTHING;

pub const ALL_EVENTS: Slot = 1;

/// Slots of constant relations.
pub const NO_PAIRS: Slot = NOTHING;

pub const ALL_PAIRS: Slot = 1;

pub const IDENTITY: Slot = 2;

/// Computes a value into the operation's slot from the values in other slots.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// Nothing to compute: the value is already in its slot.
    None,
    /// Computed by the operators on values.
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
    /// And whether the second relation is known to be transitive.
    Sequence(Slot, Slot, bool),
    Restrict(Option<Slot>, Slot, Option<Slot>),
    Identity(Slot),
    Inverse(Slot),
    Plus(Slot),
    Star(Slot),
    Optional(Slot),
    /// The least fixpoint of a group of relations and sets.
    Fix(u32),
    /// A name of a fixpoint, which is in its slot once the fixpoint is computed.
    Item,
}

impl Instruction {
    /// Whether the value is empty, given which operands are known to be empty.
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
            Instruction::Intersection(a, b) | Instruction::Sequence(a, b, _) => {
                pairs(*a) || pairs(*b)
            }
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
