//! Shares of one exploration, which several processes explore at the same time: what is left open is
//! divided into subtrees, and what they find is joined.
//!
//! Which executions there are depends on what was learned of the program, and what one share assumes
//! may be contradicted by what another has shown, as between the workers of one process. So what was
//! learned is joined too; after a contradiction the exploration starts again, with that known.

use crate::exchanges::Exchanges;
use crate::exploration::{Exploration, ExploreError, Frontier, OpenBranch};
use crate::source::Source;
use crate::threads::checkpoint::Checkpoint;
use crate::threads::source::ProgramSource;
use program::interpreter::Limits;
use program::ir::Program;

impl Checkpoint {
    /// Divides what is left open into at most `most` shares, none of them empty. What remains is what
    /// was found, with nothing open.
    pub fn divide(&mut self, most: usize) -> Vec<Checkpoint> {
        let branches = std::mem::take(&mut self.open.branches);
        let mut open: Vec<OpenBranch> = branches.iter().flat_map(OpenBranch::levels).collect();
        // most executions are left below the nodes near the root; a worker begins with the last
        open.sort_by_key(|branch| branch.path.len());
        let count = open.len().min(most.max(1));
        let mut shares = vec![Vec::new(); count];
        for (number, branch) in open.into_iter().enumerate() {
            shares[number % count].push(branch);
        }
        let share = |branches| {
            let nothing = Exploration {
                open: Frontier {
                    branches,
                    ..self.open.clone()
                },
                loop_bound: self.loop_bound,
                ..Exploration::default()
            };
            Checkpoint::new(self.learned.clone(), &nothing, self.loops())
        };
        shares.into_iter().map(share).collect()
    }
}

impl OpenBranch {
    /// The same as branches of which each is the rest of one node: those on the way to the last child
    /// that was begun.
    fn levels(&self) -> Vec<OpenBranch> {
        if self.met.is_empty() {
            return vec![self.clone()];
        }
        let mut path = self.path.clone();
        let level = |met: &u32| {
            let found = OpenBranch {
                path: path.clone(),
                met: vec![*met],
            };
            path.push(met.wrapping_sub(1));
            found
        };
        self.met.iter().map(level).collect()
    }
}

/// Joins two shares of an exploration of a program. Returns also whether it starts again, as what one
/// has shown contradicts what the other assumes. Fails if one is of another exploration.
pub fn join(
    program: &Program,
    limits: Limits,
    one: Checkpoint,
    other: Checkpoint,
) -> Result<(Checkpoint, bool), ExploreError> {
    let loop_bound = one.loop_bound;
    let limits = Limits {
        loops: loop_bound,
        ..limits
    };
    let mut source = ProgramSource::new(program, limits);
    let loops = one.loops().max(other.loops());
    let (mut one, mut other) = (one, other);
    source.reduce(one.learned.reductions);
    if !source.resume(std::mem::take(&mut one.learned)) {
        return Err(ExploreError::OtherTree);
    }
    let learned = std::mem::take(&mut other.learned);
    if !source.sharing.join(learned, &source.initial_objects()) {
        return Err(ExploreError::OtherTree);
    }
    let (mut found, mut more) = (one.exploration(), other.exploration());
    let search = found.open.search.or(more.open.search);
    if more.open.search.is_some_and(|its| Some(its) != search) {
        return Err(ExploreError::OtherTree);
    }
    let mut branches = std::mem::take(&mut found.open.branches);
    branches.append(&mut more.open.branches);
    let exchanges = Exchanges::resumed(std::mem::take(&mut found.open.exchanges));
    if let Err(thread) = exchanges.join(std::mem::take(&mut more.open.exchanges)) {
        source.distinguish(thread);
    }
    if source.sharing.has_changed() {
        source.settle();
        let anew = Exploration {
            open: Frontier {
                branches: vec![OpenBranch::default()],
                ..Frontier::default()
            },
            loop_bound,
            ..Exploration::default()
        };
        return Ok((Checkpoint::new(source.learned(), &anew, loops), true));
    }
    let threads = found.threads.max(more.threads);
    found.add_earlier(more);
    found.threads = threads;
    found.open = Frontier {
        search,
        branches,
        exchanges: exchanges.known(),
    };
    Ok((Checkpoint::new(source.learned(), &found, loops), false))
}
