//! Types of what is not known yet: a set never mixes with a relation, whatever is chosen.
use super::ast::*;
use super::node::{Id, Op};
use super::prims::Prim;
use super::value::{Fault, Value};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Set,
    Relation,
    /// It fits sets and relations, or is something else, or is not known.
    Open,
}

const SET: &str = "a set of events";
const RELATION: &str = "a relation";

pub fn of_value(value: &Value) -> Type {
    match value {
        Value::Set(_) => Type::Set,
        Value::Relation(_) => Type::Relation,
        _ => Type::Open,
    }
}

/// The type of an operation's value, from those of its operands.
pub fn of_op(
    op: &Op,
    of: &dyn Fn(Id) -> Type,
    is_order: &dyn Fn(u32) -> bool,
) -> Result<Type, Fault> {
    let relation = |id: Id| match of(id) {
        Type::Set => Err(Fault::Type(RELATION, SET)),
        _ => Ok(()),
    };
    let set = |id: Id| match of(id) {
        Type::Relation => Err(Fault::Type(SET, RELATION)),
        _ => Ok(()),
    };
    Ok(match op {
        Op::Union(items) => same(items, of)?,
        Op::Binary(Binary::Intersection | Binary::Difference, a, b) => same(&[*a, *b], of)?,
        Op::Binary(Binary::Product, a, b) => {
            set(*a)?;
            set(*b)?;
            Type::Relation
        }
        Op::Sequence(a, b) => {
            relation(*a)?;
            relation(*b)?;
            Type::Relation
        }
        Op::Restrict(from, inner, to) => {
            relation(*inner)?;
            from.iter().chain(to).try_for_each(|side| set(*side))?;
            Type::Relation
        }
        Op::Unary(Unary::Complement, a) => of(*a),
        Op::Unary(Unary::Identity, a) => {
            set(*a)?;
            Type::Relation
        }
        Op::Unary(_, a) => {
            relation(*a)?;
            of(*a)
        }
        Op::Call(Prim::Domain | Prim::Range, a) => {
            relation(*a)?;
            if of(*a) == Type::Relation {
                Type::Set
            } else {
                Type::Open
            }
        }
        Op::ReadsFrom => Type::Relation,
        Op::Finals => Type::Set,
        Op::Choice(index) if is_order(*index) => Type::Relation,
        _ => Type::Open,
    })
}

/// The one type of several values.
fn same(items: &[Id], of: &dyn Fn(Id) -> Type) -> Result<Type, Fault> {
    let mut found = Type::Open;
    for item in items {
        found = match (found, of(*item)) {
            (Type::Set, Type::Relation) => return Err(Fault::Type(SET, RELATION)),
            (Type::Relation, Type::Set) => return Err(Fault::Type(RELATION, SET)),
            (Type::Open, other) => other,
            (found, _) => found,
        };
    }
    Ok(found)
}
