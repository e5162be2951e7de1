//! All paths of all threads of a test.

use super::limits::Limit;
use super::paths::path::{Path, RegisterState};
use super::paths::prepared::PreparedPath;
use super::paths::{assembly, c};
use super::term::Term;
use crate::error::EnumerateError;
use cat::Model;
use litmus::value::Address;
use litmus::{Dialect, Program, Test};

pub struct ThreadPaths {
    pub dialect: &'static Dialect,
    /// By thread.
    pub paths: Vec<Vec<PreparedPath>>,
    /// The locations on whose last writes the answer depends.
    pub observed: Vec<Address>,
    /// The sets of events by annotation, of a model with a bell file: the name of the set, and the
    /// bit of the annotation, if the test mentions it.
    pub tags: Vec<(String, Option<usize>)>,
}

impl ThreadPaths {
    /// The paths with the events that the model uses; the limit if there are too many.
    pub fn new(test: &Test, model: &Model) -> Result<Result<ThreadPaths, Limit>, EnumerateError> {
        let split = matches!(test.program, Program::C(_))
            && model.splits_rmw().map_err(EnumerateError::Model)?;
        let bit = |tag: &String| {
            let number = test.tags.iter().position(|known| known == tag)?;
            Some(test.dialect.annotations.len() + number)
        };
        let tags = model.tags().iter();
        let tags = tags.map(|tag| (set_name(tag), bit(tag))).collect();
        let paths = ThreadPaths::of(test, model.computes_dependencies, split);
        Ok(paths.map(|paths| ThreadPaths { tags, ..paths }))
    }

    /// `register_events`: the model uses the events of registers; `split_rmw`: a read-modify-write
    /// of C is two events.
    fn of(test: &Test, register_events: bool, split_rmw: bool) -> Result<ThreadPaths, Limit> {
        let dialect = test.dialect;
        let one_instruction = dialect.rmw_in_one_instruction;
        let prepare = |path: Path| PreparedPath::new(path, one_instruction, register_events);
        let mut paths = Vec::with_capacity(test.program.thread_count());
        for thread in 0..test.program.thread_count() {
            let found = thread_paths(test, thread, split_rmw)?;
            paths.push(found.into_iter().map(prepare).collect());
        }
        Ok(ThreadPaths {
            dialect,
            paths,
            observed: test.observed_locations(),
            tags: Vec::new(),
        })
    }
}

/// The set of the events with an annotation: `Before-atomic` for `before-atomic`.
fn set_name(tag: &str) -> String {
    let mut letters = tag.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn thread_paths(test: &Test, thread: usize, split_rmw: bool) -> Result<Vec<Path>, Limit> {
    let registers = initial_registers(test, thread);
    match &test.program {
        Program::C(threads) => c::paths(thread, &threads[thread], registers, split_rmw),
        Program::Assembly(threads) => assembly::paths(&threads[thread], test.dialect, registers),
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
