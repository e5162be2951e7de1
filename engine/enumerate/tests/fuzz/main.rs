//! Every input gives an answer or an error, within bounded time and memory.
//!
//! Inputs are litmus tests and cat files that are generated, well formed or not, and mutations of
//! our files and those of herd7's library. Each is read, and decided if it can be read. `INPUTS` is
//! their total number; the numbers per kind are printed.
//!
//!     INPUTS=1000000 cargo test --profile fuzz -p enumerate --test fuzz -- --nocapture

mod assembly;
mod cats;
mod choices;
mod files;
mod question;
mod statements;
mod tests;
mod watch;

use cat::Model;
use enumerate::{decide, explain, Limits};
use litmus::Test;
use std::time::Duration;

/// The limits for a single input.
fn limits() -> Limits {
    Limits {
        candidates: 200,
        time: Duration::from_millis(4),
        memory: 32 << 20,
        stop: None,
    }
}

/// Whether an input could be read, and whether it was decided.
#[derive(Clone, Copy, Default)]
struct Reached {
    read: bool,
    decided: bool,
}

/// Decides and explains a test; returns whether no limit was reached.
fn judge(test: &Test, model: &Model) -> bool {
    let Ok(answer) = decide(test, model, &limits()) else {
        return false;
    };
    if answer.limit.is_none() {
        let _whatever = explain(test, model, &answer, &limits());
    }
    answer.limit.is_none()
}
