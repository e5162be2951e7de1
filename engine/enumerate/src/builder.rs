//! Builds a path, event by event.

use super::event::{partial, Act, Equation, Event, Held, Id, Operand, Path};
use litmus::value::Op;

#[derive(Clone, Debug)]
pub struct Builder {
    pub path: Path,
    instance: u32,
    /// The bits of the instruction's accesses of memory, where it says.
    size: Option<i64>,
    /// What decides the branches being in.
    pub deciders: Vec<Id>,
}

impl Builder {
    pub fn new(registers: Vec<Held>) -> Builder {
        Builder {
            path: Path {
                registers,
                // as many as a thread of a test has, mostly
                events: Vec::with_capacity(16),
                iico_data: Vec::with_capacity(16),
                ..Path::default()
            },
            instance: 0,
            size: None,
            deciders: Vec::new(),
        }
    }

    /// Starts the next instruction.
    pub fn next_instance(&mut self, size: Option<i64>) {
        self.instance += 1;
        self.size = size;
    }

    pub fn fresh(&mut self) -> Operand {
        self.path.vars += 1;
        Operand::Var(self.path.vars - 1)
    }

    pub fn compute(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        match partial(op, a, b) {
            Some(Ok(v)) => v,
            Some(Err(())) => {
                self.path.illegal = true;
                Operand::ZERO
            }
            None => {
                let result = self.fresh();
                if let Operand::Var(var) = result {
                    self.path.equations.push(Equation { var, op, a, b });
                }
                result
            }
        }
    }

    /// The path is taken only if the two are equal; false when they cannot be.
    pub fn require(&mut self, a: Operand, b: Operand) -> bool {
        match (a, b) {
            (Operand::Known(x), Operand::Known(y)) => x == y,
            _ => {
                self.path.equal.push((a, b));
                true
            }
        }
    }

    pub fn event(&mut self, act: Act, tags: u64, data_port: bool) -> Id {
        let id = self.path.events.len();
        self.path.events.push(Event {
            act,
            instance: self.instance,
            tags,
            data_port,
            atomic: false,
            size: self.size,
        });
        let deciders = self.deciders.iter().map(|d| (*d, id));
        self.path.control.extend(deciders);
        id
    }

    pub fn read_register(&mut self, register: usize, data_port: bool) -> (Operand, Id) {
        let id = self.event(Act::RegisterRead, 0, data_port);
        let held = self.path.registers[register];
        if let Some(writer) = held.writer {
            self.path.rf_reg.push((writer, id));
        }
        (held.value, id)
    }

    pub fn write_register(&mut self, register: usize, value: Operand) -> Id {
        let id = self.event(Act::RegisterWrite, 0, false);
        self.path.registers[register] = Held {
            value,
            writer: Some(id),
        };
        id
    }

    pub fn read(&mut self, at: Operand, tags: u64, data_port: bool) -> (Operand, Id) {
        let value = self.fresh();
        (value, self.event(Act::Read { at, value }, tags, data_port))
    }

    pub fn data(&mut self, from: &[Id], to: Id) {
        self.path.iico_data.extend(from.iter().map(|f| (*f, to)));
    }

    pub fn order(&mut self, from: Id, to: Id) {
        self.path.iico_order.push((from, to));
    }

    pub fn ctrl(&mut self, from: &[Id], to: Id) {
        self.path.iico_ctrl.extend(from.iter().map(|f| (*f, to)));
    }
}
