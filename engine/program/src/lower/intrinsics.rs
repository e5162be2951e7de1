//! Lowers calls of LLVM's intrinsics.
use crate::error::{Error, Result};
use crate::ir::exceptions::selector;
use crate::ir::instruction::*;
use crate::llvm::ast::{Inst, Typed, Value};
use crate::lower::function::Lower;

/// Intrinsics that have no effect on what is checked, by the beginnings of their names.
const IGNORED_INTRINSICS: &[&str] = &[
    "llvm.dbg.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.invariant.",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.prefetch",
    "llvm.var.annotation",
    "llvm.pseudoprobe",
    "llvm.stackrestore",
    "llvm.stacksave",
    "llvm.x86.sse2.pause",
    "llvm.is.constant",
    "llvm.returnaddress",
    "llvm.frameaddress",
];

impl<'a> Lower<'_, '_, 'a> {
    pub fn intrinsic(&mut self, inst: &Inst<'a>, name: &str, args: &[Typed<'a>]) -> Result<()> {
        if IGNORED_INTRINSICS.iter().any(|p| name.starts_with(p)) {
            self.ignored(inst, 0);
            return Ok(());
        }
        if name.starts_with("llvm.lifetime.") {
            self.lifetime(inst, name.starts_with("llvm.lifetime.start"), args);
            return Ok(());
        }
        if name.starts_with("llvm.threadlocal.address") {
            let global = args.first().and_then(|a| self.l.global(&a.1));
            let Some(global) = global else {
                return Err(Error::invalid("undefined thread-local variable"));
            };
            if self.l.program.globals[global as usize].site == 0 {
                let site = self.site(inst, "call", Order::Na);
                self.l.program.globals[global as usize].site = site;
            }
            let dst = self.dst(inst);
            self.emit(inst, Op::ThreadLocal { dst, global });
            return Ok(());
        }
        if name.starts_with("llvm.eh.typeid.for") {
            let value = args.first().map_or(&Value::Null, |a| &a.1);
            let id = self.l.handled_type(value)?;
            let dst = self.dst(inst);
            self.copy(inst, dst, Operand::Const(selector(id)));
            return Ok(());
        }
        for (ty, value) in args {
            if !matches!(value, Value::Opaque) {
                self.l.module.types.bits(*ty)?; // one register holds it
            }
        }
        let given = self.values(args)?;
        let arg = |k: usize| given.get(k).copied().unwrap_or(Operand::Const(0));
        let bits = match args.first() {
            Some((ty, _)) => self.l.module.types.bits(*ty).unwrap_or(64),
            None => 64,
        };
        let base = name.trim_start_matches("llvm.");
        let stem = |p: &str| base.starts_with(p) && base[p.len()..].starts_with('.');
        if base.starts_with("memcpy.") || base.starts_with("memmove.") {
            return self.copy_memory(inst, Extern::Memcpy, args, given);
        }
        if base.starts_with("memset.") {
            return self.copy_memory(inst, Extern::Memset, args, given);
        }
        if let Some((name, _)) = base.split_once('.') {
            if self.number(inst, name, args, &given)? {
                return Ok(());
            }
        }
        let dst = self.dst(inst);
        for prefix in [
            "expect",
            "expect.with.probability",
            "launder.invariant.group",
            "strip.invariant.group",
            "ptr.annotation",
            "annotation",
            "ssa.copy",
        ] {
            if stem(prefix) {
                self.copy(inst, dst, arg(0));
                return Ok(());
            }
        }
        for (prefix, op) in [
            ("umax", BinOp::Umax),
            ("umin", BinOp::Umin),
            ("smax", BinOp::Smax),
            ("smin", BinOp::Smin),
            ("ptrmask", BinOp::And),
        ] {
            if stem(prefix) {
                self.emit_binary(inst, (op, bits), dst, arg(0), arg(1));
                return Ok(());
            }
        }
        for (prefix, predicates) in [
            ("scmp", [Predicate::Sgt, Predicate::Slt]),
            ("ucmp", [Predicate::Ugt, Predicate::Ult]),
        ] {
            if stem(prefix) {
                let ty = self.result_type(inst)?;
                let result = ty.map_or(Ok(8), |ty| self.l.module.types.bits(ty))?;
                let [above, below] = predicates.map(|predicate| {
                    let register = self.temporary(1);
                    let op = Op::Compare {
                        predicate,
                        bits,
                        dst: register,
                        a: arg(0),
                        b: arg(1),
                        alternative: false,
                    };
                    self.emit(inst, op);
                    Operand::Register(register)
                });
                self.emit_binary(inst, (BinOp::Sub, result), dst, above, below);
                return Ok(());
            }
        }
        for (prefix, op) in [
            ("ctpop", Unary::Popcount),
            ("ctlz", Unary::LeadingZeros),
            ("cttz", Unary::TrailingZeros),
            ("bswap", Unary::ByteSwap),
            ("bitreverse", Unary::BitReverse),
            ("abs", Unary::Abs),
        ] {
            if stem(prefix) {
                let a = arg(0);
                self.emit(inst, Op::Unary { op, bits, dst, a });
                return Ok(());
            }
        }
        if stem("is.fpclass") {
            let (Some((ty, _)), Operand::Const(classes)) = (args.first(), arg(1)) else {
                return Err(Error::invalid("classes of numbers that are no constant"));
            };
            self.float(*ty, name)?;
            let (op, a) = (Unary::IsOfClass(classes as u16), arg(0));
            self.emit(inst, Op::Unary { op, bits, dst, a });
            return Ok(());
        }
        for (prefix, op, signed) in [
            ("uadd.with.overflow", BinOp::Add, false),
            ("sadd.with.overflow", BinOp::Add, true),
            ("usub.with.overflow", BinOp::Sub, false),
            ("ssub.with.overflow", BinOp::Sub, true),
            ("umul.with.overflow", BinOp::Mul, false),
            ("smul.with.overflow", BinOp::Mul, true),
        ] {
            if stem(prefix) {
                let op = Op::Overflow {
                    op,
                    signed,
                    bits,
                    dst,
                    flag: dst + 1,
                    a: arg(0),
                    b: arg(1),
                };
                self.emit(inst, op);
                return Ok(());
            }
        }
        if (stem("fshl") || stem("fshr")) && bits.is_power_of_two() {
            self.funnel(inst, stem("fshl"), bits, [arg(0), arg(1), arg(2)]);
            return Ok(());
        }
        for (prefix, bound, op) in [
            ("usub.sat", BinOp::Umax, BinOp::Sub),
            ("uadd.sat", BinOp::Umin, BinOp::Add),
        ] {
            if stem(prefix) {
                self.saturated(inst, bits, (bound, op), arg(0), arg(1));
                return Ok(());
            }
        }
        if stem("objectsize") {
            // "unknown": all ones for the maximum asked, 0 for the minimum
            let value = if arg(1) == Operand::Const(1) {
                0
            } else {
                u64::MAX
            };
            self.ignored(inst, value);
            return Ok(());
        }
        if matches!(base, "trap" | "debugtrap") || base.starts_with("ubsantrap") {
            self.external(inst, Extern::Trap, "assert", Order::Na, Vec::new());
            return Ok(());
        }
        Err(Error::unsupported(format!("the intrinsic {name}")))
    }

    /// `max(a, b) - b`, and `min(a, !b) + b`: unsigned numbers that stay in their range.
    fn saturated(
        &mut self,
        inst: &Inst<'a>,
        bits: u32,
        (bound, op): (BinOp, BinOp),
        a: Operand,
        b: Operand,
    ) {
        let other = match op {
            BinOp::Add => self.binary(inst, BinOp::Xor, bits, b, Operand::Const(u64::MAX)),
            _ => b,
        };
        let a = self.binary(inst, bound, bits, a, other);
        let dst = self.dst(inst);
        self.emit_binary(inst, (op, bits), dst, a, b);
    }

    /// A shift of two numbers, the high one first, beside one another; the high half, or the low
    /// one, is the result. The distance is taken modulo the width.
    fn funnel(&mut self, inst: &Inst<'a>, left: bool, bits: u32, [high, low, by]: [Operand; 3]) {
        let last = Operand::Const(u64::from(bits - 1));
        let (from, to, back, forth) = match left {
            true => (low, high, BinOp::Lshr, BinOp::Shl),
            false => (high, low, BinOp::Shl, BinOp::Lshr),
        };
        let by = self.binary(inst, BinOp::And, bits, by, last);
        let rest = self.binary(inst, BinOp::Sub, bits, last, by);
        // in two steps, since a shift by the whole width has no result
        let moved = self.binary(inst, back, bits, from, Operand::Const(1));
        let a = self.binary(inst, back, bits, moved, rest);
        let b = self.binary(inst, forth, bits, to, by);
        let dst = self.dst(inst);
        self.emit_binary(inst, (BinOp::Or, bits), dst, a, b);
    }
}
