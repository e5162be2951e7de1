//! Terms and the equations between them: values that are known, or unknowns that reads-from and
//! the equations determine.

use litmus::value::{NoResult, Op, Value};

/// A value, or an unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    Known(Value),
    Var(u32),
}

impl Term {
    pub const ZERO: Term = Term::Known(Value::ZERO);

    pub fn int(v: i64) -> Term {
        Term::Known(Value::Int(v))
    }
}

/// `var = op(a, b)`
#[derive(Clone, Copy, Debug)]
pub struct Equation {
    pub var: u32,
    pub op: Op,
    pub a: Term,
    pub b: Term,
}

/// The result of an operation as far as its operands determine it, as herd7 computes it. None: not
/// yet; an error: there is none.
pub fn partial(op: Op, a: Term, b: Term) -> Option<Result<Term, NoResult>> {
    use Term::{Known, Var};
    match (op, a, b) {
        (Op::Add | Op::Or, Known(Value::Int(0)), v) => Some(Ok(v)),
        (Op::Xor, Var(x), Var(y)) if x == y => Some(Ok(Term::ZERO)),
        (Op::Eq, Var(x), Var(y)) if x == y => Some(Ok(Term::int(1))),
        (Op::Ne, Var(x), Var(y)) if x == y => Some(Ok(Term::ZERO)),
        (_, Known(x), Known(y)) => Some(op.apply(x, y).map(Known)),
        _ => None,
    }
}
