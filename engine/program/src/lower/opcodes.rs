//! Operations, predicates and memory orders by their names in LLVM's assembly text.
use crate::ir::instruction::{BinOp, Order, Predicate, RmwOp};

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
        _ => return None,
    })
}

pub fn predicate_of(name: &str) -> Option<Predicate> {
    Some(match name {
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
