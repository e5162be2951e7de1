//! Why the search ends early.

use crate::exploration::ExploreError;

/// Why a worker stops.
pub enum Halt {
    /// A limit was reached, the first violation suffices, or another worker has failed.
    Over,
    /// It is time to draw executions; see [`crate::search::draws::Draws`].
    Draws,
    Error(ExploreError),
}

impl<E: Into<ExploreError>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}
