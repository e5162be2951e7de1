//! Builds a path, event by event.

use super::path::{Action, EventIds, Path, PathEvent, PathEventId, RegisterState};
use crate::term::{partial, Equation, Term};
use litmus::assembly::instruction::Source;
use litmus::value::{NoResult, Op};
use smallvec::smallvec;

#[derive(Clone, Debug)]
pub struct PathBuilder {
    pub path: Path,
    instance: u32,
    /// The bits of the instruction's memory access, where the instruction determines them.
    size: Option<i64>,
    /// The bits of the pieces that accesses are split into, if they are.
    piece_bits: Option<i64>,
    /// The bits of the last load-reserve.
    pub reserved_bits: Option<i64>,
    /// The events that decide the branches of structured `if`s around the position.
    pub deciders: Vec<PathEventId>,
    /// A read-modify-write of C is two events.
    pub split_rmw: bool,
    thread: usize,
    /// The position of the statement as herd7 counts it.
    position: i64,
}

impl PathBuilder {
    pub fn new(registers: Vec<RegisterState>) -> PathBuilder {
        PathBuilder {
            path: Path {
                registers,
                // most threads have fewer
                events: Vec::with_capacity(16),
                iico_data: Vec::with_capacity(16),
                ..Path::default()
            },
            instance: 0,
            size: None,
            piece_bits: None,
            reserved_bits: None,
            deciders: Vec::new(),
            split_rmw: false,
            thread: 0,
            position: 0,
        }
    }

    /// Sets the number of the thread.
    pub fn of_thread(mut self, thread: usize) -> PathBuilder {
        self.thread = thread;
        self
    }

    /// Splits memory accesses into pieces of so many bits, if any.
    pub fn in_pieces(mut self, bits: Option<i64>) -> PathBuilder {
        self.piece_bits = bits;
        self
    }

    /// The bits of the instruction's memory access, where accesses are split.
    pub fn split_bits(&self) -> Option<i64> {
        self.size.filter(|_| self.piece_bits.is_some())
    }

    /// The number and the bits of the pieces of the instruction's memory access; None where
    /// accesses are whole.
    pub fn pieces(&self) -> Option<(i64, i64)> {
        let bits = self.piece_bits?;
        Some((self.size.unwrap_or(bits) / bits, bits))
    }

    /// Advances to the next statement.
    pub fn next_position(&mut self) {
        self.position += 1;
    }

    /// The index of a critical section of SRCU that begins here: a number of herd7's, which
    /// differs for each.
    pub fn srcu_index(&self) -> i64 {
        (self.thread as i64 + 1) * 307 + self.position * 599
    }

    /// Starts the next instruction.
    pub fn next_instance(&mut self, size: Option<i64>) {
        self.instance += 1;
        self.size = size;
    }

    pub fn size(&self) -> Option<i64> {
        self.size
    }

    /// Sets the bits of the instruction's next memory accesses.
    pub fn resize(&mut self, size: Option<i64>) {
        self.size = size;
    }

    /// The events of memory are one access, which is single-copy atomic.
    pub fn one_access(&mut self, ids: &[PathEventId]) {
        for id in ids {
            self.path.events[*id].access = ids.first().copied();
        }
    }

    /// The part of a value that the instruction's memory access has, with zeros or copies of its
    /// highest bit above.
    pub fn accessed(&mut self, value: Term, signed: bool) -> Term {
        let op = if signed { Op::Narrow } else { Op::Mask };
        match self.size {
            Some(bits) if bits < 64 => self.compute(op, value, Term::int(bits)),
            _ => value,
        }
    }

    pub fn fresh(&mut self) -> Term {
        self.path.vars += 1;
        Term::Var(self.path.vars - 1)
    }

    pub fn compute(&mut self, op: Op, a: Term, b: Term) -> Term {
        match partial(op, a, b) {
            Some(Ok(v)) => v,
            Some(Err(NoResult)) => {
                self.path.no_result = true;
                Term::ZERO
            }
            None => {
                let result = self.fresh();
                if let Term::Var(var) = result {
                    self.path.equations.push(Equation { var, op, a, b });
                }
                result
            }
        }
    }

    /// The path is taken only if the two are equal; returns false when they cannot be.
    pub fn require(&mut self, a: Term, b: Term) -> bool {
        match (a, b) {
            (Term::Known(x), Term::Known(y)) => x == y,
            _ => {
                self.path.equal.push((a, b));
                true
            }
        }
    }

    pub fn event(&mut self, action: Action, annotations: u64, data_port: bool) -> PathEventId {
        let id = self.path.events.len();
        self.path.events.push(PathEvent {
            action,
            instance: self.instance,
            annotations,
            data_port,
            atomic: false,
            size: self.size,
            access: None,
            starts: false,
        });
        let deciders = self.deciders.iter();
        self.path.control.extend(deciders.map(|d| (*d, id)));
        id
    }

    pub fn read_register(&mut self, register: usize, data_port: bool) -> (Term, PathEventId) {
        let id = self.event(Action::RegisterRead, 0, data_port);
        let held = self.path.registers[register];
        if let Some(writer) = held.writer {
            self.path.rf_reg.push((writer, id));
        }
        (held.value, id)
    }

    pub fn write_register(&mut self, register: usize, value: Term) -> PathEventId {
        let id = self.event(Action::RegisterWrite, 0, false);
        self.path.registers[register] = RegisterState {
            value,
            writer: Some(id),
            constant: false,
        };
        id
    }

    /// Whether the sources are computed from initial values and constants alone.
    pub fn constant(&self, from: &[Source]) -> bool {
        from.iter().all(|source| match source {
            Source::Reg(r) => self.path.registers[*r].constant,
            Source::Imm(_) => true,
        })
    }

    /// Writes a register with what an instruction computes, from constants alone or not.
    pub fn write_computed(&mut self, register: usize, value: Term, constant: bool) -> PathEventId {
        let id = self.write_register(register, value);
        self.path.registers[register].constant = constant;
        id
    }

    pub fn read(&mut self, at: Term, annotations: u64, data_port: bool) -> (Term, PathEventId) {
        let value = self.fresh();
        (
            value,
            self.event(Action::Read { at, value }, annotations, data_port),
        )
    }

    /// What a value that is chosen by these events comes from.
    pub fn chosen(&mut self, from: EventIds, data_port: bool) -> EventIds {
        if !self.split_rmw || from.is_empty() {
            return from;
        }
        let writer = self.event(Action::RegisterWrite, 0, false);
        self.data(&from, writer);
        let reader = self.event(Action::RegisterRead, 0, data_port);
        self.path.rf_reg.push((writer, reader));
        self.path.chosen.push((writer, reader));
        smallvec![reader]
    }

    pub fn data(&mut self, from: &[PathEventId], to: PathEventId) {
        self.path.iico_data.extend(from.iter().map(|f| (*f, to)));
    }

    /// As `data`, to several events.
    pub fn data_to_all(&mut self, from: &[PathEventId], to: &[PathEventId]) {
        to.iter().for_each(|to| self.data(from, *to));
    }

    pub fn order(&mut self, from: PathEventId, to: PathEventId) {
        self.path.iico_order.push((from, to));
    }

    /// As `order`, from and to several events.
    pub fn order_all(&mut self, from: &[PathEventId], to: &[PathEventId]) {
        from.iter()
            .for_each(|from| to.iter().for_each(|to| self.order(*from, *to)));
    }

    /// As `ctrl`, to several events.
    pub fn ctrl_to_all(&mut self, from: &[PathEventId], to: &[PathEventId]) {
        to.iter().for_each(|to| self.ctrl(from, *to));
    }

    pub fn ctrl(&mut self, from: &[PathEventId], to: PathEventId) {
        self.path.iico_ctrl.extend(from.iter().map(|f| (*f, to)));
    }
}
