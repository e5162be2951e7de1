//! Disjoint ranges of addresses, from their start to their end.

use std::collections::BTreeMap;

/// Whether one of these disjoint ranges has some of the bytes.
pub fn overlaps(ranges: &BTreeMap<u64, u64>, start: u64, end: u64) -> bool {
    let before = ranges.range(..end).next_back();
    before.is_some_and(|(_, e)| *e > start)
}

/// Adds a range to disjoint ones, and merges those that overlap.
pub fn insert(ranges: &mut BTreeMap<u64, u64>, start: u64, end: u64) {
    let (mut start, mut end) = (start, end);
    while let Some((s, e)) = ranges.range(..end).next_back().map(|(s, e)| (*s, *e)) {
        if e <= start {
            break;
        }
        ranges.remove(&s);
        start = start.min(s);
        end = end.max(e);
    }
    ranges.insert(start, end);
}

/// Adds a range that is not split, in place of those in it.
pub fn insert_whole(wholes: &mut BTreeMap<u64, u64>, start: u64, end: u64) {
    wholes.retain(|s, e| *s < start || *e > end);
    wholes.insert(start, end);
}
