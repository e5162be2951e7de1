//! Workers that descend at random instead of exploring every branch.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::exploration::OpenBranch;
use crate::search::descents::{mix, Descent, Estimates, Leaves, Population};
use crate::search::halt::Halt;
use crate::search::queue::{BranchQueue, SearchWorker};
use crate::source::Source;

/// How many nodes a descent follows whose purpose is an estimate. More make a descent vary less and
/// take longer.
const NODES: usize = 16;
/// How long an estimate is improved at a time while the program is explored, and how long it rests:
/// a twentieth of the time of one thread.
const IMPROVES: Duration = Duration::from_millis(100);
const RESTS: Duration = Duration::from_secs(2);

/// The leaves that the workers have drawn together.
pub type SharedLeaves = Mutex<Leaves>;

/// Descends from the root.
fn descend<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    population: Population<W::Branch>,
) -> Result<Descent, Halt> {
    worker.branching().draw(population);
    let mut found = Descent::new();
    let mut members = vec![W::root()];
    loop {
        for node in members.drain(..) {
            let before = worker.found().counts.all();
            worker.branching().enter(OpenBranch::default());
            worker.branching().population().at_choice = false;
            worker.explore(node)?;
            found.meet(worker.found().counts.all() - before);
        }
        if !found.advance(worker.branching().population(), &mut members) {
            return Ok(found);
        }
    }
}

/// Draws executions until all were drawn, one was violated, or a limit is reached. The numbers of the
/// draws make them repeatable, whichever worker makes them.
pub fn sample<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    queue: &'q BranchQueue<'q, S>,
    leaves: &SharedLeaves,
    seed: u64,
) -> Result<(), Halt> {
    let shared = || leaves.lock().unwrap_or_else(PoisonError::into_inner);
    repeatedly(queue, |number| {
        while !shared().reached(number) {
            queue.check_limits()?;
            std::thread::yield_now();
        }
        if shared().over {
            return Err(Halt::Over);
        }
        let descent = descend(worker, Population::new(1, seeded(seed, number)))?;
        let violated = !worker.found().violations.is_empty();
        shared().add(&descent, violated);
        Ok(())
    })
}

/// Estimates how many executions there are, until a limit is reached.
pub fn estimate<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    queue: &'q BranchQueue<'q, S>,
    leaves: &SharedLeaves,
    seed: u64,
) -> Result<(), Halt> {
    worker.branching().tallies = false;
    repeatedly(queue, |number| {
        let descent = descend(worker, Population::new(NODES, seeded(seed, number)))?;
        let mut leaves = leaves.lock().unwrap_or_else(PoisonError::into_inner);
        leaves.estimates.add(descent.executions);
        let limits = &queue.options.limits;
        let mut shown = limits
            .estimated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *shown = leaves.estimates.estimate();
        Ok(())
    })
}

/// Estimates how many executions there are from time to time, until the search has ended.
pub fn estimate_at_times<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    queue: &'q BranchQueue<'q, S>,
) -> Halt {
    worker.branching().tallies = false;
    let mut estimates = Estimates::default();
    let mut number = 0;
    loop {
        let begun = Instant::now();
        while begun.elapsed() < IMPROVES {
            match descend(worker, Population::new(NODES, seeded(0, number))) {
                Ok(descent) => estimates.add(descent.executions),
                Err(halt) => return halt,
            }
            number += 1;
        }
        let limits = &queue.options.limits;
        let mut shown = limits
            .estimated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *shown = estimates.estimate();
        drop(shown);
        if queue.pause(RESTS) {
            return Halt::Over;
        }
    }
}

fn repeatedly<S: Source>(
    queue: &BranchQueue<S>,
    mut draw: impl FnMut(u64) -> Result<(), Halt>,
) -> Result<(), Halt> {
    // the last draws of others count too: the search is not over with the last number
    while let Some(number) = queue.next_draw()? {
        draw(number)?;
    }
    Ok(())
}

/// The state of the random numbers of a draw.
fn seeded(seed: u64, number: u64) -> u64 {
    mix(mix(seed) ^ number)
}
