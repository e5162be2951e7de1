//! Loads of what need not be initialised. Writing a bit-field reads the bytes around it, changes some
//! bits and writes them back; and copying a structure copies all that is in it.
use crate::llvm::ast::{Block, InstKind, Value};
use crate::llvm::types::Types;
use rustc_hash::{FxHashMap, FxHashSet};

/// Loads that are not atomic.
pub fn plain_loads<'a>(blocks: &[&Block<'a>]) -> FxHashSet<&'a str> {
    let insts = blocks.iter().flat_map(|block| &block.insts);
    let loads = insts.filter(|inst| matches!(inst.kind, InstKind::Load { order: None, .. }));
    loads.filter_map(|inst| inst.result).collect()
}

/// Loads that are parts of copies of structures. LLVM divides a `memcpy` into accesses, whose names
/// say so, and clang divides a structure that is passed by value into the members of a structure type
/// without name.
pub fn copied_loads<'a>(blocks: &[&Block<'a>], types: &Types) -> FxHashSet<&'a str> {
    let insts = || blocks.iter().flat_map(|b| &b.insts);
    let mut parts: FxHashSet<&'a str> = FxHashSet::default();
    for inst in insts() {
        match (&inst.kind, inst.result) {
            (InstKind::Gep { source, .. }, Some(name)) if types.is_unnamed_structure(*source) => {
                parts.insert(name);
            }
            _ => {}
        }
    }
    let mut found = FxHashSet::default();
    for inst in insts() {
        if let (
            InstKind::Load {
                address,
                order: None,
                ..
            },
            Some(name),
        ) = (&inst.kind, inst.result)
        {
            let whole = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let divided = local(address).is_some_and(|address| parts.contains(address));
            if divided || whole.ends_with(".copyload") {
                found.insert(name);
            }
        }
    }
    found
}

/// Loads whose values are masked, combined and written back to the same address, and nothing else.
pub fn partial_loads<'a>(blocks: &[&Block<'a>]) -> FxHashSet<&'a str> {
    let insts = || blocks.iter().flat_map(|b| &b.insts);
    // the load that a value is a part of, and its address
    let mut parts: FxHashMap<&'a str, &'a str> = FxHashMap::default();
    let mut addresses: FxHashMap<&'a str, &Value<'a>> = FxHashMap::default();
    for inst in insts() {
        match (&inst.kind, inst.result) {
            (
                InstKind::Load {
                    address,
                    order: None,
                    ..
                },
                Some(name),
            ) => {
                parts.insert(name, name);
                addresses.insert(name, address);
            }
            (
                InstKind::Bin {
                    op: op @ ("and" | "or"),
                    a,
                    b,
                },
                Some(name),
            ) => {
                let constant = matches!(b, Value::Int(_));
                let operands = [&a.1, b].into_iter().filter_map(|v| local(v));
                // the new bits are the other operand of `or`
                for operand in operands {
                    match parts.get(operand).copied() {
                        Some(load) if *op == "or" || constant => {
                            parts.insert(name, load);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let mut found: FxHashSet<&'a str> = FxHashSet::default();
    let mut refused: FxHashSet<&'a str> = FxHashSet::default();
    for inst in insts() {
        let mut used: Vec<&'a str> = Vec::new();
        match &inst.kind {
            InstKind::Store { value, address, .. } => {
                match local(&value.1).and_then(|v| parts.get(v).copied()) {
                    // masked at least, and to the same address
                    Some(load)
                        if Some(load) != local(&value.1)
                            && addresses.get(load).is_some_and(|at| same(at, address)) =>
                    {
                        found.insert(load);
                    }
                    Some(load) => {
                        refused.insert(load);
                    }
                    None => {}
                }
                used.extend(local(address));
            }
            InstKind::Bin {
                op: "and" | "or", ..
            } if inst.result.is_some_and(|r| parts.contains_key(r)) => {}
            kind => operands(kind, &mut |value| used.extend(local(value))),
        }
        refused.extend(used.iter().filter_map(|name| parts.get(name).copied()));
    }
    found.retain(|load| !refused.contains(load));
    found
}

/// Comparisons whose results are alternatives of selections, and nothing else.
pub fn alternatives<'a>(blocks: &[&Block<'a>]) -> FxHashSet<&'a str> {
    let insts = || blocks.iter().flat_map(|b| &b.insts);
    let compared = insts().filter(|inst| matches!(inst.kind, InstKind::Compare { .. }));
    let mut found: FxHashSet<&'a str> = compared.filter_map(|inst| inst.result).collect();
    let mut refuse = |value: &Value<'a>| {
        if let Some(name) = local(value) {
            found.remove(name);
        }
    };
    for inst in insts() {
        match &inst.kind {
            InstKind::Select { condition, .. } => refuse(&condition.1),
            other => operands(other, &mut refuse),
        }
    }
    found
}

fn local<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::Local(name) => Some(name),
        _ => None,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Local(a), Value::Local(b)) | (Value::Global(a), Value::Global(b)) => a == b,
        _ => false,
    }
}

/// Calls `f` with each operand of an instruction.
pub fn operands<'x, 'a>(kind: &'x InstKind<'a>, f: &mut impl FnMut(&'x Value<'a>)) {
    match kind {
        InstKind::Load { address, .. } => f(address),
        InstKind::Store { value, address, .. } => {
            f(&value.1);
            f(address);
        }
        InstKind::Rmw { address, value, .. } => {
            f(address);
            f(&value.1);
        }
        InstKind::Cas {
            address,
            expected,
            desired,
            ..
        } => {
            f(address);
            f(&expected.1);
            f(desired);
        }
        InstKind::CondBr { condition, .. } => f(condition),
        InstKind::Switch { value, .. }
        | InstKind::Cast { value, .. }
        | InstKind::Freeze(value)
        | InstKind::Negate(value)
        | InstKind::Resume(value)
        | InstKind::Ret(Some(value))
        | InstKind::Extract { from: value, .. } => f(&value.1),
        InstKind::Phi { incoming, .. } => incoming.iter().for_each(|i| f(&i.0)),
        InstKind::Select { condition, a, b } => {
            f(&condition.1);
            f(&a.1);
            f(b);
        }
        InstKind::Call { callee, args, .. } => {
            f(callee);
            args.iter().for_each(|a| f(&a.1));
        }
        InstKind::Invoke { call, .. } => operands(call, f),
        InstKind::Gep { base, indices, .. } => {
            f(&base.1);
            indices.iter().for_each(|i| f(&i.1));
        }
        InstKind::Insert { into, value, .. } => {
            f(&into.1);
            f(&value.1);
        }
        InstKind::ExtractElement { from, index } => {
            f(&from.1);
            f(&index.1);
        }
        InstKind::InsertElement { into, value, index } => {
            f(&into.1);
            f(&value.1);
            f(&index.1);
        }
        InstKind::Compare { a, b, .. }
        | InstKind::Bin { a, b, .. }
        | InstKind::ShuffleVector { a, b, .. } => {
            f(&a.1);
            f(b);
        }
        InstKind::Alloca { count, .. } => count.iter().for_each(|c| f(&c.1)),
        InstKind::Fence { .. }
        | InstKind::Br(_)
        | InstKind::LandingPad { .. }
        | InstKind::Ret(None)
        | InstKind::Unreachable
        | InstKind::Unsupported(_) => {}
    }
}
