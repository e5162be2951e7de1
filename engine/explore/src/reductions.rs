//! What makes the search visit fewer executions than there are. Each reduction states at the head of its
//! module which executions it leaves out and why others show what they show; docs/reductions.md
//! collects these arguments.

use borsh::{BorshDeserialize, BorshSerialize};

/// A reduction that can be switched off alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Symmetry,
    Elements,
    Arrivals,
    Retries,
    UndoneRounds,
    SpuriousFailures,
    Waits,
    BoundedSpins,
    UnnoticedWrites,
    LaterWrites,
    UnsharedObjects,
    MainAlone,
}

impl Reduction {
    pub const ALL: [Reduction; 12] = [
        Reduction::Symmetry,
        Reduction::Elements,
        Reduction::Arrivals,
        Reduction::Retries,
        Reduction::UndoneRounds,
        Reduction::SpuriousFailures,
        Reduction::Waits,
        Reduction::BoundedSpins,
        Reduction::UnnoticedWrites,
        Reduction::LaterWrites,
        Reduction::UnsharedObjects,
        Reduction::MainAlone,
    ];

    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// The executions that it leaves out.
    pub fn leaves_out(self) -> &'static str {
        self.described().1
    }

    pub fn named(name: &str) -> Option<Reduction> {
        Reduction::ALL.into_iter().find(|each| each.name() == name)
    }

    fn described(self) -> (&'static str, &'static str) {
        match self {
            Reduction::Symmetry => (
                "symmetry",
                "executions that differ only in which of several identical threads does what",
            ),
            Reduction::Elements => (
                "elements",
                "the same, of threads that differ in the elements that they get; needs symmetry",
            ),
            Reduction::Arrivals => (
                "arrivals",
                "all orders but one in which threads arrive at a barrier",
            ),
            Reduction::Retries => (
                "retries",
                "rounds of a loop that retries with a value that its thread could have read before",
            ),
            Reduction::UndoneRounds => (
                "undone-rounds",
                "rounds of a loop whose addition is undone before it is tried again",
            ),
            Reduction::SpuriousFailures => (
                "spurious-failures",
                "spurious failures of a compare-exchange that is tried again in the same state",
            ),
            Reduction::Waits => (
                "waits",
                "reads in vain, by which a thread that waits in a loop or for a lock keeps waiting",
            ),
            Reduction::BoundedSpins => (
                "bounded-spins",
                "reads in vain of a loop that looks a limited number of times",
            ),
            Reduction::UnnoticedWrites => (
                "unnoticed-writes",
                "rounds of a loop whose writes no other thread and no later read notices",
            ),
            Reduction::LaterWrites => (
                "later-writes",
                "nothing, but gives up a read that waits for a write that no thread performs",
            ),
            Reduction::UnsharedObjects => (
                "unshared-objects",
                "the order and the sources of accesses to objects that one thread uses",
            ),
            Reduction::MainAlone => (
                "main-alone",
                "nothing, but has no events for what main does before it starts a thread",
            ),
        }
    }
}

/// The reductions that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Reductions(u16);

impl Reductions {
    pub const ALL: Reductions = Reductions((1 << Reduction::ALL.len()) - 1);
    pub const NONE: Reductions = Reductions(0);

    pub fn has(self, reduction: Reduction) -> bool {
        self.0 >> reduction as u16 & 1 == 1
    }

    /// These, but for one, which is on or off.
    pub fn with(self, reduction: Reduction, on: bool) -> Reductions {
        let bit = 1 << reduction as u16;
        Reductions((self.0 & !bit) | (u16::from(on) * bit))
    }

    pub fn without<const N: usize>(self, these: [Reduction; N]) -> Reductions {
        these
            .iter()
            .fold(self, |some, each| some.with(*each, false))
    }

    pub fn iter(self) -> impl Iterator<Item = Reduction> {
        Reduction::ALL
            .into_iter()
            .filter(move |each| self.has(*each))
    }
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions::ALL
    }
}
