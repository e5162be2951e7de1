//! Whatever the text, there is an answer or an error, soon, and in bounded memory.
//!
//! Litmus tests and cat files are made at random, well formed and not, and the files of ours and
//! of herd7's library are changed at random; each is read, and what can be read is decided. `INPUTS`
//! says how many there are in all; how many there were of each kind is printed.
//!
//!     INPUTS=1000000 cargo test --profile fuzz -p enumerate --test fuzz -- --nocapture

mod cats;
mod choices;
mod files;
mod tests;
mod watch;

use cat::Model;
use enumerate::{decide, explain, Limits};
use litmus::Test;
use std::time::Duration;

/// What a single input may cost.
fn limits() -> Limits {
    Limits {
        candidates: 200,
        time: Duration::from_millis(4),
        memory: 32 << 20,
        stop: None,
    }
}

/// How far an input came: whether it was read, and whether it was decided.
#[derive(Clone, Copy, Default)]
struct Reached {
    read: bool,
    decided: bool,
}

/// Reads and decides, whatever comes of it.
fn judge(test: &Test, model: &Model) -> bool {
    let Ok(answer) = decide(test, model, &limits()) else {
        return false;
    };
    if answer.limit.is_none() {
        let _whatever = explain(test, model, &answer, &limits());
    }
    answer.limit.is_none()
}
