//! Workers that descend at random instead of exploring every branch.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::exploration::OpenBranch;
use crate::search::descents::{mix, Descent, Leaves, Population};
use crate::search::halt::Halt;
use crate::search::queue::{BranchQueue, SearchWorker};
use crate::source::Source;

/// How many nodes a descent follows whose purpose is an estimate. More make a descent vary less and
/// take longer.
const NODES: usize = 16;
/// For how long a worker draws at a time while the program is explored.
const DRAWS: Duration = Duration::from_millis(100);
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
        *queue.options.limits.estimate() = leaves.estimates.estimate();
        Ok(())
    })
}

/// Draws for a while, and keeps what the executions violate.
pub fn draw_meanwhile<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    queue: &'q BranchQueue<'q, S>,
) -> Result<(), Halt> {
    let begun = Instant::now();
    let found = std::mem::take(worker.found());
    worker.branching().tallies = false;
    let ended = draw_until(worker, queue, begun + DRAWS);
    worker.branching().tallies = true;
    worker.branching().draw_no_more();
    let drawn = std::mem::replace(worker.found(), found);
    let violated = !drawn.violations.is_empty();
    worker.found().merge_drawn(drawn);
    ended?;
    if violated && queue.options.first {
        return Err(Halt::Over);
    }
    let (limits, now) = (&queue.options.limits, queue.start.elapsed());
    queue
        .draws
        .rest(limits, queue.workers, now, begun.elapsed());
    Ok(())
}

fn draw_until<'q, S: Source, W: SearchWorker<'q, S>>(
    worker: &mut W,
    queue: &'q BranchQueue<'q, S>,
    end: Instant,
) -> Result<(), Halt> {
    let mut estimates = queue.draws.estimates();
    // another number whenever the search is repeated, since more was learned of the program
    let seed = queue.options.limits.counted.load(Ordering::Relaxed);
    while Instant::now() < end {
        let seed = seeded(seed, estimates.draws());
        estimates.add(descend(worker, Population::new(NODES, seed))?.executions);
    }
    *queue.options.limits.estimate() = estimates.estimate();
    Ok(())
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
