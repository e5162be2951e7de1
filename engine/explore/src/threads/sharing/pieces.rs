//! The pieces that accesses are split into.
use super::{lock, LearnedSharing, SharingChanged};
use crate::source::Location;
use crate::threads::ranges::{insert, insert_whole};
use program::ir::SiteId;
use std::collections::BTreeMap;

impl LearnedSharing {
    /// Learns that an atomic access has these bytes whole. None if another one has some of them and
    /// others.
    pub fn learn_whole(&self, start: u64, end: u64) -> Option<SharingChanged> {
        // accesses to ranges in this one will be to parts of it
        let reaches_out = |wholes: &BTreeMap<u64, u64>| {
            let mut over = wholes.range(..end).rev().take_while(|(_, e)| **e > start);
            over.any(|(s, e)| *s < start || *e > end)
        };
        if reaches_out(&self.known.wholes) {
            return None;
        }
        let mut learned = lock(&self.learned);
        // a range that another worker has just learned is known from the restart on
        if !reaches_out(&learned.wholes) {
            insert_whole(&mut learned.wholes, start, end);
            learned.splits.extend([start, end]);
        }
        drop(learned);
        Some(self.change())
    }

    /// Learns that atomic accesses have parts of these bytes, as an access shows at a site.
    pub fn learn_divided(&self, (start, end): (u64, u64), site: SiteId) -> SharingChanged {
        let mut learned = lock(&self.learned);
        let overlapping = self.known.wholes.range(..end);
        let overlapping: Vec<u64> = overlapping
            .filter(|(_, e)| **e > start)
            .flat_map(|(s, e)| [*s, *e])
            .chain([start, end])
            .collect();
        let first = overlapping.iter().copied().fold(start, u64::min);
        let last = overlapping.iter().copied().fold(end, u64::max);
        learned.splits.extend(overlapping);
        insert(&mut learned.divided, first, last);
        learned.mixed.get_or_insert(site);
        drop(learned);
        self.change()
    }

    /// Whether atomic accesses have parts of these bytes.
    pub fn is_divided(&self, start: u64, end: u64) -> bool {
        let before = self.known.divided.range(..=start).next_back();
        before.is_some_and(|(_, e)| *e >= end)
    }

    /// An access that has another size than an atomic one that it overlaps, if there is one.
    pub fn mixed(&self) -> Option<SiteId> {
        self.known.mixed
    }

    /// The range with this address that is not split.
    fn whole(&self, address: u64) -> Option<(u64, u64)> {
        let (start, end) = self.known.wholes.range(..=address).next_back()?;
        (*end > address).then_some((*start, *end))
    }

    /// The pieces of at most `most` bytes that an access is split into. The first and the last may reach
    /// beyond it.
    pub fn pieces(
        &self,
        address: u64,
        size: u64,
        most: u64,
    ) -> Result<Vec<Location>, SharingChanged> {
        let mut pieces = Vec::new();
        let location = |from: u64, to: u64| Location {
            address: from,
            size: (to - from) as u32,
        };
        let end = address + size;
        let mut start = address;
        while start < end {
            if let Some((from, to)) = self.whole(start) {
                pieces.push(location(from, to));
                start = to;
                continue;
            }
            let split = self.known.splits.range(start + 1..end).next();
            let mut stop = split.map_or(end, |c| *c);
            if size > most {
                stop = stop.min((start / 8 + 1) * 8);
            }
            pieces.push(location(start, stop));
            start = stop;
        }
        for at in &pieces {
            self.piece(at.address, at.address + u64::from(at.size))?;
        }
        Ok(pieces)
    }

    /// Records a piece that an access was split into. Fails if it overlaps another one.
    pub(super) fn piece(&self, start: u64, end: u64) -> Result<(), SharingChanged> {
        let pieces = &mut self.facts().pieces;
        let mut over = pieces.range(..end).rev().take_while(|(_, e)| **e > start);
        match over.next().map(|(s, e)| (*s, *e)) {
            None => {
                pieces.insert(start, end);
            }
            Some(other) if other == (start, end) => {}
            Some(other) => {
                let more: Vec<u64> = over.flat_map(|(s, e)| [*s, *e]).collect();
                let mut learned = lock(&self.learned);
                learned.splits.extend([start, end, other.0, other.1]);
                learned.splits.extend(more);
                return Err(self.change());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn pieces(
        sharing: &LearnedSharing,
        address: u64,
        size: u64,
    ) -> Result<Vec<(u64, u32)>, SharingChanged> {
        let pieces = sharing.pieces(address, size, 8)?;
        Ok(pieces.iter().map(|at| (at.address, at.size)).collect())
    }

    #[test]
    fn overlapping_accesses_are_split_at_the_same_places_from_then_on() {
        let mut sharing = LearnedSharing::default();
        assert_eq!(pieces(&sharing, 64, 8), Ok(vec![(64, 8)]));
        assert_eq!(pieces(&sharing, 68, 4), Err(SharingChanged));
        assert!(sharing.has_changed());
        sharing.restart(0);
        assert_eq!(pieces(&sharing, 64, 8), Ok(vec![(64, 4), (68, 4)]));
        assert_eq!(pieces(&sharing, 68, 4), Ok(vec![(68, 4)]));
        assert_eq!(
            pieces(&sharing, 60, 20),
            Ok(vec![(60, 4), (64, 4), (68, 4), (72, 8)])
        );
        assert!(!sharing.has_changed());
    }

    #[test]
    fn an_atomic_access_contains_others() {
        let mut sharing = LearnedSharing::default();
        for (start, end) in [(64, 65), (66, 68), (64, 72)] {
            assert_eq!(sharing.learn_whole(start, end), Some(SharingChanged));
            sharing.restart(0);
        }
        for (start, size) in [(64, 1), (66, 2), (64, 8)] {
            assert_eq!(pieces(&sharing, start, size), Ok(vec![(64, 8)]));
        }
        assert_eq!(sharing.learn_whole(64, 65), None);
        assert_eq!(sharing.learn_whole(60, 68), None);
    }
}
