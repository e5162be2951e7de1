//! Solves the equations between the values of a candidate while reads-from is chosen; choices can be
//! undone.

use super::term::{partial, Equation, Term};
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

    pub fn find(&self, mut o: Term) -> Term {
        while let Term::Var(v) = o {
            match self.bindings[v as usize] {
                Binding::Free => return o,
                Binding::Known(value) => return Term::Known(value),
                Binding::Same(w) => o = Term::Var(w),
            }
        }
        o
    }

    /// The value, if it is determined.
    pub fn known(&self, o: Term) -> Option<Value> {
        match self.find(o) {
            Term::Known(v) => Some(v),
            Term::Var(_) => None,
        }
    }

    /// The value, or the number of the unknown.
    pub fn value(&self, o: Term) -> Value {
        match self.find(o) {
            Term::Known(v) => v,
            Term::Var(v) => Value::Undetermined(v),
        }
    }

    /// Makes two terms equal; false when they cannot be. `propagate` computes what follows.
    pub fn unify(&mut self, a: Term, b: Term) -> bool {
        let (var, binding) = match (self.find(a), self.find(b)) {
            (Term::Known(x), Term::Known(y)) => return x == y,
            (Term::Var(v), Term::Known(x)) | (Term::Known(x), Term::Var(v)) => {
                (v, Binding::Known(x))
            }
            (Term::Var(v), Term::Var(w)) if v == w => return true,
            (Term::Var(v), Term::Var(w)) => (v, Binding::Same(w)),
        };
        self.bindings[var as usize] = binding;
        self.trail.push(var);
        true
    }

    /// Computes what the equations determine; false when they contradict each other.
    pub fn propagate(&mut self) -> bool {
        let mut changed = true;
        while changed {
            changed = false;
            for i in self.solved..self.order.len() {
                let e = self.equations[self.order[i]];
                let Some(Ok(result)) = partial(e.op, self.find(e.a), self.find(e.b)) else {
                    continue;
                };
                self.order.swap(i, self.solved);
                self.solved += 1;
                changed = true;
                if !self.unify(Term::Var(e.var), result) {
                    return false;
                }
            }
        }
        true
    }

    pub fn all_solved(&self) -> bool {
        self.solved == self.order.len()
    }

    /// Whether an operation on values that are known has no result.
    pub fn lacks_result(&self) -> bool {
        self.order[self.solved..].iter().any(|number| {
            let e = &self.equations[*number];
            matches!(partial(e.op, self.find(e.a), self.find(e.b)), Some(Err(_)))
        })
    }
}
