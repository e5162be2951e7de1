//! Rounds of a loop, as what they do with shared memory.

use crate::source::Location;
use rustc_hash::FxHashMap;

/// What a thread has done with shared memory, or chosen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Read(Location, u64),
    Write(Location, u64),
    /// Another choice may be made the next time.
    Choice,
}

/// Whether a round, its first step first, reads the same again if memory holds what `last` says, and
/// leaves it so.
pub fn repeats<'s>(
    mut round: impl Iterator<Item = &'s Step>,
    last: impl Fn(Location) -> Option<u64>,
) -> bool {
    let mut written: FxHashMap<Location, u64> = FxHashMap::default();
    let same = round.all(|step| match step {
        Step::Read(at, value) => written.get(at).copied().or_else(|| last(*at)) == Some(*value),
        Step::Write(at, value) => {
            written.insert(*at, *value);
            true
        }
        Step::Choice => false,
    });
    same && written.iter().all(|(at, value)| last(*at) == Some(*value))
}
