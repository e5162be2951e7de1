//! The model that allows everything, with every coherence order: what herd7 does under a cat
//! file that says `include "cos.cat"` and no more. For tests of the candidates themselves.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::candidate::Candidate;
use super::decide::{Allowed, Execution, Judge};
use super::EngineError;

pub struct Free;

impl Judge for Free {
    type Stage<'p> = ();

    fn stage<'p>(&self, _: &Candidate<'p>) -> Result<(), EngineError> {
        Ok(())
    }

    fn allowed(
        &self,
        _: &(),
        execution: &Execution<'_, '_>,
        visit: &mut dyn FnMut(Allowed) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let c = execution.candidate;
        let mut writes = HashMap::new();
        for w in c.writes.iter().filter(|w| **w >= c.initial) {
            let at = c.events[*w].act.address();
            let place = at.and_then(|at| execution.chosen.solver.known(at));
            let last = execution.finals.contains(w);
            let entry = writes.entry(place).or_insert((0u64, false));
            entry.0 += 1;
            entry.1 |= last;
        }
        let orders: u64 = writes
            .values()
            .map(|(n, fixed)| (1..=(n - u64::from(*fixed))).product::<u64>())
            .product();
        for _ in 0..orders {
            if visit(Allowed::default()).is_break() {
                break;
            }
        }
        Ok(())
    }
}
