//! Property an explored thread has beside its frames.
use program::ir::SiteId;
use program::memory::Dep;
use program::memory::Memory;
use std::sync::Arc;

#[derive(Clone)]
pub struct LocalState {
    pub memory: Arc<Memory>,
    /// Answers to the events of the instruction that is under way.
    pub answers: Vec<u64>,
    /// Threads created so far.
    pub created: u32,
    /// Threads joined so far.
    pub joined: u64,
    /// Weak compare-exchanges that have failed for no reason.
    pub spurious: Vec<SiteId>,
    /// When the last of them did: the epoch, and how many reads there were in it.
    pub failed: Option<(u64, usize)>,
    /// No other thread has been started.
    pub alone: bool,
    /// The write that is label leaves what the thread has just read there.
    pub unchanged: bool,
    /// A write is to leave no trace: it is being found out whether it does.
    pub quiet: bool,
    /// Events of the instructions that are over.
    pub events_before: usize,
    /// The event whose answer is marked.
    pub mark: Option<usize>,
    /// Property the instruction under way depends on.
    pub uses: Dep,
}

impl LocalState {
    pub fn new(memory: Arc<Memory>) -> LocalState {
        LocalState {
            memory,
            answers: Vec::new(),
            created: 0,
            joined: 0,
            spurious: Vec::new(),
            failed: None,
            alone: false,
            unchanged: false,
            quiet: false,
            events_before: 0,
            mark: None,
            uses: 0,
        }
    }
}
