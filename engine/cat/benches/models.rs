//! The time to load a model, to prepare it for a graph of events, and to solve it: `cargo bench -p
//! cat`.
#[path = "../tests/semantics/graphs.rs"]
#[allow(dead_code)]
mod graphs;

use cat::{Model, Solution};
use graphs::*;
use relation::{Relation, Set};
use std::ops::ControlFlow;

/// Adds empty sets and relations for the names that the model reads and the graph does not give.
fn complete(graph: &mut Graph, model: &Model) {
    for name in model.takes(&|_| false).unwrap() {
        if !graph.sets.contains_key(&name) && !graph.relations.contains_key(&name) {
            let relation = name.starts_with(|c: char| c.is_ascii_lowercase());
            if relation && !name.starts_with("PTE") {
                graph.relations.insert(name, Relation::new(graph.n));
            } else {
                graph.sets.insert(name, Set::new(graph.n));
            }
        }
    }
}

fn main() {
    let mut models: Vec<_> = ["rc11", "tso", "sc", "c20"]
        .map(|name| own_models().join(format!("{name}.cat")))
        .into();
    if let Some(library) = herd_library() {
        let names = [
            "sc",
            "rc11",
            "c11_partialSC",
            "c11_simp",
            "x86tso",
            "x86tso-mixed",
            "ppc",
            "riscv",
            "aarch64",
        ];
        models.extend(names.map(|name| library.join(format!("{name}.cat"))));
    }
    let tests: [(&str, &[&str]); 3] = [
        ("SB", &["Wx:A:RLX Ry:A:RLX", "Wy:A:RLX Rx:A:RLX"]),
        (
            "IRIW",
            &[
                "Wx:A:RLX",
                "Wy:A:RLX",
                "Rx:A:ACQ Ry:A:ACQ",
                "Ry:A:ACQ Rx:A:ACQ",
            ],
        ),
        (
            "4W",
            &[
                "Wx:A:RLX Wx:A:RLX",
                "Wx:A:RLX Wx:A:RLX",
                "Rx:A:RLX Rx:A:RLX",
            ],
        ),
    ];
    for path in models {
        let start = worked();
        let model = Model::load(&path, &[]).unwrap();
        let mut line = format!(
            "{:20} load {:6.0} µs",
            path.file_stem().unwrap().to_string_lossy(),
            micros(start, 1)
        );
        for (name, threads) in tests {
            let mut graph = Graph::new(threads);
            let start = worked();
            complete(&mut graph, &model);
            if name == "SB" {
                line += &format!(" plan {:6.0} µs", micros(start, 1));
            }
            if path.ends_with("aarch64.cat") {
                let all = Set::full(graph.n);
                graph.sets.insert("Exp".to_owned(), all);
            }
            let rfs = graph.all_rf();
            let rounds = 200;
            let start = worked();
            for _ in 0..rounds {
                graph
                    .prepare(&model)
                    .unwrap_or_else(|error| panic!("{error}"));
            }
            let prepare = micros(start, rounds);
            let mut prepared = graph.prepare(&model).unwrap();
            let (mut found, rounds) = (0, 20);
            let start = worked();
            for _ in 0..rounds {
                for rf in &rfs {
                    let visit = &mut |_: &Solution| {
                        found += 1;
                        ControlFlow::Continue(())
                    };
                    prepared
                        .solutions(rf, None, visit)
                        .unwrap_or_else(|error| panic!("{error}"));
                }
            }
            let each = micros(start, rounds) / rfs.len() as f64;
            line += &format!(
                " | {name} prepare {prepare:5.1} µs, {} rf of {each:5.2} µs, {}",
                rfs.len(),
                found / rounds
            );
        }
        println!("{line}");
    }
}

fn micros(start: f64, rounds: usize) -> f64 {
    (worked() - start) / rounds as f64
}

/// The processor time of this thread, in microseconds.
fn worked() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next();
    let nanoseconds = nanoseconds.and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e3
}
