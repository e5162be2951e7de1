//! How many executions a second; run with `--ignored --nocapture` in a release build.
use crate::models::{model, options};
use _engine::explore::explore;
use _engine::explore::litmus::Threads;
use _engine::litmus::Test;

/// A C litmus test of these threads over x, y and z.
fn test(name: &str, threads: &[String]) -> Test {
    let mut text = format!("C {name}\n{{ x = 0; y = 1; z = 0; }}\n");
    for (number, body) in threads.iter().enumerate() {
        text += &format!("P{number} (atomic_int* x, atomic_int* y, atomic_int* z) {{ {body} }}\n");
    }
    text += "exists (true)\n";
    Test::parse(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

fn load(register: &str, at: &str) -> String {
    format!("int {register} = atomic_load_explicit({at}, memory_order_acquire);")
}

fn store(at: &str, value: &str) -> String {
    format!("atomic_store_explicit({at}, {value}, memory_order_release);")
}

fn programs() -> Vec<(String, Test)> {
    let mut all = Vec::new();
    let mut add = |name: String, threads: Vec<String>| {
        let test = test(&name, &threads);
        all.push((name, test));
    };
    for n in [6, 7, 8] {
        let add_one = "int r = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);";
        add(format!("incrementers {n}"), vec![add_one.to_owned(); n]);
    }
    for n in [6, 7] {
        let mut threads: Vec<String> = (1..=n).map(|i| store("x", &i.to_string())).collect();
        threads.push(load("a", "x"));
        threads.push(load("b", "x"));
        add(format!("writers {n} readers 2"), threads);
    }
    for n in [3, 4] {
        let step = |from: &str, to: &str| {
            (0..n)
                .map(|i| {
                    let (a, b, c) = (format!("a{i}"), format!("b{i}"), format!("c{i}"));
                    let sum = format!("int {c} = {a} + {b};");
                    load(&a, from) + &load(&b, to) + &sum + &store(to, &c)
                })
                .collect::<String>()
        };
        add(
            format!("fibonacci {n}"),
            vec![step("x", "y"), step("y", "x")],
        );
    }
    for n in [5, 6] {
        let store_buffers = |i: usize| {
            let (mine, next) = (["x", "y", "z"][i % 3], ["x", "y", "z"][(i + 1) % 3]);
            store(mine, &i.to_string()) + &load("r", next)
        };
        add(
            format!("store buffers {n}"),
            (0..n).map(store_buffers).collect(),
        );
    }
    all
}

#[test]
#[ignore = "measures"]
fn speed() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let workers = std::env::var("WORKERS").map_or(1, |text| text.parse().unwrap());
    println!(
        "{:22} {:6} {:>10} {:>8} {:>10} {:>8}",
        "program", "model", "executions", "seconds", "a second", "judged"
    );
    for (name, test) in programs() {
        if !name.contains(&only) {
            continue;
        }
        let threads = Threads::new(&test).unwrap();
        for under in ["sc", "tso", "rc11"] {
            let found = explore(&threads, &model(under), &options(workers)).unwrap();
            let all = found.counts.all();
            println!(
                "{name:22} {under:6} {all:10} {:8.2} {:10.0} {:8.2}",
                found.seconds,
                all as f64 / found.seconds,
                found.judged as f64 / all as f64,
            );
        }
    }
}
