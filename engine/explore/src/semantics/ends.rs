//! What a thread does next whose instruction was interrupted.

use super::environment::Interruption;
use crate::source::{Fault, FaultKind, Next};
use program::interpreter::thread::Thread;
use program::interpreter::{Change, Outcome, RunEnd};
use program::ir::Program;

impl Interruption {
    /// What the thread does next, which was interrupted at this line. `why`: why a limit was reached,
    /// for what each round of a loop changes. The interruptions that only an explorer knows how to
    /// continue after are returned.
    pub fn next(
        self,
        program: &Program,
        thread: &Thread,
        line: u32,
        why: impl Fn(Change) -> String,
    ) -> Result<Next, Interruption> {
        let users = |site| Some(thread.users_site(program, site));
        Ok(match self {
            Interruption::Query(label) => Next::Event(label),
            Interruption::Blocked(wait, site) => Next::Blocked { wait, site },
            Interruption::Fault(kind, message, site) => {
                Next::Fault(Fault::new(kind, message, users(site)))
            }
            Interruption::Unsupported(message, site) => Next::Unsupported {
                message,
                site: users(site),
            },
            Interruption::Needs(reads) => Next::Needs(reads),
            Interruption::RunEnd(end) => ended(program, thread, end, line, why),
            other @ (Interruption::Restart | Interruption::NotAlone(_)) => return Err(other),
        })
    }
}

fn ended(
    program: &Program,
    thread: &Thread,
    end: RunEnd,
    line: u32,
    why: impl Fn(Change) -> String,
) -> Next {
    let mut message = end.message;
    let site = end.site.map(|site| thread.users_site(program, site));
    if let (None, Some(place)) = (site, program.places.get(&line)) {
        message.push_str(&format!(" at {place}"));
    }
    let kind = match end.outcome {
        Outcome::Bound => {
            return Next::Truncated {
                message,
                site,
                limit: end.limit,
                because: why(end.change),
            };
        }
        Outcome::Complete if thread.id == 0 => return Next::Done(0),
        Outcome::Complete => {
            let message = "a call of exit in a thread other than main is not supported".to_owned();
            return Next::Unsupported { message, site };
        }
        Outcome::Unsupported => return Next::Unsupported { message, site },
        Outcome::Assertion => FaultKind::Assertion,
        Outcome::Deadlock => FaultKind::Hang,
        Outcome::Memory => FaultKind::Memory,
        Outcome::Uninitialised => FaultKind::Uninitialised,
    };
    Next::Fault(Fault::new(kind, message, site))
}
