//! Tests with more executions than can be enumerated one by one are decided, with the exact number
//! of executions.

use std::path::Path;

use cat::Model;
use enumerate::{decide, Answer, Limits};
use litmus::Test;

fn decided(threads: &[Vec<String>], asked: &str) -> Answer {
    let bodies = threads.iter().enumerate().map(|(number, lines)| {
        let lines = lines.join(";\n  ");
        format!("P{number} (atomic_int* x) {{\n  {lines};\n}}\n")
    });
    let bodies: Vec<String> = bodies.collect();
    let text = format!("C grown\n{{}}\n\n{}\nexists ({asked})\n", bodies.join("\n"));
    let test = Test::parse("grown.litmus", &text).unwrap_or_else(|e| panic!("{e}"));
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = Model::load(&models.join("rc11.cat"), &[]).unwrap_or_else(|e| panic!("{e}"));
    let answer = decide(&test, &model, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(answer.limit.is_none(), "{:?}", answer.limit);
    answer
}

fn store(value: usize) -> String {
    format!("atomic_store_explicit(x, {value}, memory_order_relaxed)")
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// n threads of k stores: (nk)! / k!^n orders, of which each thread ends as many.
#[test]
fn stores_of_several_threads() {
    for (n, k) in [(3, 3), (3, 5), (4, 4), (5, 3)] {
        let thread = |i: usize| (1..=k).map(|j| store(k * i + j)).collect();
        let threads: Vec<Vec<String>> = (0..n).map(thread).collect();
        let answer = decided(&threads, &format!("x={k}"));
        let orders = factorial((n * k) as u64) / factorial(k as u64).pow(n as u32);
        assert_eq!(answer.positive, orders / n as u64, "{n} threads of {k}");
        assert_eq!(answer.positive + answer.negative, orders);
        assert_eq!(answer.states.len(), n);
    }
}

/// n threads that store, then read: n! coherence orders, and the thread of the write at position p
/// may read any of the n - p + 1 writes from it on.
#[test]
fn stores_that_their_threads_read() {
    let read = || "int r0 = atomic_load_explicit(x, memory_order_relaxed)".to_owned();
    let threads: Vec<Vec<String>> = (1..6).map(|i| vec![store(i), read()]).collect();
    let answer = decided(&threads, "0:r0=0");
    assert_eq!(answer.positive, 0);
    assert_eq!(answer.negative, factorial(5).pow(2));
}

/// n read-modify-writes have n! orders.
#[test]
fn read_modify_writes() {
    for operation in ["exchange", "fetch_add"] {
        let thread = |_| {
            let call = format!("atomic_{operation}_explicit(x, 1, memory_order_relaxed)");
            vec![format!("int r0 = {call}")]
        };
        let threads: Vec<Vec<String>> = (0..6).map(thread).collect();
        let answer = decided(&threads, "0:r0=0");
        assert_eq!(answer.positive, factorial(5), "{operation}");
        assert_eq!(answer.positive + answer.negative, factorial(6));
    }
}
