//! How many threads behave alike, before a search for executions is chosen.

use rustc_hash::FxHashMap;

use crate::source::{Action, Answer, Initial, Location, Next, Source, ThreadId};

/// How many threads that behave alike main starts one directly after the other, as long as no other
/// thread runs. It runs main alone, at most so many events of it: a choice of search depends on it,
/// no answer.
pub fn are_symmetric<S: Source>(source: &S, events: usize) -> usize {
    let mut main = source.main();
    let mut written: FxHashMap<Location, u64> = FxHashMap::default();
    let mut previous: Option<(S::Thread, ThreadId)> = None;
    let (mut count, mut most) = (0, 0);
    for _ in 0..events {
        let Next::Event(label) = source.next(&mut main) else {
            break;
        };
        let before = previous.take();
        match label.action {
            Action::Create { thread } => {
                let like = |(creator, other): &(S::Thread, ThreadId)| {
                    let (one, two) = ((creator, *other), (&main, thread));
                    source.are_symmetric(one, two) || source.exchangeable(one, two)
                };
                count = match before.as_ref().is_some_and(like) {
                    true => count + 1,
                    false => 1,
                };
                most = most.max(count);
                previous = Some((main.clone(), thread));
            }
            Action::Write { undefined, .. } if undefined != 0 => break,
            Action::Write { at, value, .. } => {
                written.insert(at, value);
            }
            Action::Read { at, .. } => {
                let value = match (written.get(&at), source.initial(at)) {
                    (Some(value), _) => *value,
                    (None, Initial::Value(value)) => value,
                    _ => break,
                };
                source.answer(&mut main, Answer::new(value));
            }
            Action::Choose { .. } => source.answer(&mut main, Answer::default()),
            Action::Join { .. } | Action::Wait | Action::Compare { .. } => break,
            Action::Fence { .. } | Action::Allocate { .. } | Action::Free { .. } => {}
        }
    }
    most
}
