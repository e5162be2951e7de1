//! The threads of a test.

use super::assembly::instruction::AssemblyThread;
use super::c::ast::CThread;

#[derive(Clone, Debug)]
pub enum Program {
    C(Vec<CThread>),
    Assembly(Vec<AssemblyThread>),
}

impl Program {
    pub fn thread_count(&self) -> usize {
        match self {
            Program::C(threads) => threads.len(),
            Program::Assembly(threads) => threads.len(),
        }
    }

    /// The names of a thread's registers, in the order of their `RegisterId`s.
    pub fn registers(&self, thread: usize) -> Option<&[String]> {
        match self {
            Program::C(threads) => Some(&threads.get(thread)?.variables),
            Program::Assembly(threads) => Some(&threads.get(thread)?.registers),
        }
    }
}
