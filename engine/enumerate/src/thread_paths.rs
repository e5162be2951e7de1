//! All paths of all threads of a test.

use super::limits::Limit;
use super::paths::path::{Path, RegisterState};
use super::paths::prepared::PreparedPath;
use super::paths::{assembly, c};
use super::term::Term;
use crate::error::EnumerateError;
use crate::pieces::{InitialWrite, PieceBits};
use cat::Model;
use litmus::value::Address;
use litmus::{Annotations, Dialect, Program, Test};

/// The annotations of what begins and ends a critical section of SRCU.
const SRCU: [&str; 2] = ["srcu-lock", "srcu-unlock"];

pub struct ThreadPaths {
    pub dialect: &'static Dialect,
    /// How memory is divided, if accesses have mixed sizes.
    pub pieces: Option<PieceBits>,
    pub initial: Vec<InitialWrite>,
    /// By thread.
    pub paths: Vec<Vec<PreparedPath>>,
    /// The locations, or pieces of them, on whose last writes the answer depends.
    pub observed: Vec<Address>,
    /// The sets of events by annotation, of a model with a bell file: the name of the set, and the
    /// bit of the annotation, if the test mentions it.
    pub tags: Vec<(String, Option<usize>)>,
    /// The annotations of accesses that begin or end critical sections of SRCU.
    pub of_srcu: Annotations,
}

impl ThreadPaths {
    /// The paths with the events that the model uses; the limit if there are too many. Accesses are
    /// split into pieces if those to the location `mixed_size` have mixed sizes.
    pub fn new(
        test: &Test,
        model: &Model,
        mixed_size: Option<&str>,
    ) -> Result<Result<ThreadPaths, Limit>, EnumerateError> {
        let split = matches!(test.program, Program::C(_))
            && model.splits_rmw().map_err(EnumerateError::Model)?;
        let pieces = mixed_size.map(|location| pieces(test, model, location));
        let pieces = pieces.transpose()?;
        let bit = |tag: &String| {
            let number = test.tags.iter().position(|known| known == tag)?;
            Some(test.dialect.annotations.len() + number)
        };
        let tags = model.tags().iter();
        let tags = tags.map(|tag| (set_name(tag), bit(tag))).collect();
        let of_srcu = SRCU.iter().filter_map(|tag| bit(&(*tag).to_owned()));
        let of_srcu = of_srcu.fold(0, |all, bit| all | 1 << bit);
        let mut observed = test.observed_locations();
        let mut initial = initial_writes(test);
        if let Some(pieces) = pieces {
            initial = pieces.initial(test)?;
            let of = |at: &Address| pieces.addresses(test, *at);
            observed = observed.iter().flat_map(of).collect();
        }
        let paths = ThreadPaths::paths(test, model.computes_dependencies, split, pieces);
        Ok(paths.map(|paths| ThreadPaths {
            dialect: test.dialect,
            pieces,
            initial,
            paths,
            observed,
            tags,
            of_srcu,
        }))
    }

    /// Whether a variant of herd7 is on, as models ask.
    pub fn is_on(&self, variant: &str) -> bool {
        self.pieces.is_some() && is_mixed(variant)
    }

    /// `register_events`: the model uses the events of registers; `split_rmw`: a read-modify-write
    /// of C is two events; `pieces`: those that accesses are split into.
    fn paths(
        test: &Test,
        register_events: bool,
        split_rmw: bool,
        pieces: Option<PieceBits>,
    ) -> Result<Vec<Vec<PreparedPath>>, Limit> {
        let one_instruction = test.dialect.rmw_in_one_instruction;
        let prepare = |path: Path| PreparedPath::new(path, one_instruction, register_events);
        let mut paths = Vec::with_capacity(test.program.thread_count());
        for thread in 0..test.program.thread_count() {
            let found = thread_paths(test, thread, split_rmw, pieces)?;
            paths.push(found.into_iter().map(prepare).collect());
        }
        Ok(paths)
    }
}

/// The pieces of a test in which accesses to the location have mixed sizes; an error if the engine
/// or the model do not have them.
fn pieces(test: &Test, model: &Model, location: &str) -> Result<PieceBits, EnumerateError> {
    let location = location.to_owned();
    let Some(pieces) = PieceBits::of(test) else {
        return Err(EnumerateError::MixedSize(location));
    };
    let taken = model.takes(&is_mixed).map_err(EnumerateError::Model)?;
    match taken.iter().any(|name| matches!(&**name, "sm" | "si")) {
        true => Ok(pieces),
        false => Err(EnumerateError::NoMixedSizes {
            location,
            model: model.name.clone(),
        }),
    }
}

fn initial_writes(test: &Test) -> Vec<InitialWrite> {
    let whole = |(at, value)| InitialWrite {
        at,
        value,
        access: None,
    };
    test.initial_values().map(whole).collect()
}

fn is_mixed(variant: &str) -> bool {
    variant == "mixed"
}

/// The set of the events with an annotation: `Before-atomic` for `before-atomic`.
fn set_name(tag: &str) -> String {
    let mut letters = tag.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn thread_paths(
    test: &Test,
    thread: usize,
    split_rmw: bool,
    pieces: Option<PieceBits>,
) -> Result<Vec<Path>, Limit> {
    let registers = initial_registers(test, thread);
    match &test.program {
        Program::C(threads) => c::paths(thread, &threads[thread], registers, split_rmw),
        Program::Assembly(threads) => {
            let bits = pieces.map(|pieces| pieces.0);
            assembly::paths(&threads[thread], test.dialect, registers, bits)
        }
    }
}

fn initial_registers(test: &Test, thread: usize) -> Vec<RegisterState> {
    let first = (thread, String::new());
    let given = test.registers.range(first..);
    let given = given.take_while(|((of, _), _)| *of == thread);
    let names = test.program.registers(thread).unwrap_or_default();
    let initial = names.iter().map(|name| {
        let value = given.clone().find(|((_, known), _)| known == name);
        RegisterState::initial(value.map_or(Term::ZERO, |(_, v)| Term::Known(*v)))
    });
    initial.collect()
}
