//! What x86's instructions that compute, move and exchange do with their operands.

use super::flags;
use super::names::{form, Form};
use super::operands::{bad_operands, operand, Operand, Operands, Part, ATOMIC, FLAGS};
use crate::annotation::Annotations;
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, MemoryOperand, Outcome, Source, Transform, Width};
use crate::error::ParseError;
use crate::value::{Op, RegisterId, Value};

/// An instruction whose operands have been read.
pub struct Reading {
    /// The second and the first operand as Intel writes them.
    pub to: Operand,
    pub from: Operand,
    pub bits: i64,
    pub locked: bool,
    pub flags: RegisterId,
    pub operands: Operands,
}

pub fn compute(
    r: &mut InstructionReader<'_>,
    wide: bool,
    locked: bool,
    offset: usize,
    word: &str,
) -> Result<Instruction, ParseError> {
    let known = form(word);
    // X86 has no registers of 64 bits
    let known = known.filter(|(form, _)| wide || !matches!(form, Form::CompareExchangeHalves));
    let Some((form, named)) = known else {
        return Err(r.unknown(offset, word).help(
            "supported for x86: mov, movz, movs, cmov, set, xchg, xadd, cmpxchg, cmpxchg8b, cmpxchg16b, cmp, test, add, sub, \
             xor, or, and, not, shl, inc, dec, neg, jumps, fences, clflush",
        ));
    };
    let first = operand(r, wide)?;
    let one = matches!(
        form,
        Form::Increment
            | Form::Decrement
            | Form::Negate
            | Form::Not
            | Form::SetIf(_)
            | Form::CompareExchangePair
            | Form::CompareExchangeHalves
    );
    let second = match one {
        true => Operand::Imm(1),
        false => {
            r.comma()?;
            operand(r, wide)?
        }
    };
    let (to, from) = match (wide && !one, form, first) {
        // herd7 has the memory operand of X86_64's first
        (true, Form::CompareExchange, Operand::Memory(_)) => (first, second),
        (true, ..) => (second, first),
        (false, ..) => (first, second),
    };
    let Some(bits) = size(form, named, &to, &from, wide) else {
        return Err(ParseError::new(
            offset,
            format!("the operands of `{word}` have several sizes"),
        )
        .help("registers and the letter at the end of the name say the same size"));
    };
    let accessed = match form {
        Form::Extend { bits, .. } => Some(bits),
        Form::CompareExchangePair => Some(64),
        Form::CompareExchangeHalves => Some(128),
        _ => bits,
    };
    r.access_bits = accessed;
    let reading = Reading {
        to,
        from,
        bits: bits.unwrap_or(64),
        locked,
        flags: r.thread.register(FLAGS),
        operands: Operands::default(),
    };
    reading
        .instruction(r, form, wide)
        .ok_or_else(|| bad_operands(offset, word))
}

/// The bits of the operands: those of the name or of the registers, which are the same; none in the
/// outer result where these differ, and none in the inner one where neither says.
#[allow(clippy::option_option)]
fn size(
    form: Form,
    named: Option<i64>,
    to: &Operand,
    from: &Operand,
    wide: bool,
) -> Option<Option<i64>> {
    let mut bits = named;
    let sources: &[&Operand] = match form {
        Form::Extend { .. } | Form::ShiftLeft => &[to],
        _ => &[to, from],
    };
    for operand in sources {
        if let Operand::Reg(_, part) = operand {
            if bits.is_some_and(|bits| bits != part.bits) {
                return None;
            }
            bits = Some(part.bits);
        }
    }
    Some(bits.or((!wide).then_some(32)))
}

impl Reading {
    fn instruction(
        self,
        r: &mut InstructionReader<'_>,
        form: Form,
        wide: bool,
    ) -> Option<Instruction> {
        match form {
            Form::Move => self.moved(),
            Form::Extend { bits, signed } => self.extended(bits, signed),
            Form::Exchange => self.exchanged(),
            Form::CompareExchange => {
                let name = if wide { "rax" } else { "EAX" };
                let accumulator = r.thread.register(name);
                self.compare_exchange(accumulator)
            }
            Form::CompareExchangePair => {
                let names = match wide {
                    true => ["rdx", "rax", "rcx", "rbx"],
                    false => ["EDX", "EAX", "ECX", "EBX"],
                };
                let pairs = names.map(|name| r.thread.register(name));
                self.compare_exchange_pair(pairs)
            }
            Form::CompareExchangeHalves => {
                let names = ["rdx", "rax", "rcx", "rbx"];
                let pairs = names.map(|name| r.thread.register(name));
                self.compare_exchange_halves(pairs)
            }
            Form::MoveIf(code) => self.moved_if(code),
            Form::SetIf(code) => self.set_if(code),
            _ => self.arithmetic(form),
        }
    }

    fn annotations(&self) -> Annotations {
        if self.locked {
            ATOMIC
        } else {
            0
        }
    }

    fn memory(&self) -> Option<MemoryOperand> {
        match (&self.to, &self.from) {
            (Operand::Memory(_), Operand::Memory(_)) => None,
            (Operand::Memory(at), _) | (_, Operand::Memory(at)) => Some(*at),
            _ => None,
        }
    }

    fn two_in_memory(&self) -> bool {
        matches!(
            (&self.to, &self.from),
            (Operand::Memory(_), Operand::Memory(_))
        )
    }

    /// An instruction that reads memory, if an operand is there, and writes its destination.
    fn transform(mut self, result: Formula, flags: Option<Formula>) -> Option<Instruction> {
        let mut done = Outcome::default();
        match self.to {
            Operand::Memory(_) => done.stored = vec![Formula::Result.zero_extended(self.bits)],
            Operand::Reg(register, part) => {
                let value = self.operands.written(register, part, Formula::Result);
                done.registers.push((register, value));
            }
            Operand::Imm(_) => return None,
        }
        Some(self.with(result, flags, None, vec![done]))
    }

    pub fn with(
        self,
        result: Formula,
        flags: Option<Formula>,
        when: Option<Formula>,
        outcomes: Vec<Outcome>,
    ) -> Instruction {
        let stores = outcomes.iter().any(|outcome| !outcome.stored.is_empty());
        let at = self.memory();
        Instruction::Transform(Box::new(Transform {
            reads: at.is_some(),
            at,
            annotations: self.annotations(),
            atomic: self.locked && stores,
            halves: false,
            operands: self.operands.0,
            result,
            flags: flags.map(|formula| (self.flags, formula)),
            when,
            outcomes,
        }))
    }

    fn moved(mut self) -> Option<Instruction> {
        let width = Some(Width::unsigned(self.bits));
        Some(match (self.to, self.from) {
            (Operand::Reg(to, part), Operand::Memory(at)) if part.bits >= 32 => Instruction::Load {
                to: Some(to),
                at,
                annotations: 0,
                width,
            },
            (Operand::Reg(to, Part { bits: 64, .. }), Operand::Reg(from, _)) => Instruction::Move {
                to,
                from: Source::Reg(from),
            },
            (Operand::Reg(to, part @ Part { bits: 32 | 64, .. }), Operand::Imm(n)) => {
                let value = if part.bits == 32 { n & 0xffff_ffff } else { n };
                Instruction::Move {
                    to,
                    from: Source::Imm(Value::Int(value)),
                }
            }
            (Operand::Memory(at), Operand::Reg(from, Part { shift: 0, .. })) => {
                Instruction::Store {
                    from: Source::Reg(from),
                    at,
                    annotations: 0,
                    width,
                }
            }
            (Operand::Memory(at), Operand::Imm(n)) => Instruction::Store {
                from: Source::Imm(Value::Int(n)),
                at,
                annotations: 0,
                width,
            },
            (Operand::Memory(_), Operand::Memory(_)) | (Operand::Imm(_), _) => return None,
            _ => {
                let result = self.operands.value(&self.from);
                let mut instruction = self.transform(result, None)?;
                if let Instruction::Transform(t) = &mut instruction {
                    // a store alone
                    t.reads &= t.outcomes.iter().all(|outcome| outcome.stored.is_empty());
                }
                instruction
            }
        })
    }

    fn extended(mut self, bits: i64, signed: bool) -> Option<Instruction> {
        match self.to {
            Operand::Reg(_, part) if part.bits > bits => {}
            _ => return None,
        }
        match self.from {
            Operand::Imm(_) => return None,
            Operand::Reg(_, part) if part.bits != bits => return None,
            _ => {}
        }
        let from = self.operands.value(&self.from);
        let result = match signed {
            true => from.sign_extended(bits),
            false => from.zero_extended(bits),
        };
        self.transform(result, None)
    }

    fn arithmetic(mut self, form: Form) -> Option<Instruction> {
        if self.two_in_memory() || matches!(self.to, Operand::Imm(_)) {
            return None;
        }
        let bits = self.bits;
        let a = self.operands.value(&self.to);
        let b = self.operands.value(&self.from);
        let one = || Formula::Constant(1);
        let (result, flags) = match form {
            Form::Sum => (
                Formula::apply(Op::Add, a.clone(), b.clone()),
                flags::of_sum(a, b, bits),
            ),
            Form::Difference | Form::Compare => (
                Formula::apply(Op::Sub, a.clone(), b.clone()),
                flags::of_difference(a, b, bits),
            ),
            Form::Logic(op) => (
                Formula::apply(op, a, b),
                flags::of_logic(Formula::Result, bits),
            ),
            Form::Test => (
                Formula::apply(Op::And, a, b),
                flags::of_logic(Formula::Result, bits),
            ),
            Form::ShiftLeft => {
                let Operand::Imm(by) = self.from else {
                    return None;
                };
                let by = by & if bits == 64 { 63 } else { 31 };
                if by == 0 {
                    return self.transform(a, None);
                }
                let flags = flags::of_shift_left(a.clone(), Formula::Result, by, bits);
                (a.shifted_left(by), flags)
            }
            Form::Increment | Form::Decrement => {
                let before = self.operands.register(self.flags);
                let (op, flags) = match form {
                    Form::Increment => (Op::Add, flags::of_sum(a.clone(), one(), bits)),
                    _ => (Op::Sub, flags::of_difference(a.clone(), one(), bits)),
                };
                (
                    Formula::apply(op, a, one()),
                    flags::with_carry_of(flags, before),
                )
            }
            Form::Negate => (
                a.clone().negated(),
                flags::of_difference(Formula::Constant(0), a, bits),
            ),
            Form::Not => return self.transform(a.inverted(), None),
            Form::ExchangeAdd => return self.exchange_add(a, b),
            _ => return None,
        };
        match form {
            Form::Compare => Some(self.with(
                Formula::Constant(0),
                Some(flags),
                None,
                vec![Outcome::default()],
            )),
            Form::Test => Some(self.with(result, Some(flags), None, vec![Outcome::default()])),
            _ => self.transform(result, Some(flags)),
        }
    }

    /// Memory is read whether the condition holds or not, and 32 bits clear those above.
    fn moved_if(mut self, code: i64) -> Option<Instruction> {
        let (Operand::Reg(to, part), Operand::Reg(..) | Operand::Memory(_)) = (self.to, self.from)
        else {
            return None;
        };
        if part.bits < 16 {
            return None;
        }
        let flags = self.operands.register(self.flags);
        let old = self.operands.value(&self.to);
        let new = self.operands.value(&self.from);
        let outcomes = [new, old].map(|value| Outcome {
            stored: Vec::new(),
            registers: vec![(to, self.operands.written(to, part, value))],
        });
        let when = flags.with(Op::Satisfy, code);
        Some(self.with(Formula::Constant(0), None, Some(when), outcomes.into()))
    }

    fn set_if(mut self, code: i64) -> Option<Instruction> {
        let value = self.operands.register(self.flags).with(Op::Satisfy, code);
        let mut instruction = self.transform(value, None)?;
        if let Instruction::Transform(t) = &mut instruction {
            t.reads = false;
        }
        Some(instruction)
    }
}
