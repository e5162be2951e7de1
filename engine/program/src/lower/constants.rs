//! Constant propagation, and the blocks that are reachable given the constants.
//!
//! A memory order passed as an argument becomes, once its callee is inlined, a switch over a
//! constant with one access per order. Only the access with that order may remain: sparse
//! conditional constant propagation (Wegman and Zadeck, TOPLAS 1991). A value is folded only if
//! *all* its operands are constants, so `r & 0` keeps its dependency on r.
use crate::error::{Error, Result};
use crate::ir::arithmetic;
use crate::ir::bits::{mask, sext};
use crate::llvm::ast::{Function, Inst, InstKind, Typed, Value};
use crate::llvm::types::{TypeId, Types};
use crate::lower::opcodes::{binary_op, predicate_of};
use bit_set::BitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// None: the value is not known before the program runs.
type Known = Option<u64>;

pub struct Folded<'m, 'a> {
    types: &'m Types,
    values: FxHashMap<&'a str, Known>,
    /// The reachable blocks.
    pub reached: BitSet,
}

impl<'m, 'a> Folded<'m, 'a> {
    /// `blocks` are the indices of the function's blocks by name.
    pub fn new(
        types: &'m Types,
        function: &Function<'a>,
        blocks: &FxHashMap<&str, usize>,
    ) -> Result<Folded<'m, 'a>> {
        let mut folded = Folded {
            types,
            values: FxHashMap::default(),
            reached: BitSet::new(),
        };
        if function.blocks.is_empty() {
            return Err(Error::invalid("function without basic blocks"));
        }
        for (_, name) in &function.params {
            folded.values.insert(name, None);
        }
        folded.reached.insert(0);
        let mut edges: FxHashSet<(&str, &str)> = FxHashSet::default();
        let mut changed = true;
        while changed {
            changed = false;
            for (k, block) in function.blocks.iter().enumerate() {
                if !folded.reached.contains(k) {
                    continue;
                }
                for inst in &block.insts {
                    if let Some(name) = inst.result {
                        let taken = |from: &str| edges.contains(&(from, block.name.as_str()));
                        changed |= folded.learn(inst, name, taken);
                    }
                }
                for target in block.insts.last().map_or(Vec::new(), |i| folded.targets(i)) {
                    let Some(to) = blocks.get(target) else {
                        return Err(Error::invalid(format!("undefined block %{target}")));
                    };
                    changed |= edges.insert((&block.name, &function.blocks[*to].name));
                    changed |= folded.reached.insert(*to);
                }
            }
        }
        Ok(folded)
    }

    /// The value of a local that is constant.
    pub fn constant(&self, name: &str) -> Known {
        self.values.get(name).copied().flatten()
    }

    /// The possible targets of a terminator.
    pub fn targets<'x>(&self, inst: &'x Inst<'a>) -> Vec<&'x str> {
        match &inst.kind {
            InstKind::Br(to) => vec![to],
            InstKind::CondBr {
                condition,
                then,
                otherwise,
            } => match self.bits(1, condition) {
                Some(Some(0)) => vec![otherwise],
                Some(Some(_)) => vec![then],
                Some(None) => vec![then, otherwise],
                None => vec![],
            },
            InstKind::Switch {
                value,
                default,
                cases,
            } => match self.typed(value.0, &value.1) {
                known @ Some(Some(_)) => {
                    let case = cases.iter().find(|c| self.typed(value.0, &c.0) == known);
                    vec![case.map_or(default, |c| c.1)]
                }
                Some(None) => {
                    let mut out: Vec<&str> = cases.iter().map(|c| c.1).collect();
                    out.push(default);
                    out
                }
                None => vec![],
            },
            InstKind::Invoke { normal, unwind, .. } => vec![normal, unwind],
            _ => Vec::new(),
        }
    }

    /// Records what is now known about a result; returns whether that is new. `taken` says from
    /// which blocks control can come.
    fn learn(&mut self, inst: &Inst<'a>, name: &'a str, taken: impl Fn(&str) -> bool) -> bool {
        if self.values.get(name) == Some(&None) {
            return false;
        }
        let Some(known) = self.value(inst, taken) else {
            return false;
        };
        match self.values.insert(name, known) {
            Some(before) if before == known => false,
            // two different constants: the value varies
            Some(Some(_)) => {
                self.values.insert(name, None);
                true
            }
            _ => true,
        }
    }

    /// The outer None: not known yet.
    fn value(&self, inst: &Inst<'a>, taken: impl Fn(&str) -> bool) -> Option<Known> {
        let typed = |value: &Typed<'a>| self.typed(value.0, &value.1);
        let width = |ty: TypeId| self.types.bits(ty).ok();
        let both = |a: &Typed<'a>, b: &Value<'a>, f: &dyn Fn(u32, u64, u64) -> Known| match (
            typed(a),
            self.typed(a.0, b),
        ) {
            (Some(None), _) | (_, Some(None)) => Some(None),
            (Some(Some(x)), Some(Some(y))) => Some(width(a.0).and_then(|bits| f(bits, x, y))),
            _ => None,
        };
        match &inst.kind {
            InstKind::Compare {
                float,
                predicate,
                a,
                b,
            } => both(a, b, &|bits, x, y| {
                let predicate = predicate_of(*float, predicate)?;
                Some(u64::from(arithmetic::compare(predicate, bits, x, y)))
            }),
            InstKind::Bin { op, a, b } => both(a, b, &|bits, x, y| {
                arithmetic::binary(binary_op(op)?, bits, x, y)
            }),
            InstKind::Select { condition, a, b } => {
                match (typed(condition), typed(a), self.typed(a.0, b)) {
                    (Some(Some(bit)), Some(Some(a)), Some(Some(b))) => {
                        Some(Some(if bit == 0 { b } else { a }))
                    }
                    (Some(None), ..) | (_, Some(None), _) | (.., Some(None)) => Some(None),
                    _ => None,
                }
            }
            InstKind::Cast { op, value, to } => Some(match (typed(value)?, *op, width(*to)) {
                (Some(bits), "sext", Some(to)) => {
                    width(value.0).map(|from| mask(sext(bits, from), to))
                }
                (Some(bits), "trunc" | "zext", Some(to)) => Some(mask(bits, to)),
                _ => None,
            }),
            InstKind::Freeze(value) => typed(value),
            InstKind::Phi { ty, incoming } => {
                let mut known = None;
                for (value, from) in incoming {
                    match self.typed(*ty, value) {
                        _ if !taken(from) => {}
                        None => {}
                        Some(next) if known.is_none() || known == Some(next) => known = Some(next),
                        Some(_) => return Some(None),
                    }
                }
                known
            }
            _ => Some(None),
        }
    }

    fn typed(&self, ty: TypeId, value: &Value<'a>) -> Option<Known> {
        match self.types.bits(ty) {
            Ok(bits) => self.bits(bits, value),
            Err(_) => Some(None),
        }
    }

    fn bits(&self, bits: u32, value: &Value<'a>) -> Option<Known> {
        match value {
            Value::Int(value) => Some(Some(mask(*value as u64, bits))),
            Value::Null | Value::Zero => Some(Some(0)),
            Value::Local(name) => self.values.get(name).copied(),
            _ => Some(None),
        }
    }
}
