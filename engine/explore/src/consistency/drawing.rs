//! What the small graphs are drawn with that a model is asked about.

use crate::source::{Action, EventLabel, Location};
use program::ir::Order;

/// The location with this number.
pub fn at(number: usize) -> Location {
    Location {
        address: 8 * number as u64,
        size: 8,
    }
}

pub fn label(action: Action) -> EventLabel {
    EventLabel::new(action, 0)
}

pub fn read(number: usize, order: Order, rmw: bool) -> Action {
    Action::read(at(number), order, rmw)
}

/// A write of 1.
pub fn write(number: usize, order: Order, rmw: bool) -> Action {
    Action::write(at(number), order, 1, rmw)
}
