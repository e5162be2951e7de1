//! What a worker does with the alternatives that it meets, and where in the search tree it is.
//!
//! A node of the tree is a call of a worker's `visit`; its children are the alternatives that the
//! visit hands to `branch`, in this order; what the visit itself continues with is the alternative
//! that the search takes by default. Which children there are follows from the execution alone, so
//! the numbers of the children on the way from the root, a path, name the same node in every run.
//!
//! The length of its path is how many *departures* an execution has: steps at which it does not take
//! the default, which is that a read reads from the last write in coherence order, that a write
//! comes last in coherence order, that no earlier read is revisited, and that a free choice is 0. In
//! the search that postpones reads, the default is the last of the writes, or positions, in coherence
//! order that leaves the graph consistent. Since no departure is ever taken back on the way to a
//! leaf, leaving out the nodes beyond a bound leaves out exactly the executions beyond it, and the
//! others are still found once each. The idea is that of limited discrepancy search (Harvey and
//! Ginsberg, IJCAI 1995) and of delay bounding (Emmi, Qadeer, Rakamarić, POPL 2011). Preemptions are
//! not bounded: they are defined for sequential consistency only, and graphs that exceed a bound
//! lead to graphs within it (Marmanis, Kokologiannakis, Vafeiadis, TACAS 2023).

use crate::exploration::OpenBranch;
use crate::search::descents::Population;
use crate::search::halt::Halt;

/// What to do with an alternative.
pub enum Turn {
    /// Explore it now; [`Branching::leave`] afterwards.
    Visit,
    /// Hand it to [`Branching::keep`].
    Keep,
    /// It is not explored, or was explored already.
    Skip,
}

pub struct Branching<B> {
    /// The node that the worker explores, or the rest of.
    base: Vec<u32>,
    /// For each visit in progress, from this node on, how many children it has met. What is left of
    /// the visits before is given away.
    met: Vec<u32>,
    /// As `met`: what an earlier exploration of this node has met. Its last children are complete,
    /// all others but the last are.
    resumed: Vec<u32>,
    /// The node that is looked for, if one is.
    sought: Option<Vec<u32>>,
    /// The most departures.
    bound: u32,
    /// Whether the bound has left a child out.
    pub left_out: bool,
    population: Option<Population<B>>,
    /// Whether the executions count for the limits.
    pub tallies: bool,
}

impl<B> Branching<B> {
    pub fn new(bound: Option<u32>) -> Branching<B> {
        Branching {
            base: Vec::new(),
            met: Vec::new(),
            resumed: Vec::new(),
            sought: None,
            bound: bound.unwrap_or(u32::MAX),
            left_out: false,
            population: None,
            tallies: true,
        }
    }

    /// Starts exploring a node.
    pub fn enter(&mut self, at: OpenBranch) {
        self.base = at.path;
        self.resumed = at.met;
        self.met.clear();
        self.met.push(0);
    }

    /// Starts looking for a node from the root.
    pub fn seek(&mut self, path: Vec<u32>) {
        self.enter(OpenBranch::default());
        self.sought = Some(path);
        self.population = Some(Population::new(1, 0));
    }

    /// The node that was looked for.
    pub fn found(&mut self) -> Option<B> {
        self.sought = None;
        self.population.take()?.into_members().pop()
    }

    /// Draws from the children from now on.
    pub fn draw(&mut self, population: Population<B>) {
        self.population = Some(population);
    }

    /// Explores all children from now on.
    pub fn draw_no_more(&mut self) {
        self.population = None;
    }

    pub fn population(&mut self) -> &mut Population<B> {
        self.population.as_mut().expect("children are drawn")
    }

    /// Whether all children are explored.
    pub fn is_exploring(&self) -> bool {
        self.population.is_none()
    }

    /// Whether the children are drawn from.
    pub fn is_drawing(&self) -> bool {
        self.population.is_some() && self.sought.is_none()
    }

    /// Starts the choice of a step of a descent.
    pub fn choose(&mut self) {
        self.population().at_choice = true;
    }

    /// Whether the choice of a step has started, so that what the visit continues with is one of
    /// the alternatives.
    #[inline]
    pub fn is_at_choice(&self) -> bool {
        self.population
            .as_ref()
            .is_some_and(|population| population.at_choice)
    }

    /// What to do with an alternative of a step.
    pub fn offer(&mut self) -> Turn {
        match self.population().offer() {
            true => Turn::Keep,
            false => Turn::Skip,
        }
    }

    /// Takes a child; fails if it is the one that was looked for.
    pub fn keep(&mut self, child: B) -> Result<(), Halt> {
        self.population().keep(child);
        match self.sought {
            Some(_) => Err(Halt::Over),
            None => Ok(()),
        }
    }

    /// The next child of the visit in progress.
    #[inline]
    pub fn meet(&mut self) -> Turn {
        let Some(depth) = self.met.len().checked_sub(1) else {
            return Turn::Skip;
        };
        let number = self.met[depth];
        self.met[depth] += 1;
        if self.population.is_some() {
            return self.drawn(depth, number);
        }
        if let Some(resumed) = self.resumed.get(depth).copied() {
            let last = depth + 1 == self.resumed.len();
            if number + 1 < resumed || last && number + 1 == resumed {
                return Turn::Skip;
            }
            if number + 1 == resumed {
                self.met.push(0);
                return Turn::Visit;
            }
        }
        if (self.base.len() + self.met.len()) as u64 > u64::from(self.bound) {
            self.left_out = true;
            return Turn::Skip;
        }
        self.met.push(0);
        Turn::Visit
    }

    /// Gives away what is left of the first visit in progress, but for the child that is explored
    /// now: of all that could be given away, most executions are left below the node nearest to the
    /// root. None if a node is looked for.
    pub fn give(&mut self) -> Option<OpenBranch> {
        if self.sought.is_some() {
            return None;
        }
        let met = self.met.remove(0);
        let given = OpenBranch {
            path: self.base.clone(),
            met: vec![met],
        };
        self.base.push(met - 1);
        self.resumed.drain(..self.resumed.len().min(1));
        Some(given)
    }

    /// Whether what is left of the visit in progress is given away.
    #[inline]
    pub fn is_given(&self) -> bool {
        self.met.is_empty()
    }

    fn drawn(&mut self, depth: usize, number: u32) -> Turn {
        let Some(sought) = &self.sought else {
            self.choose();
            return self.offer();
        };
        if sought.get(depth) != Some(&number) {
            return Turn::Skip;
        }
        if depth + 1 == sought.len() {
            return self.offer();
        }
        self.met.push(0);
        Turn::Visit
    }

    /// The child whose visit was in progress is explored.
    #[inline]
    pub fn leave(&mut self) {
        self.met.pop();
        self.resumed.truncate(self.met.len());
    }

    /// What is left to explore of the node, if the search ends now.
    pub fn open(&mut self) -> Option<OpenBranch> {
        // a node that is resumed may not have come as far as before
        let before = self.resumed.len() >= self.met.len() && {
            let depth = self.met.len();
            depth > 0 && self.resumed[depth - 1] >= self.met[depth - 1]
        };
        let met = match before {
            true => std::mem::take(&mut self.resumed),
            false => std::mem::take(&mut self.met),
        };
        let path = std::mem::take(&mut self.base);
        self.met.clear();
        (!met.is_empty()).then_some(OpenBranch { path, met })
    }
}
