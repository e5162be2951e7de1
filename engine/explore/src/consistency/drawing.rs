//! What the small graphs are drawn with that a model is asked about.

use crate::source::{Action, Dependencies, EventLabel, Location};
use program::ir::Order;

/// The location with this number.
pub fn at(number: usize) -> Location {
    Location {
        address: 8 * number as u64,
        size: 8,
    }
}

/// An event without dependencies.
pub fn label(action: Action) -> EventLabel {
    EventLabel {
        action,
        site: 0,
        dependencies: Dependencies::default(),
        continues: false,
    }
}

pub fn read(number: usize, order: Order, rmw: bool) -> Action {
    Action::Read {
        at: at(number),
        order,
        rmw,
        uninitialised_ok: true,
        ignored: false,
    }
}

/// A write of 1.
pub fn write(number: usize, order: Order, rmw: bool) -> Action {
    Action::Write {
        at: at(number),
        order,
        value: 1,
        rmw,
        undefined: 0,
    }
}
