//! An exploration that is interrupted, stored and resumed in another process finds what one that is
//! not interrupted finds.
use cat::Model;
use explore::{
    join, request, Acyclic, Checkpoint, Exploration, ExploredProgram, Extent, Frontier, Limit,
    Limits, OpenBranch, Options, ProgramSource, Reduction, Reductions, Request, Search, Violation,
};
use program::interpreter;
use program::Program;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn programs() -> Vec<(String, Program)> {
    // PROGRAMS names a folder with more programs
    let more = std::env::var_os("PROGRAMS").map(PathBuf::from);
    let mut files: Vec<PathBuf> = [Some(root().join("../program/tests/fixtures")), more]
        .into_iter()
        .flatten()
        .flat_map(|folder| folder.read_dir().expect("a folder"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "ll"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a program");
        let name = path.file_name().expect("a name").to_string_lossy();
        let program = Program::from_ir(&text).expect("a supported program");
        (name.into_owned(), program)
    };
    files.into_iter().map(read).collect()
}

fn model(name: &str) -> Model {
    let models = root().join("../../models");
    Model::load(&models.join(name), std::slice::from_ref(&models)).expect("a model")
}

/// What an exploration finds, without what is measured.
#[derive(Debug, PartialEq)]
struct Found {
    counts: explore::Counts,
    violations: Vec<String>,
    warnings: Vec<String>,
    truncations: Vec<String>,
    threads: usize,
}

impl Found {
    fn of(found: &Exploration) -> Found {
        let violation = |seen: &Violation| {
            let Violation {
                fault,
                count,
                graph,
                weak,
                pair,
                calls,
            } = seen;
            let events = &graph.events;
            format!("{fault:?} {count} {weak} {pair:?} {calls:?} {events:?}")
        };
        let mut truncations: Vec<String> = found
            .truncations
            .iter()
            .map(|each| format!("{each:?}"))
            .collect();
        truncations.sort();
        Found {
            counts: found.counts,
            violations: found.violations.iter().map(violation).collect(),
            warnings: found.warnings.iter().map(violation).collect(),
            truncations,
            threads: found.threads,
        }
    }
}

fn asked<'p>(
    program: &'p Program,
    model: &Model,
    options: &Options,
    earlier: Option<Checkpoint>,
) -> ExploredProgram<'p> {
    request(
        program,
        model,
        limits(),
        options,
        Request::Everything,
        earlier,
    )
    .expect("an exploration")
}

/// Explores with the limits that `next` gives for each part, each in a "process" of its own, which
/// knows of the one before only what was stored. Returns how many parts have resumed one.
fn in_parts(
    program: &Program,
    model: &Model,
    options: &Options,
    next: impl Fn(u64) -> Limits,
) -> (Exploration, u64) {
    let mut stored: Option<Vec<u8>> = None;
    let mut resumed = 0;
    for part in 1.. {
        let earlier = stored.take().map(|bytes| {
            let read = Checkpoint::from_bytes(&bytes);
            read.expect("what was stored")
        });
        let options = Options {
            limits: next(part),
            ..options.clone()
        };
        let answer = asked(program, model, &options, earlier);
        resumed += u64::from(answer.found.resumed);
        match answer.checkpoint {
            None => return (answer.found, resumed),
            Some(checkpoint) => stored = Some(checkpoint.to_bytes()),
        }
    }
    unreachable!("the exploration ends")
}

/// The ways in which programs are explored.
fn configurations() -> Vec<(Model, Options)> {
    let mut found = Vec::new();
    for name in ["sc.cat", "rc11.cat"] {
        for search in [Search::Revisits, Search::Postpones] {
            for symmetry in [false, true] {
                found.push((
                    model(name),
                    Options {
                        workers: 1,
                        acyclic: Some(Acyclic::ProgramOrder),
                        search: Some(search),
                        reductions: Reductions::ALL.with(Reduction::Symmetry, symmetry),
                        ..Options::default()
                    },
                ));
            }
        }
    }
    found.push((
        model("imm.cat"),
        Options {
            workers: 1,
            acyclic: Some(Acyclic::Dependencies),
            ..Options::default()
        },
    ));
    found
}

const MANY: u64 = 500;

/// Calls `test` with each program, model and options, and with what is found without interruption,
/// where that is at most [`MANY`] executions.
fn each_whole(mut test: impl FnMut(&str, &Program, &Model, &Options, &Exploration)) {
    for (name, program) in programs() {
        for (model, options) in configurations() {
            let limited = Options {
                limits: Limits {
                    executions: MANY,
                    ..Limits::default()
                },
                ..options.clone()
            };
            let whole = asked(&program, &model, &limited, None).found;
            if whole.limit.is_none() {
                test(&name, &program, &model, &options, &whole);
            }
        }
    }
}

/// Which of three divisions of an exploration are tried.
enum Divisions {
    All,
    /// One, another one each time.
    Next(usize),
}

impl Divisions {
    fn of<T: Copy>(&mut self, all: [T; 3]) -> Vec<T> {
        let Divisions::Next(turn) = self else {
            return all.to_vec();
        };
        *turn += 1;
        // there are nine configurations of each program
        vec![all[(*turn + *turn / 9) % 3]]
    }
}

#[test]
fn resuming_by_numbers_of_executions_finds_the_same() {
    resume_by_numbers_of_executions(Divisions::Next(0));
}

#[test]
#[ignore = "takes a minute: cargo test --release -p explore -- --ignored"]
fn in_every_division_resuming_by_numbers_of_executions_finds_the_same() {
    resume_by_numbers_of_executions(Divisions::All);
}

fn resume_by_numbers_of_executions(mut divisions: Divisions) {
    let mut resumed = 0;
    each_whole(|name, program, model, options, whole| {
        let count = whole.counts.all();
        let all = [(count / 7 + 1, 1), (count / 3 + 1, 2), (1 + count / 20, 2)];
        for (step, workers) in divisions.of(all) {
            let options = Options {
                workers,
                ..options.clone()
            };
            let (found, times) = in_parts(program, model, &options, |part| Limits {
                executions: part * step,
                ..Limits::default()
            });
            let what = format!("{name} under {}: {options:?}", model.name);
            assert_eq!(Found::of(&found), Found::of(whole), "{what}");
            resumed += times;
        }
    });
    assert!(resumed > 200, "{resumed}");
}

#[test]
fn resuming_by_time_finds_the_same() {
    let mut resumed = 0;
    each_whole(|name, program, model, options, whole| {
        if whole.counts.all() < 20 {
            return;
        }
        let (found, times) = in_parts(program, model, options, |part| Limits {
            // more each time, so that what every part repeats does not take all of it
            time: Duration::from_millis(part * part),
            ..Limits::default()
        });
        let what = format!("{name} under {}: {options:?}", model.name);
        assert_eq!(Found::of(&found), Found::of(whole), "{what}");
        resumed += times;
    });
    assert!(resumed > 0);
}

fn limits() -> interpreter::Limits {
    interpreter::Limits {
        loops: 2,
        ..interpreter::Limits::default()
    }
}

/// Explores a share, each time in another "process", until there are so many executions. Returns
/// whether the exploration has started again.
fn shared(
    program: &Program,
    model: &Model,
    options: &Options,
    share: Option<Checkpoint>,
    executions: u64,
) -> (Checkpoint, bool) {
    let mut options = options.clone();
    options.limits = Limits {
        executions,
        ..Limits::default()
    };
    let stored = share.map(|share| Checkpoint::from_bytes(&share.to_bytes()).expect("a share"));
    let answer = request(program, model, limits(), &options, Request::Share, stored);
    let answer = answer.expect("an exploration");
    (answer.checkpoint.expect("a share"), !answer.found.resumed)
}

/// What is found by so many workers at the same time, none of which knows of the others until what
/// they find is joined; and how often it was.
fn in_shares(
    program: &Program,
    model: &Model,
    options: &Options,
    workers: usize,
    executions: u64,
) -> (Exploration, u64) {
    let (mut all, _) = shared(program, model, options, None, executions);
    let mut joined = 0;
    'next: while !all.is_complete() {
        let mut rest = all;
        let shares = rest.divide(workers);
        assert!(rest.is_complete() && shares.iter().all(|share| !share.is_complete()));
        let explored = shares.into_iter();
        let explored = explored.map(|each| shared(program, model, options, Some(each), executions));
        let explored: Vec<_> = explored.collect();
        all = rest;
        for (share, anew) in explored {
            joined += 1;
            if anew {
                all = share;
                continue 'next;
            }
            let (both, anew) = join(program, limits(), all, share).expect("shares of one");
            all = both;
            if anew {
                continue 'next;
            }
        }
    }
    (asked(program, model, options, Some(all)).found, joined)
}

#[test]
fn an_exploration_in_shares_finds_the_same() {
    explore_in_shares(Divisions::Next(0));
}

#[test]
#[ignore = "takes a minute: cargo test --release -p explore -- --ignored"]
fn in_every_division_an_exploration_in_shares_finds_the_same() {
    explore_in_shares(Divisions::All);
}

fn explore_in_shares(mut divisions: Divisions) {
    let mut joined = 0;
    each_whole(|name, program, model, options, whole| {
        let count = whole.counts.all();
        let all = [(2, count / 9 + 1), (3, 1 + count / 40), (40, 1)];
        for (workers, step) in divisions.of(all) {
            if count / step > 60 {
                continue;
            }
            let what = format!("{name} under {}, {workers}: {options:?}", model.name);
            let (found, times) = in_shares(program, model, options, workers, step);
            assert_eq!(Found::of(&found), Found::of(whole), "{what}");
            joined += times;
        }
    });
    assert!(joined > 300, "{joined}");
}

#[test]
fn asking_again_with_the_same_limit_of_executions_gives_the_same_answer() {
    let (_, program) = programs().swap_remove(0);
    let (model, options) = configurations().swap_remove(0);
    let options = Options {
        limits: Limits {
            executions: 2,
            ..Limits::default()
        },
        ..options
    };
    let first = asked(&program, &model, &options, None);
    assert_eq!(first.found.limit, Some(Limit::Executions));
    let again = asked(&program, &model, &options, first.checkpoint);
    assert_eq!(again.found.limit, Some(Limit::Executions));
    assert_eq!(Found::of(&again.found), Found::of(&first.found));
    assert_eq!(again.found.earlier, 2);
    assert!(again.checkpoint.is_some());
}

#[test]
fn what_is_no_checkpoint_or_one_of_another_program_is_not_resumed() {
    assert!(Checkpoint::from_bytes(b"").is_none());
    assert!(Checkpoint::from_bytes(&[255; 100]).is_none());
    let (model, options) = configurations().swap_remove(0);
    let programs = programs();
    for (name, program) in &programs {
        let whole = asked(program, &model, &options, None).found;
        for (_, other) in &programs {
            let limited = Options {
                limits: Limits {
                    executions: 1,
                    ..Limits::default()
                },
                ..options.clone()
            };
            let left = asked(other, &model, &limited, None).checkpoint;
            let objects = |program: &Program| program.globals.len();
            if objects(program) == objects(other) {
                continue;
            }
            let found = asked(program, &model, &options, left).found;
            assert_eq!(found.earlier, 0, "{name}");
            assert_eq!(Found::of(&found), Found::of(&whole), "{name}");
        }
    }
}

#[test]
fn what_is_left_open_of_another_tree_is_explored_from_the_root() {
    let branch = OpenBranch {
        path: vec![1_000],
        met: Vec::new(),
    };
    let open = Frontier {
        branches: vec![branch],
        ..Frontier::default()
    };
    let (_, program) = &programs()[0];
    for (model, options) in configurations() {
        let again = Options {
            extent: Extent::Open(open.clone()),
            ..options.clone()
        };
        let mut source = ProgramSource::new(program, limits());
        // what is shared is known the second time
        let found = [options, again].map(|options| source.explore(&model, &options));
        let [whole, again] = found.map(|found| Found::of(&found.expect("an exploration")));
        assert_eq!(again, whole);
    }
}
