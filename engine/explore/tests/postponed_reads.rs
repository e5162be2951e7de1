//! What a thread does when reads are postponed, compared with what it does when they have values:
//! on compiled C programs, with random answers.
//!
//! Another folder of programs, `.ll` files, can be given in the environment variable `PROGRAMS`.
mod dice;

use cat::Model;
use dice::Dice;
use explore::{Action, Acyclic, Answer, EventLabel, Next, Options, ProgramSource, Source};
use program::interpreter::Limits;
use program::memory::Dep;
use program::Program;
use std::path::{Path, PathBuf};

type Thread = <ProgramSource<'static> as Source>::Thread;

/// The events of a thread, and how it ends.
struct Run {
    events: Vec<EventLabel>,
    end: Next,
}

impl Run {
    /// Whether the source has to be explored again before more can be said.
    fn is_unknown(&self) -> bool {
        self.end == Next::Refuted
    }
}

const MAX_EVENTS: usize = 200;

/// Runs a thread; `answer` gives the values of its reads, by their positions, and none to those
/// that are postponed.
fn run(
    source: &ProgramSource,
    thread: &Thread,
    mut answer: impl FnMut(usize, Action) -> Option<u64>,
) -> Run {
    let mut now = thread.clone();
    let mut events = Vec::new();
    loop {
        match source.next(&mut now) {
            Next::Event(label) if events.len() < MAX_EVENTS => {
                events.push(label);
                if label.action.has_answer() {
                    match answer(events.len() - 1, label.action) {
                        Some(value) => source.answer(&mut now, Answer::new(value)),
                        None => source.postpone(&mut now),
                    }
                }
            }
            end => return Run { events, end },
        }
    }
}

/// The threads of a program before their first events.
fn threads(source: &ProgramSource) -> Vec<Thread> {
    let mut main = source.main();
    let mut found = vec![main.clone()];
    for _ in 0..MAX_EVENTS {
        let Next::Event(label) = source.next(&mut main) else {
            break;
        };
        match label.action {
            Action::Create { thread } => found.push(source.created(&main, thread)),
            action if action.has_answer() => source.answer(&mut main, Answer::default()),
            _ => {}
        }
    }
    found
}

/// The action without the value that is written.
fn shape(action: Action) -> Action {
    match action {
        Action::Write { at, order, rmw, .. } => Action::Write {
            undefined: 0,
            at,
            order,
            value: 0,
            rmw,
        },
        other => other,
    }
}

struct Comparison<'a> {
    source: &'a ProgramSource<'a>,
    thread: &'a Thread,
    what: String,
}

impl Comparison<'_> {
    fn depends(&self, set: Dep, read: usize) -> bool {
        self.source.reads(set).contains(&(read as u32))
    }

    fn depends_on_any(&self, set: Dep, reads: &[usize]) -> bool {
        reads.iter().any(|read| self.depends(set, *read))
    }

    /// Compares a run with another in which some reads are postponed, and with a third in which the
    /// first of them has another value. Returns whether the thread stopped for one of the reads, and
    /// whether it continued past the first.
    fn compare(&self, values: &[u64], reads: &[usize], other: u64) -> Option<(bool, bool)> {
        let read = reads[0];
        let value = |k: usize| values.get(k).copied().unwrap_or_default();
        let known = run(self.source, self.thread, |k, _| Some(value(k)));
        let postponed = run(self.source, self.thread, |k, _| {
            (!reads.contains(&k)).then(|| value(k))
        });
        let changed = run(self.source, self.thread, |k, _| {
            Some(if k == read { other } else { value(k) })
        });
        if known.is_unknown() || postponed.is_unknown() || changed.is_unknown() {
            return None;
        }
        let what = &self.what;
        let pairs = known.events.iter().zip(&changed.events).enumerate();
        for (k, (one, two)) in pairs {
            let of = one.dependencies;
            let all = [of.addr, of.data, of.ctrl];
            if [of.addr, of.ctrl]
                .iter()
                .any(|set| self.depends(*set, read))
            {
                break;
            }
            let equal = match self.depends(of.data, read) {
                true => shape(one.action) == shape(two.action),
                false => one.action == two.action,
            };
            assert!(
                equal,
                "{what}: event {k} depends on {read}, not only on {all:?}"
            );
        }
        for (k, label) in postponed.events.iter().enumerate() {
            let of = label.dependencies;
            assert!(
                !self.depends_on_any(of.addr, reads) && !self.depends_on_any(of.ctrl, reads),
                "{what}: event {k} needs a read of {reads:?}"
            );
            let Some(same) = known.events.get(k) else {
                let ends = matches!(known.end, Next::Blocked { .. } | Next::Fault(_));
                assert!(ends, "{what}: {:?} but event {k}", known.end);
                return None;
            };
            if self.depends_on_any(of.data, reads) {
                assert_eq!(shape(label.action), shape(same.action), "{what}: event {k}");
            } else {
                assert_eq!(label.action, same.action, "{what}: event {k}");
            }
            assert_eq!(of.addr, same.dependencies.addr, "{what}: event {k}");
            assert_eq!(of.ctrl, same.dependencies.ctrl, "{what}: event {k}");
        }
        let Next::Needs(needed) = postponed.end else {
            assert_eq!(postponed.end, known.end, "{what}");
            return Some((false, postponed.events.len() > read + 1));
        };
        let needed = self.source.reads(needed);
        assert!(!needed.is_empty(), "{what}");
        assert!(
            needed.iter().all(|read| reads.contains(&(*read as usize))),
            "{what}: {needed:?}"
        );
        if let Some(next) = known.events.get(postponed.events.len()) {
            let of = next.dependencies;
            assert!(
                self.depends_on_any(of.addr, reads) || self.depends_on_any(of.ctrl, reads),
                "{what}: {next:?} does not depend on any of {reads:?}"
            );
        }
        Some((true, postponed.events.len() > read + 1))
    }
}

fn programs() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../program/tests/fixtures");
    let folders = [
        Some(fixtures),
        std::env::var_os("PROGRAMS").map(PathBuf::from),
    ];
    let mut found: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ll"))
        .collect();
    found.sort();
    found
}

/// Compares random runs of a program; returns how many threads stopped, and how many continued.
fn compare(path: &Path, model: &Model, runs: usize) -> (usize, usize) {
    let text = std::fs::read_to_string(path).expect("a program");
    let Ok(program) = Program::from_ir(&text) else {
        return (0, 0);
    };
    let mut options = Options {
        workers: 1,
        acyclic: Some(Acyclic::ProgramOrder),
        ..Options::default()
    };
    options.limits.executions = 20;
    let mut source = ProgramSource::new(&program, Limits::default());
    let mut dice = Dice::new(1);
    let (mut stopped, mut continued) = (0, 0);
    for _ in 0..runs {
        if source.sharing.has_changed() || stopped + continued == 0 {
            // what the last run has shown is adopted
            if source.explore(model, &options).is_err() {
                break;
            }
            source.track_dependencies(true, false);
        }
        let all = threads(&source);
        let thread = &dice.one(&all);
        // values that the thread writes, and small ones
        let mut seen: Vec<u64> = vec![0, 1, 2];
        let mut values: Vec<u64> = Vec::new();
        let first = run(&source, thread, |k, action| {
            let value = match action {
                Action::Choose { alternatives } => dice.below(alternatives.into()),
                _ => dice.one(&seen),
            };
            values.resize(k + 1, 0);
            values[k] = value;
            Some(value)
        });
        for label in &first.events {
            if let Action::Write { value, .. } = label.action {
                seen.push(value);
            }
        }
        let is_read = |k: &usize| matches!(first.events[*k].action, Action::Read { .. });
        let reads: Vec<usize> = (0..first.events.len()).filter(is_read).collect();
        if reads.is_empty() || first.is_unknown() {
            continue;
        }
        let comparison = Comparison {
            source: &source,
            thread,
            what: format!("{}: {values:?}", path.display()),
        };
        let mut postponed = vec![dice.one(&reads)];
        let first_read = postponed[0];
        let later = |read: &usize| *read > first_read && dice.happens(3);
        let more: Vec<usize> = reads.iter().copied().filter(later).collect();
        postponed.extend(more);
        let other = dice.one(&seen);
        if let Some((stops, continues)) = comparison.compare(&values, &postponed, other) {
            stopped += usize::from(stops);
            continued += usize::from(continues);
        }
    }
    (stopped, continued)
}

#[test]
fn a_thread_does_the_same_without_the_value_until_it_needs_it() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = Model::load(&models.join("sc.cat"), std::slice::from_ref(&models));
    let model = model.expect("a model");
    let (mut stopped, mut continued) = (0, 0);
    for path in programs() {
        let (some, more) = compare(&path, &model, 300);
        println!("{}: {some} stopped, {more} continued", path.display());
        stopped += some;
        continued += more;
    }
    assert!(stopped > 500 && continued > 500, "{stopped}, {continued}");
}
