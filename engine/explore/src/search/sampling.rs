//! Workers that descend at random instead of exploring every branch.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::exploration::OpenBranch;
use crate::search::descents::{mix, Descent, Leaves, Population};
use crate::search::halt::Halt;
use crate::search::worker::{Algorithm, Worker};
use crate::source::Source;

/// How many nodes a descent follows whose purpose is an estimate. More make a descent vary less and
/// take longer.
const NODES: usize = 16;
/// For how long a worker draws at a time while the program is explored.
const DRAWS: Duration = Duration::from_millis(100);
/// The leaves that the workers have drawn together.
pub type SharedLeaves = Mutex<Leaves>;

impl<S: Source, A: Algorithm> Worker<'_, S, A> {
    /// Descends from the root.
    fn descend(&mut self, population: Population<A::Branch>) -> Result<Descent, Halt> {
        self.branching.draw(population);
        let mut found = Descent::new();
        let mut members = vec![A::root()];
        loop {
            for node in members.drain(..) {
                let before = self.found.counts.all();
                self.branching.enter(OpenBranch::default());
                self.branching.population().at_choice = false;
                A::explore(self, node)?;
                found.meet(self.found.counts.all() - before);
            }
            if !found.advance(self.branching.population(), &mut members) {
                return Ok(found);
            }
        }
    }

    /// Draws executions until all were drawn, one was violated, or a limit is reached. The numbers of the
    /// draws make them repeatable, whichever worker makes them.
    pub fn sample(&mut self, leaves: &SharedLeaves, seed: u64) -> Result<(), Halt> {
        let shared = || leaves.lock().unwrap_or_else(PoisonError::into_inner);
        // the last draws of others count too: the search is not over with the last number
        while let Some(number) = self.queue.next_draw()? {
            while !shared().reached(number) {
                self.queue.check_limits()?;
                std::thread::yield_now();
            }
            if shared().over {
                return Err(Halt::Over);
            }
            let descent = self.descend(Population::new(1, seeded(seed, number)))?;
            let violated = !self.found.violations.is_empty();
            shared().add(&descent, violated);
        }
        Ok(())
    }

    /// Estimates how many executions there are, until a limit is reached.
    pub fn estimate(&mut self, leaves: &SharedLeaves, seed: u64) -> Result<(), Halt> {
        self.branching.tallies = false;
        while let Some(number) = self.queue.next_draw()? {
            let descent = self.descend(Population::new(NODES, seeded(seed, number)))?;
            let mut leaves = leaves.lock().unwrap_or_else(PoisonError::into_inner);
            leaves.estimates.add(descent.executions);
            *self.queue.options.limits.estimate() = leaves.estimates.estimate();
        }
        Ok(())
    }

    /// Draws for a while, and keeps what the executions violate.
    pub fn draw_meanwhile(&mut self) -> Result<(), Halt> {
        let begun = Instant::now();
        let found = std::mem::take(&mut self.found);
        self.branching.tallies = false;
        let ended = self.draw_until(begun + DRAWS);
        self.branching.tallies = true;
        self.branching.draw_no_more();
        let drawn = std::mem::replace(&mut self.found, found);
        let violated = !drawn.violations.is_empty();
        self.found.merge_drawn(drawn);
        ended?;
        let queue = self.queue;
        if violated && queue.options.first {
            return Err(Halt::Over);
        }
        let (limits, now) = (&queue.options.limits, queue.start.elapsed());
        queue
            .draws
            .rest(limits, queue.workers, now, begun.elapsed());
        Ok(())
    }

    fn draw_until(&mut self, end: Instant) -> Result<(), Halt> {
        let limits = &self.queue.options.limits;
        let mut estimates = self.queue.draws.estimates();
        // another number whenever the search is repeated, since more was learned of the program
        let seed = limits.counted.load(Ordering::Relaxed);
        while Instant::now() < end {
            let seed = seeded(seed, estimates.draws());
            let descent = self.descend(Population::new(NODES, seed))?;
            estimates.add(descent.executions);
        }
        *limits.estimate() = estimates.estimate();
        Ok(())
    }
}

/// The state of the random numbers of a draw.
fn seeded(seed: u64, number: u64) -> u64 {
    mix(mix(seed) ^ number)
}
