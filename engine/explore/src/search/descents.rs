//! Random descents through the search tree, and how many executions they show it to have.
//!
//! D. E. Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29,
//! 1975: a descent chooses one child of each node with equal probability; the product of the numbers
//! of children is one over the probability of the leaf where it ends, and the mean of these products
//! over many descents is the number of leaves. A descent of a population follows several nodes at a
//! time, drawn without repetition among the children of all of them, which varies much less
//! (stochastic enumeration: Vaisman and Kroese, Methodology and Computing in Applied Probability 19,
//! 2017; on TruSt's tree: Balasubramanian, Khoshechin Jorshari, Majumdar, Mathur, Zhang, "State space
//! estimation for DPOR-based model checkers", PLDI 2026). Both are unbiased whatever the tree.
//!
//! A step of a descent goes from a node to its next choice: the children there, and what the node
//! continues with by default, are the alternatives. Some end without an execution, because no
//! consistent one extends them; they count as nothing.

use rustc_hash::FxHashMap;

use crate::exploration::{Estimate, Sample};

/// Numbers that look random (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The children that a descent continues with: so many of those that it is offered, each with equal
/// probability (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
pub struct Population<B> {
    members: Vec<B>,
    most: usize,
    /// How many children were offered in this step.
    offered: u64,
    /// Where the next child goes.
    place: usize,
    /// For a population of one, the number of the member among those offered.
    chosen: u64,
    random: u64,
    /// Whether the node in progress is at its choice.
    pub at_choice: bool,
}

impl<B> Population<B> {
    pub fn new(most: usize, seed: u64) -> Population<B> {
        Population {
            members: Vec::new(),
            most,
            offered: 0,
            place: 0,
            chosen: 0,
            random: seed,
            at_choice: false,
        }
    }

    /// A number below `most`, all of them with equal probability.
    fn below(&mut self, most: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((u128::from(mix(self.random)) * u128::from(most)) >> 64) as u64
    }

    /// Whether the next child is a member: then [`Population::keep`] takes it.
    pub fn offer(&mut self) -> bool {
        self.offered += 1;
        if self.members.len() < self.most {
            self.place = self.members.len();
        } else {
            let at = self.below(self.offered);
            if at >= self.most as u64 {
                return false;
            }
            self.place = at as usize;
        }
        self.chosen = self.offered - 1;
        true
    }

    pub fn keep(&mut self, child: B) {
        match self.members.get_mut(self.place) {
            Some(member) => *member = child,
            None => self.members.push(child),
        }
    }

    pub fn into_members(self) -> Vec<B> {
        self.members
    }
}

/// A descent.
pub struct Descent {
    /// The number of executions according to this descent alone.
    pub executions: f64,
    /// The leaf where a descent of one node ends.
    pub leaf: u64,
    /// One over the probability of this leaf.
    pub weight: f64,
    /// How many executions it has met.
    pub met: u64,
}

impl Descent {
    pub fn new() -> Descent {
        Descent {
            executions: 0.0,
            leaf: 0,
            weight: 1.0,
            met: 0,
        }
    }

    /// Counts the executions that nodes of this step end with.
    pub fn meet(&mut self, executions: u64) {
        self.executions += self.weight * executions as f64;
        self.met += executions;
    }

    /// Starts a step with the members of a population. Returns whether there are any.
    pub fn advance<B>(&mut self, population: &mut Population<B>, members: &mut Vec<B>) -> bool {
        members.clear();
        std::mem::swap(members, &mut population.members);
        let offered = std::mem::take(&mut population.offered);
        if members.is_empty() {
            return false;
        }
        self.weight *= offered as f64 / members.len() as f64;
        self.leaf = mix(self.leaf ^ population.chosen);
        true
    }
}

/// The numbers that descents give: their mean and its standard error.
#[derive(Clone, Debug, Default)]
pub struct Estimates {
    draws: u64,
    mean: f64,
    /// The sum of the squares of the differences from the mean (Welford, Technometrics 4, 1962).
    squares: f64,
}

impl Estimates {
    pub fn draws(&self) -> u64 {
        self.draws
    }

    pub fn add(&mut self, executions: f64) {
        self.draws += 1;
        let before = executions - self.mean;
        self.mean += before / self.draws as f64;
        self.squares += before * (executions - self.mean);
    }

    /// None before two descents: one has no spread.
    pub fn estimate(&self) -> Option<Estimate> {
        let draws = self.draws as f64;
        (self.draws >= 2).then(|| Estimate {
            executions: self.mean,
            error: (self.squares / (draws - 1.0) / draws).sqrt(),
            draws: self.draws,
        })
    }
}

/// What descents of one node have come to.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    pub estimates: Estimates,
    /// The leaves with executions, each with the probability that a descent ends there.
    seen: FxHashMap<u64, f64>,
    /// Those without.
    empty: FxHashMap<u64, f64>,
    /// The probability that a descent ends at one of all these.
    known: f64,
    violated: bool,
    /// Whether further draws would not change the answer, decided after each round of draws.
    pub over: bool,
}

/// A further descent shows nothing new with this probability at most: all leaves were seen, up to
/// the rounding of their probabilities.
const NEGLIGIBLE: f64 = 1e-9;

/// How many draws make a round. A sample is the same whichever worker draws, so it ends only where
/// all workers have the same draws behind them.
const ROUND: u64 = 1000;

impl Leaves {
    /// Adds a descent. `violated`: an execution that it met violates something.
    pub fn add(&mut self, descent: &Descent, violated: bool) {
        self.estimates.add(descent.executions);
        self.violated |= violated;
        let seen = match descent.met {
            0 => &mut self.empty,
            _ => &mut self.seen,
        };
        let mass = 1.0 / descent.weight;
        if seen.insert(descent.leaf, mass).is_none() {
            self.known += mass;
        }
        if self.estimates.draws % ROUND == 0 {
            self.over = self.violated || self.known >= 1.0 - NEGLIGIBLE;
        }
    }

    /// Whether all draws of the rounds before that of a draw have been added.
    pub fn reached(&self, draw: u64) -> bool {
        self.estimates.draws >= draw - draw % ROUND
    }

    /// None before the first descent.
    pub fn sample(&self) -> Option<Sample> {
        let draws = self.estimates.draws;
        // added in one order, whichever worker came first: a sample is repeatable to the last digit
        let mut masses: Vec<f64> = self
            .seen
            .values()
            .chain(self.empty.values())
            .copied()
            .collect();
        masses.sort_unstable_by(f64::total_cmp);
        (draws > 0).then(|| Sample {
            draws,
            distinct: self.seen.len() as u64,
            known: masses.iter().sum::<f64>().min(1.0),
        })
    }
}
