//! Why a test cannot be decided.

use cat::CatError;

#[derive(Debug)]
pub enum EnumerateError {
    /// An operation has no result: it is one on addresses, or a value does not fit.
    NoResult,
    /// An access to an instruction, or the number of an address of one.
    Code,
    /// Accesses to this location have different sizes, or one is to a part of it that has no
    /// value of its own.
    MixedSize(String),
    /// The same, under a model that does not relate the parts of an access.
    NoMixedSizes { location: String, model: String },
    /// Where accesses are split, the model allows an atomic operation to read what it writes; herd7
    /// then has executions in which it does.
    OwnWrite,
    /// An access to this address is not aligned, or reaches beyond its location.
    Unaligned(String),
    /// Memory has regions, under a model with a bell file, which may use them.
    Regions,
    /// The model cannot be applied.
    Model(CatError),
}

impl std::fmt::Display for EnumerateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EnumerateError::NoResult => f.write_str("an operation on addresses, or on a value that does not fit its size, has no result"),
            EnumerateError::Code => f.write_str(
                "an instruction is read or written, or the address of one without a label is observed",
            ),
            EnumerateError::MixedSize(location) => write!(
                f,
                "the accesses to {location} are of mixed sizes, which is not supported"
            ),
            EnumerateError::NoMixedSizes { location, model } => write!(
                f,
                "the accesses to {location} are of mixed sizes, to which the model {model} does not apply: it does not use sm, or si, which relates the parts of an access"
            ),
            EnumerateError::OwnWrite => f.write_str(
                "with accesses of mixed sizes, the model allows an atomic operation to read what it writes itself",
            ),
            EnumerateError::Unaligned(address) => write!(
                f,
                "an access to {address} is not aligned or reaches beyond its location"
            ),
            EnumerateError::Regions => f.write_str(
                "the regions of memory that the test declares are not supported under a model with a bell file",
            ),
            EnumerateError::Model(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for EnumerateError {}
