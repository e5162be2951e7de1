//! An exploration that is interrupted, stored and resumed in another process finds what one that is
//! not interrupted finds.
use cat::Model;
use explore::{
    request, Acyclic, Checkpoint, Exploration, ExploredProgram, Limit, Limits, Options, Request,
    Search, Violation,
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
                conflict,
                calls,
            } = seen;
            let events = &graph.events;
            format!("{fault:?} {count} {weak} {conflict:?} {calls:?} {events:?}")
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
    let limits = interpreter::Limits {
        loops: 2,
        ..interpreter::Limits::default()
    };
    request(
        program,
        model,
        limits,
        options,
        Request::Everything,
        earlier,
    )
    .expect("an exploration")
}

/// Explores with the limits that `next` gives for each part, each in a "process" of its own, which
/// knows of the one before only what was stored. Returns how many parts there were.
fn in_parts(
    program: &Program,
    model: &Model,
    options: &Options,
    next: impl Fn(u64) -> Limits,
) -> (Exploration, u64) {
    let mut stored: Option<Vec<u8>> = None;
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
        match answer.checkpoint {
            None => return (answer.found, part),
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
                        symmetry,
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

#[test]
fn resuming_by_numbers_of_executions_finds_the_same() {
    let mut resumed = 0;
    for (name, program) in programs() {
        for (model, options) in configurations() {
            let most = Limits {
                executions: MANY,
                ..Limits::default()
            };
            let limited = Options {
                limits: most,
                ..options.clone()
            };
            let whole = asked(&program, &model, &limited, None).found;
            if whole.limit.is_some() {
                continue;
            }
            let count = whole.counts.all();
            for (step, workers) in [(count / 7 + 1, 1), (count / 3 + 1, 2), (1 + count / 20, 2)] {
                let options = Options {
                    workers,
                    ..options.clone()
                };
                let (found, parts) = in_parts(&program, &model, &options, |part| Limits {
                    executions: part * step,
                    ..Limits::default()
                });
                let what = format!("{name} under {}: {options:?}", model.name);
                assert_eq!(Found::of(&found), Found::of(&whole), "{what}");
                resumed += parts - 1;
            }
        }
    }
    assert!(resumed > 300, "{resumed}");
}

#[test]
fn resuming_by_time_finds_the_same() {
    let mut resumed = 0;
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
            if whole.limit.is_some() || whole.counts.all() < 20 {
                continue;
            }
            let (found, parts) = in_parts(&program, &model, &options, |part| Limits {
                // more each time, so that what every part repeats does not take all of it
                time: Duration::from_millis(part * part),
                ..Limits::default()
            });
            let what = format!("{name} under {}: {options:?}", model.name);
            assert_eq!(Found::of(&found), Found::of(&whole), "{what}");
            resumed += parts - 1;
        }
    }
    assert!(resumed > 0);
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
