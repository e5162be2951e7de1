//! Sites: the source positions of memory operations.
use super::instruction::Order;
use crate::llvm::metadata::{is_system, Metadata, Position};

/// The kinds of sites at which the life of a synchronisation object begins and ends.
pub const INIT: &str = "init";
pub const DESTROY: &str = "destroy";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Site {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The calls in the user's code, innermost first: `function@file:line:column`, where the
    /// function is the caller.
    pub chain: Vec<String>,
    /// The function of a system header that the user's code calls here and that does more than one
    /// atomic operation; empty for the user's own operations.
    pub call: String,
    /// R W RMW CAS F SF lock unlock create join loop assert …
    pub kind: &'static str,
    pub order: Order,
    /// The memory order is that of an instruction or a library function: the user cannot choose it.
    pub fixed: bool,
    /// The operation is what lets threads pass that wait for a semaphore or a latch.
    pub posts: bool,
    /// A notification here is one that the user's code asks for, not a part of what another function
    /// of the library does.
    pub notifies: bool,
    pub volatile: bool,
}

/// How the front end names the files that it links to programs: library functions, and what stands
/// for inline assembly.
const LINKED: &str = "<weakspot/";

/// Headers whose functions have the memory order that the user gives.
const ATOMIC: [&str; 4] = [
    "<atomic>",
    "<__atomic/",
    "<stdatomic.h>",
    "<core/src/sync/atomic.rs>",
];

/// The header for the Linux kernel's primitives, whose functions have the memory order in their names,
/// and the ends of the names of those that do more than one operation.
const KERNEL: &str = "<kernel/weakspot/kernel.h>";
const OF_SEVERAL: [&str; 4] = ["_unless", "_not_zero", "_if_positive", "_unless_negative"];

/// The end of the name of the file with what futexes do.
const FUTEX: &str = "futex.c>";

/// Functions that let waiting threads pass, and the ends of the names of their files.
const POSTS: [(&str, &str); 3] = [
    ("sem_post", "semaphore.c>"),
    ("counting_semaphore::release", "<semaphore>"),
    ("latch::count_down", "<latch>"),
];

impl Site {
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The site of an instruction. Code of system headers is skipped: its site is where the user's code
/// calls it.
pub fn site(
    metadata: &Metadata,
    dbg: Option<u32>,
    function: &str,
    kind: &'static str,
    order: Order,
) -> Site {
    let chain = dbg.map(|id| metadata.chain(id)).unwrap_or_default();
    let start = chain
        .iter()
        .position(|p| !is_system(&p.file))
        .unwrap_or_default();
    let step = |p: &Position| format!("{}@{}:{}:{}", p.function, p.file, p.line, p.column);
    // the function that the user calls
    let entry = start.checked_sub(1).map(|last| &chain[last]);
    let is_of_kernel =
        |p: &Position| p.file == KERNEL && !OF_SEVERAL.iter().any(|end| p.function.ends_with(end));
    let is_atomic =
        |p: &Position| ATOMIC.iter().any(|name| p.file.starts_with(name)) || is_of_kernel(p);
    let fixed = chain.first().is_some_and(|p| p.file.starts_with(LINKED))
        || entry.is_some_and(|p| !is_atomic(p));
    let call = entry.filter(|p| !is_atomic(p));
    let call = call.map_or(String::new(), |p| p.function.clone());
    let notifies = entry.is_none_or(|p| p.function.contains("notify") || p.file.ends_with(FUTEX));
    let posts = entry.is_some_and(|p| {
        let mut posts = POSTS.iter();
        posts.any(|(name, file)| *name == p.function && p.file.ends_with(file))
    });
    let calls = chain.iter().skip(start + 1).filter(|p| !is_system(&p.file));
    match chain.get(start) {
        Some(p) => Site {
            file: p.file.clone(),
            line: p.line,
            column: p.column,
            function: p.function.clone(),
            chain: calls.map(step).collect(),
            call,
            kind,
            order,
            fixed,
            posts,
            notifies,
            volatile: false,
        },
        None => Site {
            file: String::new(),
            line: 0,
            column: 0,
            function: function.to_string(),
            chain: Vec::new(),
            call,
            kind,
            order,
            fixed,
            posts,
            notifies,
            volatile: false,
        },
    }
}
