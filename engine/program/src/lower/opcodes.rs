//! Operations, predicates and memory orders by their names in LLVM's assembly text.
use crate::ir::instruction::*;

pub fn binary_op(name: &str) -> Option<BinOp> {
    Some(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "mul" => BinOp::Mul,
        "udiv" => BinOp::Udiv,
        "sdiv" => BinOp::Sdiv,
        "urem" => BinOp::Urem,
        "srem" => BinOp::Srem,
        "and" => BinOp::And,
        "or" => BinOp::Or,
        "xor" => BinOp::Xor,
        "shl" => BinOp::Shl,
        "lshr" => BinOp::Lshr,
        "ashr" => BinOp::Ashr,
        "fadd" => BinOp::Float(FloatOp::Add),
        "fsub" => BinOp::Float(FloatOp::Sub),
        "fmul" => BinOp::Float(FloatOp::Mul),
        "fdiv" => BinOp::Float(FloatOp::Div),
        "frem" => BinOp::Float(FloatOp::Rem),
        _ => return None,
    })
}

pub fn order_of(name: Option<&str>) -> Order {
    match name {
        None => Order::Na,
        Some("acquire") => Order::Acq,
        Some("release") => Order::Rel,
        Some("acq_rel") => Order::AcqRel,
        Some("seq_cst") => Order::Sc,
        Some(_) => Order::Rlx,
    }
}

pub fn rmw_op(name: &str) -> Option<RmwOp> {
    Some(match name {
        "xchg" => RmwOp::Xchg,
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "nand" => RmwOp::Nand,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "max" => RmwOp::Max,
        "min" => RmwOp::Min,
        "umax" => RmwOp::Umax,
        "umin" => RmwOp::Umin,
        "fadd" => RmwOp::Float(FloatRmw::Add),
        "fsub" => RmwOp::Float(FloatRmw::Sub),
        "fmax" => RmwOp::Float(FloatRmw::Max),
        "fmin" => RmwOp::Float(FloatRmw::Min),
        _ => return None,
    })
}

/// `oeq`, `ult`, …: ordered or unordered, then the relation (LangRef, "fcmp").
fn float_predicate(name: &str) -> Option<Predicate> {
    let (unordered, relation) = match name {
        "true" => (true, "true"),
        "false" => (false, "false"),
        name => (name.starts_with('u'), name.get(1..)?),
    };
    let (less, equal, greater) = match relation {
        "eq" => (false, true, false),
        "ne" => (true, false, true),
        "lt" => (true, false, false),
        "le" => (true, true, false),
        "gt" => (false, false, true),
        "ge" => (false, true, true),
        "rd" | "true" => (true, true, true),
        "no" | "false" => (false, false, false),
        _ => return None,
    };
    // `ord` is never unordered; `uno` always
    Some(Predicate::Float(FloatPredicate {
        less,
        equal,
        greater,
        unordered,
    }))
}

pub fn conversion(name: &str) -> Option<Conversion> {
    Some(match name {
        "fptoui" => Conversion::FloatToUnsigned,
        "fptosi" => Conversion::FloatToSigned,
        "uitofp" => Conversion::UnsignedToFloat,
        "sitofp" => Conversion::SignedToFloat,
        "fptrunc" | "fpext" => Conversion::FloatToFloat,
        _ => return None,
    })
}

/// Functions of one number, as LLVM's intrinsics and C's library name them.
pub fn float_unary(name: &str) -> Option<FloatUnary> {
    Some(match name {
        "fabs" => FloatUnary::Abs,
        "floor" => FloatUnary::Floor,
        "ceil" => FloatUnary::Ceil,
        "trunc" => FloatUnary::Truncate,
        "round" => FloatUnary::Round,
        "rint" | "nearbyint" | "roundeven" => FloatUnary::RoundEven,
        "sqrt" => FloatUnary::SquareRoot,
        _ => return None,
    })
}

/// Functions of two numbers, as LLVM's intrinsics and C's library name them.
pub fn float_binary(name: &str) -> Option<FloatOp> {
    Some(match name {
        "maxnum" | "maximumnum" | "fmax" => FloatOp::Max,
        "minnum" | "minimumnum" | "fmin" => FloatOp::Min,
        "copysign" => FloatOp::CopySign,
        "fmod" => FloatOp::Rem,
        _ => return None,
    })
}

pub fn predicate_of(float: bool, name: &str) -> Option<Predicate> {
    Some(match name {
        name if float => float_predicate(name)?,
        "eq" => Predicate::Eq,
        "ne" => Predicate::Ne,
        "ugt" => Predicate::Ugt,
        "uge" => Predicate::Uge,
        "ult" => Predicate::Ult,
        "ule" => Predicate::Ule,
        "sgt" => Predicate::Sgt,
        "sge" => Predicate::Sge,
        "slt" => Predicate::Slt,
        "sle" => Predicate::Sle,
        _ => return None,
    })
}
