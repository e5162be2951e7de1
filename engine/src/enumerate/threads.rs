//! All paths of all threads of a test, prepared.

use std::collections::BTreeSet;

use super::c;
use super::event::Operand;
use super::limits::Limit;
use super::prepared::{PairAllowed, Prepared};
use crate::litmus::{Observable, Program, Test};

pub struct Threads {
    pub paths: Vec<Vec<Prepared>>,
    /// The names of the registers of each thread, as paths number them.
    pub names: Vec<Vec<String>>,
    pub observed: BTreeSet<Observable>,
    /// The tags of initial writes.
    pub initial_tags: u64,
    /// The names of the tags' bits.
    pub tags: &'static [&'static str],
}

impl Threads {
    pub fn register(&self, thread: usize, name: &str) -> Option<usize> {
        self.names.get(thread)?.iter().position(|n| n == name)
    }
}

/// In C and x86 the two halves of an atomic pair belong to one instruction.
const SAME_INSTANCE: PairAllowed = |same| same;

pub fn prepare(test: &Test) -> Result<Threads, Limit> {
    let mut paths = Vec::new();
    let mut names = Vec::new();
    match &test.program {
        Program::C(threads) => {
            for (number, thread) in threads.iter().enumerate() {
                let initial = registers(test, number, &thread.names);
                let found = c::paths(thread, initial)?;
                paths.push(found.into_iter().map(|p| Prepared::new(p, SAME_INSTANCE)).collect());
                names.push(thread.names.clone());
            }
        }
    }
    Ok(Threads {
        paths,
        names,
        observed: test.observed(),
        initial_tags: c::PLAIN,
        tags: &c::TAGS,
    })
}

fn registers(test: &Test, thread: usize, names: &[String]) -> Vec<Operand> {
    names
        .iter()
        .map(|name| {
            let value = test.registers.get(&(thread, name.clone()));
            value.map_or(Operand::ZERO, |v| Operand::Known(*v))
        })
        .collect()
}
