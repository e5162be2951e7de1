//! Which random programs a long test compares.
use std::ops::Range;

/// Those that `SEEDS` names, as in `SEEDS=5000..20000`; without it, the first `count`.
pub fn seeds(count: u64) -> Range<u64> {
    let Ok(named) = std::env::var("SEEDS") else {
        return 0..count;
    };
    let ends = named
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or_else(|| panic!("SEEDS={named}: expected two numbers, as in 5000..20000"))
}
