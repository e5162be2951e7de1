//! Solves the equations between the values of a candidate as reads-from is chosen, and takes
//! choices back.

use super::event::{partial, Equation, Operand};
use litmus::value::Value;

#[derive(Clone, Copy, Debug)]
enum Binding {
    Free,
    Known(Value),
    Same(u32),
}

#[derive(Debug)]
pub struct Solver {
    bindings: Vec<Binding>,
    equations: Vec<Equation>,
    /// Indices of equations, the solved ones first.
    order: Vec<usize>,
    solved: usize,
    trail: Vec<u32>,
    /// An operation without a result was met.
    pub illegal: bool,
}

/// A point to return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    trail: usize,
    solved: usize,
}

impl Solver {
    pub fn new(vars: u32, equations: Vec<Equation>) -> Solver {
        Solver {
            bindings: vec![Binding::Free; vars as usize],
            order: (0..equations.len()).collect(),
            equations,
            solved: 0,
            trail: Vec::new(),
            illegal: false,
        }
    }

    pub fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len(),
            solved: self.solved,
        }
    }

    pub fn undo(&mut self, mark: Mark) {
        for var in self.trail.drain(mark.trail..) {
            self.bindings[var as usize] = Binding::Free;
        }
        self.solved = mark.solved;
    }

    pub fn find(&self, mut o: Operand) -> Operand {
        while let Operand::Var(v) = o {
            match self.bindings[v as usize] {
                Binding::Free => return o,
                Binding::Known(value) => return Operand::Known(value),
                Binding::Same(w) => o = Operand::Var(w),
            }
        }
        o
    }

    /// The value, when nothing is left open.
    pub fn known(&self, o: Operand) -> Option<Value> {
        match self.find(o) {
            Operand::Known(v) => Some(v),
            Operand::Var(_) => None,
        }
    }

    /// The value, or the name of what is open.
    pub fn value(&self, o: Operand) -> Value {
        match self.find(o) {
            Operand::Known(v) => v,
            Operand::Var(v) => Value::Open(v),
        }
    }

    /// Makes two operands equal; false when they cannot be. `propagate` draws the conclusions.
    pub fn unify(&mut self, a: Operand, b: Operand) -> bool {
        let (var, binding) = match (self.find(a), self.find(b)) {
            (Operand::Known(x), Operand::Known(y)) => return x == y,
            (Operand::Var(v), Operand::Known(x)) | (Operand::Known(x), Operand::Var(v)) => {
                (v, Binding::Known(x))
            }
            (Operand::Var(v), Operand::Var(w)) if v == w => return true,
            (Operand::Var(v), Operand::Var(w)) => (v, Binding::Same(w)),
        };
        self.bindings[var as usize] = binding;
        self.trail.push(var);
        true
    }

    /// Computes what can be; false when the equations contradict one another.
    pub fn propagate(&mut self) -> bool {
        let mut changed = true;
        while changed {
            changed = false;
            for i in self.solved..self.order.len() {
                let e = self.equations[self.order[i]];
                let result = match partial(e.op, self.find(e.a), self.find(e.b)) {
                    None => continue,
                    Some(Err(())) => {
                        self.illegal = true;
                        return false;
                    }
                    Some(Ok(result)) => result,
                };
                self.order.swap(i, self.solved);
                self.solved += 1;
                changed = true;
                if !self.unify(Operand::Var(e.var), result) {
                    return false;
                }
            }
        }
        true
    }

    pub fn all_solved(&self) -> bool {
        self.solved == self.order.len()
    }
}
