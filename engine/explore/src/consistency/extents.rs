//! What each set and relation may contain in the view of a graph, for the static analyses of models.
//!
//! The events are of four sorts: initial writes from which no read reads, other initial writes, accesses
//! of threads, and fences.

use crate::consistency::rows::{DEPENDENCIES, RMW};
use crate::consistency::sets::{EMPTY, SETS};
use crate::consistency::tag::{self, Tags};
use cat::{Extent, MAX_CLASSES};

/// The class of initial writes from which no read reads.
pub const UNREAD: usize = 0;

const READ: u16 = 1 << 1;
const INITIAL: u16 = 1 << UNREAD | READ;
const ACCESS: u16 = 1 << 2;
const FENCE: u16 = 1 << 3;
const OWN: u16 = ACCESS | FENCE;

/// The extent of a set or a relation.
pub fn of_any(name: &str) -> Extent {
    extent(name, tag::PLAIN | tag::ATOMIC)
}

/// The same, where all accesses of threads are atomic.
pub fn of_atomics(name: &str) -> Extent {
    extent(name, tag::ATOMIC)
}

/// `kinds`: those of `PLAIN` and `ATOMIC` that accesses of threads may be.
fn extent(name: &str, kinds: Tags) -> Extent {
    let may = |may: u16| Extent { may, must: 0 };
    match name {
        "po" | "int" => may(pairs(OWN, OWN)),
        RMW | "amo" => may(pairs(ACCESS, ACCESS)),
        _ if DEPENDENCIES.contains(&name) => may(pairs(OWN, OWN)),
        "rf" => may(pairs(READ | ACCESS, ACCESS)),
        "co" | "mo" => may(pairs(INITIAL | ACCESS, ACCESS)),
        "loc" | "sm" | "si" => may(pairs(INITIAL | ACCESS, INITIAL | ACCESS)),
        "ext" => {
            let must = pairs(INITIAL, OWN) | pairs(OWN, INITIAL);
            let may = must | pairs(OWN, OWN);
            Extent { may, must }
        }
        _ => match SETS.iter().find(|(set, _)| *set == name) {
            None if EMPTY.contains(&name) => Extent::NOTHING,
            None => Extent::UNKNOWN,
            Some((_, tags)) => of_set(*tags, kinds),
        },
    }
}

fn of_set(tags: Tags, kinds: Tags) -> Extent {
    let may = |class: u16, may: Tags| if may & tags != 0 { class } else { 0 };
    // one of the tags is on each event of the class
    let must = |class: u16, one: Tags| if one & !tags == 0 { class } else { 0 };
    let orders = tag::RLX | tag::ACQ | tag::REL | tag::ACQ_REL | tag::SC;
    let direction = tag::READ | tag::WRITE;
    let access = direction | kinds | orders | tag::RMW | tag::CASF;
    let fence = tag::FENCE | tag::PLAIN | orders | tag::LIGHT | tag::HEAVY;
    Extent {
        may: may(INITIAL, tag::INITIAL_WRITE) | may(ACCESS, access) | may(FENCE, fence),
        must: may(INITIAL, tag::INITIAL_WRITE)
            | must(ACCESS, direction)
            | must(ACCESS, kinds)
            | must(FENCE, tag::FENCE)
            | must(FENCE, tag::PLAIN),
    }
}

/// The pairs of events of these classes.
fn pairs(from: u16, to: u16) -> u16 {
    let rows = (0..MAX_CLASSES).filter(|class| from >> class & 1 == 1);
    rows.fold(0, |all, class| all | to << (class * MAX_CLASSES))
}
