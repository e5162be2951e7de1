//! The calls of a history that is not linearizable, as they are written.
use crate::history::UnexplainedCalls;
use crate::threads::ProgramSource;
use crate::witness::value::{ReturnedCall, ReturnedCalls};

impl ReturnedCalls {
    pub fn new(source: &ProgramSource, found: &UnexplainedCalls) -> ReturnedCalls {
        let history = &found.history;
        let index = |number: u32| history.calls.iter().position(|call| call.number == number);
        let calls = history.calls.iter().zip(&history.before);
        let calls = calls.map(|(call, before)| ReturnedCall {
            thread: call.thread,
            call: source.sharing.call(call.number),
            result: call.result as i64,
            before: (0..history.calls.len())
                .filter(|k| before >> k & 1 == 1)
                .collect(),
        });
        let nearest = found.nearest.iter().flat_map(|nearest| &nearest.calls);
        let nearest =
            nearest.filter_map(|(number, result)| Some((index(*number)?, *result as i64)));
        ReturnedCalls {
            calls: calls.collect(),
            nearest: nearest.collect(),
            differs: found
                .nearest
                .as_ref()
                .and_then(|nearest| index(nearest.differs)),
        }
    }
}
