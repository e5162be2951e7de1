//! Why a test cannot be decided.

use cat::CatError;

#[derive(Debug)]
pub enum EnumerateError {
    /// An operation has no result: it is one on addresses, or a value does not fit.
    NoResult,
    /// Accesses to this location have different sizes, or one is to a part of it that has no
    /// value of its own.
    MixedSize(String),
    /// The model cannot be applied.
    Model(CatError),
}

impl std::fmt::Display for EnumerateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EnumerateError::NoResult => f.write_str("an operation on addresses, or on a value that does not fit its size, has no result"),
            EnumerateError::MixedSize(location) => write!(
                f,
                "the accesses to {location} are of mixed sizes, which is not supported"
            ),
            EnumerateError::Model(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for EnumerateError {}
