//! Lowers instructions to operations.
use crate::error::{Error, Result};
use crate::ir::instruction::*;
use crate::llvm::ast::{Clause, Inst, InstKind, Value};
use crate::llvm::types::{Type, TypeId};
use crate::lower::function::Lower;
use crate::lower::opcodes::{binary_op, conversion, order_of, predicate_of, rmw_op};

impl<'a> Lower<'_, '_, 'a> {
    pub fn instruction(&mut self, inst: &Inst<'a>) -> Result<()> {
        if inst
            .result
            .is_some_and(|name| self.folded.constant(name).is_some())
        {
            return Ok(());
        }
        if let [to] = self.folded.targets(inst)[..] {
            let edge = self.edge(to)?;
            self.emit(inst, Op::Br(edge));
            return Ok(());
        }
        match &inst.kind {
            InstKind::Phi { .. } => Ok(()),
            InstKind::Alloca { ty, count, align } => self.alloca(inst, *ty, count.as_ref(), *align),
            InstKind::Load {
                ty,
                address,
                order,
                volatile,
            } => self.load(inst, *ty, address, *order, *volatile),
            InstKind::Store {
                value,
                address,
                order,
                volatile,
            } => self.store(inst, value, address, *order, *volatile),
            InstKind::Rmw {
                op,
                address,
                value,
                order,
                volatile,
            } => {
                let rmw = rmw_op(op)
                    .ok_or_else(|| Error::unsupported(format!("the instruction atomicrmw {op}")))?;
                if matches!(rmw, RmwOp::Float(_)) {
                    self.float(value.0, op)?;
                } else if !self.is_wide(value.0) {
                    self.integer(value.0, "atomicrmw")?;
                }
                let access = self.access(inst, "RMW", value.0, address, Some(order), *volatile)?;
                let dst = self.dst(inst);
                let op = Op::Rmw {
                    dst,
                    op: rmw,
                    address: self.pointer(address)?,
                    value: self.packed(inst, value.0, &value.1)?,
                    access,
                };
                self.emit(inst, op);
                self.unpack(inst, value.0, dst);
                Ok(())
            }
            InstKind::Cas {
                weak,
                address,
                expected,
                desired,
                success,
                failure,
                volatile,
            } => {
                let access =
                    self.access(inst, "CAS", expected.0, address, Some(success), *volatile)?;
                let dst = self.dst(inst);
                let op = Op::Cas {
                    dst,
                    flag: dst + 1 + u32::from(self.is_wide(expected.0)),
                    weak: *weak,
                    writes: CasWrite::Desired,
                    address: self.pointer(address)?,
                    expected: self.packed(inst, expected.0, &expected.1)?,
                    desired: self.packed(inst, expected.0, desired)?,
                    access,
                    failure: order_of(Some(failure)),
                };
                self.emit(inst, op);
                self.unpack(inst, expected.0, dst);
                Ok(())
            }
            InstKind::Fence { order, signal } => {
                self.fence(inst, order_of(Some(order)), *signal);
                Ok(())
            }
            InstKind::CondBr {
                condition,
                then,
                otherwise,
            } => {
                let ty = self.bit()?;
                let op = Op::CondBr {
                    condition: self.operand(ty, condition)?,
                    then: self.edge(then)?,
                    otherwise: self.edge(otherwise)?,
                    exits: Vec::new(),
                    join: Join::End,
                    asserts: None,
                    selects: false,
                };
                self.emit(inst, op);
                Ok(())
            }
            InstKind::Switch {
                value,
                default,
                cases,
            } => {
                let mut edges = Vec::new();
                for (case, to) in cases {
                    edges.push((self.l.constant(value.0, case)?, self.edge(to)?));
                }
                let op = Op::Switch {
                    value: self.operand(value.0, &value.1)?,
                    cases: edges,
                    default: self.edge(default)?,
                    exits: Vec::new(),
                    join: Join::End,
                };
                self.emit(inst, op);
                Ok(())
            }
            InstKind::Call {
                result,
                callee,
                args,
                byval,
            } => self.call_inst(inst, *result, callee, args, *byval),
            InstKind::Invoke {
                call,
                normal,
                unwind,
            } => self.invoke(inst, call, normal, unwind),
            InstKind::LandingPad {
                cleanup, clauses, ..
            } => self.landing_pad(inst, *cleanup, clauses),
            InstKind::Resume((ty, value)) => {
                let exception = self.operand(*ty, value)?;
                self.external(inst, Extern::Raise, "call", Order::Na, vec![exception]);
                self.emit(inst, Op::Unreachable);
                Ok(())
            }
            InstKind::Ret(value) => {
                let values = match value {
                    Some((ty, value)) => self.operands(*ty, value)?,
                    None => Vec::new(),
                };
                self.emit(inst, Op::Ret(values));
                Ok(())
            }
            InstKind::Unreachable => {
                self.emit(inst, Op::Unreachable);
                Ok(())
            }
            InstKind::Unsupported(opcode) => {
                Err(Error::unsupported(format!("the instruction {opcode}")))
            }
            _ => self.value_inst(inst),
        }
    }

    /// Instructions that do not access memory.
    fn value_inst(&mut self, inst: &Inst<'a>) -> Result<()> {
        // a vector of a type that the module does not name: nothing uses it
        if self.result_type(inst)?.is_none() {
            return Ok(());
        }
        let dst = self.dst(inst);
        match &inst.kind {
            InstKind::Select { condition, a, b } => {
                let each = self.is_vector(condition.0);
                let conditions = self.operands(condition.0, &condition.1)?;
                let x = self.operands(a.0, &a.1)?;
                let y = self.operands(a.0, b)?;
                for (k, (a, b)) in x.into_iter().zip(y).enumerate() {
                    let condition = conditions.get(if each { k } else { 0 });
                    let op = Op::Select {
                        dst: dst + k as Register,
                        condition: *condition.ok_or_else(|| Error::invalid("missing condition"))?,
                        a,
                        b,
                    };
                    self.emit(inst, op);
                }
            }
            InstKind::Gep {
                source,
                base,
                indices,
            } => {
                if self.is_vector(base.0) {
                    return Err(Error::unsupported("a vector of addresses"));
                }
                let base = self.operand(base.0, &base.1)?;
                let (offset, scaled) = self.indices(*source, indices)?;
                let op = Op::Gep {
                    dst,
                    base,
                    offset,
                    scaled,
                };
                self.emit(inst, op);
            }
            InstKind::Extract { from, path } => {
                let (start, count) = self.part(from.0, path)?;
                let parts = self.operands(from.0, &from.1)?;
                for k in 0..count {
                    let a = *parts
                        .get((start + k) as usize)
                        .ok_or_else(|| Error::invalid("index of a part that does not exist"))?;
                    self.copy(inst, dst + k, a);
                }
            }
            InstKind::Insert { into, value, path } => {
                let (start, count) = self.part(into.0, path)?;
                let mut parts = self.operands(into.0, &into.1)?;
                let new = self.operands(value.0, &value.1)?;
                for k in 0..count as usize {
                    match (parts.get_mut(start as usize + k), new.get(k)) {
                        (Some(part), Some(value)) => *part = *value,
                        _ => return Err(Error::invalid("index of a part that does not exist")),
                    }
                }
                for (k, a) in parts.into_iter().enumerate() {
                    self.copy(inst, dst + k as Register, a);
                }
            }
            InstKind::Compare {
                predicate, a, b, ..
            } if self.has_halves(a.0) => self.wide_compare(inst, predicate, a, b)?,
            InstKind::Bin { op, a, b } if self.has_halves(a.0) => {
                self.wide_binary(inst, op, a, b)?
            }
            InstKind::ExtractElement { from, index } => self.extract_element(inst, from, index)?,
            InstKind::InsertElement { into, value, index } => {
                self.insert_element(inst, into, value, index)?
            }
            InstKind::ShuffleVector { a, b, mask } => self.shuffle(inst, a, b, mask)?,
            InstKind::Cast { op, value, to }
                if *op == "bitcast" && (self.is_vector(value.0) || self.is_vector(*to)) =>
            {
                self.cut_otherwise(inst, value, *to)?
            }
            InstKind::Cast { op, value, to }
                if self.has_halves(value.0) || self.has_halves(*to) =>
            {
                self.wide_cast(inst, op, value, *to)?
            }
            InstKind::Compare {
                float,
                predicate,
                a,
                b,
            } => {
                let item = self.l.module.types.item(a.0)?;
                if *float {
                    self.float(item, "fcmp")?;
                }
                let predicate = predicate_of(*float, predicate)
                    .ok_or_else(|| Error::invalid(format!("unknown predicate {predicate}")))?;
                let bits = self.l.module.types.bits(item)?;
                let pairs = self.pairs(a, b)?;
                for (k, (a, b)) in pairs.into_iter().enumerate() {
                    let op = Op::Compare {
                        predicate,
                        bits,
                        dst: dst + k as Register,
                        a,
                        b,
                        alternative: inst.result.is_some_and(|it| self.alternatives.contains(it)),
                    };
                    self.emit(inst, op);
                }
            }
            InstKind::Bin { op: name, a, b } => {
                let op = binary_op(name).ok_or_else(|| Error::invalid("unknown operation"))?;
                let item = self.l.module.types.item(a.0)?;
                match op {
                    BinOp::Float(_) => self.float(item, name)?,
                    _ => self.integer(item, name)?,
                }
                let bits = self.l.module.types.bits(item)?;
                let pairs = self.pairs(a, b)?;
                for (k, (one, other)) in pairs.into_iter().enumerate() {
                    let remainder = self.remainder_of_random(inst, op, &a.1, other);
                    let one = remainder.unwrap_or(one);
                    self.emit_binary(inst, (op, bits), dst + k as Register, one, other);
                }
            }
            InstKind::Cast { op, value, to } => {
                let types = &self.l.module.types;
                let items = [types.item(value.0)?, types.item(*to)?];
                let [from, bits] = [types.bits(items[0])?, types.bits(items[1])?];
                for (k, a) in self.operands(value.0, &value.1)?.into_iter().enumerate() {
                    let dst = dst + k as Register;
                    let op = match (*op, conversion(op)) {
                        ("sext", _) => Op::Sext {
                            from,
                            to: bits,
                            dst,
                            a,
                        },
                        (name, Some(op)) => {
                            for ty in items {
                                if matches!(self.l.module.types.get(ty)?, Type::Float(_)) {
                                    self.float(ty, name)?;
                                }
                            }
                            Op::Convert {
                                op,
                                from,
                                to: bits,
                                dst,
                                a,
                            }
                        }
                        // an indeterminate value has no bytes beyond its own
                        _ => {
                            let bits = bits.min(from);
                            Op::Copy { bits, dst, a }
                        }
                    };
                    self.emit(inst, op);
                }
            }
            InstKind::Negate(value) => {
                let item = self.l.module.types.item(value.0)?;
                self.float(item, "fneg")?;
                let bits = self.l.module.types.bits(item)?;
                for (k, a) in self.operands(value.0, &value.1)?.into_iter().enumerate() {
                    let op = Op::Unary {
                        op: Unary::Float(FloatUnary::Negate),
                        bits,
                        dst: dst + k as Register,
                        a,
                    };
                    self.emit(inst, op);
                }
            }
            InstKind::Freeze(value) => {
                for (k, a) in self.operands(value.0, &value.1)?.into_iter().enumerate() {
                    self.copy(inst, dst + k as Register, a);
                }
            }
            _ => return Err(Error::invalid("unexpected instruction")),
        }
        Ok(())
    }

    /// A call whose exceptions are handled here.
    fn invoke(
        &mut self,
        inst: &Inst<'a>,
        call: &InstKind<'a>,
        normal: &str,
        unwind: &str,
    ) -> Result<()> {
        let start = self.code.len();
        if let InstKind::Call {
            result,
            callee,
            args,
            byval,
        } = call
        {
            self.call_inst(inst, *result, callee, args, *byval)?;
        }
        let edge = self.edge(unwind)?;
        for inst in &mut self.code[start..] {
            if matches!(inst.op, Op::Call { .. } | Op::Extern { .. }) {
                inst.unwind = Some(Box::new(edge.clone()));
            }
        }
        let edge = self.edge(normal)?;
        self.emit(inst, Op::Br(edge));
        Ok(())
    }

    fn landing_pad(
        &mut self,
        inst: &Inst<'a>,
        cleanup: bool,
        clauses: &[Clause<'a>],
    ) -> Result<()> {
        let mut handled = Vec::new();
        for clause in clauses {
            handled.push(match clause {
                Clause::Catch(value) => match self.l.handled_type(value)? {
                    Some(id) => Handled::Type(id),
                    None => Handled::Any,
                },
                Clause::Filter(Value::List(items)) => {
                    let types = items.iter().map(|(_, v)| self.l.handled_type(v));
                    let types: Result<Vec<_>> = types.collect();
                    Handled::AnyBut(types?.into_iter().flatten().collect())
                }
                Clause::Filter(_) => Handled::AnyBut(Vec::new()),
            });
        }
        let dst = self.dst(inst);
        self.emit(
            inst,
            Op::LandingPad {
                dst,
                cleanup,
                handled,
            },
        );
        Ok(())
    }

    pub fn copy(&mut self, inst: &Inst<'a>, dst: Register, a: Operand) {
        self.emit(inst, Op::Copy { bits: 64, dst, a });
    }

    fn bit(&self) -> Result<TypeId> {
        self.l
            .module
            .types
            .find(&Type::Int(1))
            .ok_or_else(|| Error::invalid("condition of the wrong type"))
    }

    fn integer(&self, ty: TypeId, what: &str) -> Result<()> {
        match self.l.module.types.get(ty)? {
            Type::Int(1..=64) | Type::Ptr => Ok(()),
            // exchanging a float only moves bits
            Type::Float(_) if what == "atomicrmw" => Ok(()),
            _ => Err(Error::unsupported(format!(
                "the instruction {what} on {}",
                self.l.module.types.describe(ty)
            ))),
        }
    }

    /// Refuses floating-point numbers other than `float` and `double`, and vectors.
    pub fn float(&self, ty: TypeId, what: &str) -> Result<()> {
        match self.l.module.types.get(ty)? {
            Type::Float("float" | "double") => Ok(()),
            _ => Err(Error::unsupported(format!(
                "the instruction {what} on {}",
                self.l.module.types.describe(ty)
            ))),
        }
    }
}
