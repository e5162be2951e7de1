//! Polarity: whether a value only grows, or only shrinks, as the relations that are not yet known
//! grow.
use super::builtin::Builtin;
use super::operation::{Op, Operations};
use crate::syntax::ast::*;

/// The change of a value while the unknown relations grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polarity {
    /// It only grows.
    pub up: bool,
    /// It only shrinks.
    pub down: bool,
}

const FIXED: Polarity = Polarity {
    up: true,
    down: true,
};
const GROWS: Polarity = Polarity {
    up: true,
    down: false,
};
const UNKNOWN: Polarity = Polarity {
    up: false,
    down: false,
};

/// The polarity of every operation in rf, the final writes and the choices. `fixed` are the
/// operations that do not depend on the unknown ones.
pub fn polarities(operations: &Operations, fixed: &dyn Fn(u32) -> bool) -> Vec<Polarity> {
    let mut found: Vec<Polarity> = Vec::with_capacity(operations.all.len());
    for (id, node) in operations.all.iter().enumerate() {
        let of = |id: u32| found[id as usize];
        let both = |a: Polarity, b: Polarity| Polarity {
            up: a.up && b.up,
            down: a.down && b.down,
        };
        let all = || {
            let mut polarity = FIXED;
            operations.operands(&node.op, &mut |operand| {
                polarity = both(polarity, of(operand))
            });
            polarity
        };
        let polarity = match &node.op {
            _ if node.group == 0 && fixed(id as u32) => FIXED,
            Op::ReadsFrom | Op::Finals | Op::Choice(_) | Op::Variable(..) => GROWS,
            Op::Unary(Unary::Complement, a) => {
                let a = of(*a);
                Polarity {
                    up: a.down,
                    down: a.up,
                }
            }
            Op::Binary(Binary::Difference, a, b) => {
                let (a, b) = (of(*a), of(*b));
                Polarity {
                    up: a.up && b.down,
                    down: a.down && b.up,
                }
            }
            Op::Union(_) | Op::Unary(..) | Op::Sequence(..) | Op::Restrict(..) | Op::Tuple(_) => {
                all()
            }
            Op::Item(..)
            | Op::Call(Builtin::Domain | Builtin::Range | Builtin::AsTransitive, _) => all(),
            Op::Binary(Binary::Intersection | Binary::Product, ..) => all(),
            Op::Try(..) => all(),
            // The least fixpoint of a monotone function is monotone; the names are assumed to grow.
            Op::Fix(group) => {
                let mut bodies = operations.groups[*group as usize].bodies.iter();
                let up = bodies.all(|body| of(*body).up);
                Polarity { up, down: false }
            }
            _ if all() == FIXED => FIXED,
            _ => UNKNOWN,
        };
        found.push(polarity);
    }
    found
}
