//! Runs inputs; ends the process with the current input when it hangs or memory grows.

use super::Reached;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// An input takes milliseconds; on a loaded machine up to a hundred times as long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most memory that the whole process may use, in kilobytes.
const MEMORY: u64 = 2 << 20;

/// The total number of inputs.
fn inputs() -> u32 {
    let asked = std::env::var("INPUTS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// A kind of inputs; numbers in percent.
pub struct Kind {
    pub name: &'static str,
    /// The share of all inputs.
    pub share: u32,
    /// How many must be readable, and how many of those decided, for the inputs to be meaningful.
    pub read: u32,
    pub decided: u32,
}

/// Runs the inputs of a kind, and prints how many were read and decided.
pub fn run<S: Strategy>(
    kind: &Kind,
    inputs_of: &S,
    text: impl Fn(&S::Value) -> String,
    swallow: impl Fn(&str) -> Reached,
) {
    let begin = Instant::now();
    let name = kind.name;
    let watch = Watch::start(name);
    let (reads, decisions, count) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let config = Config {
        cases: inputs() / 100 * kind.share,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(inputs_of, |value| {
        let text = text(&value);
        watch.at(&text);
        let reached = swallow(&text);
        count.set(count.get() + 1);
        reads.set(reads.get() + u32::from(reached.read));
        decisions.set(decisions.get() + u32::from(reached.decided));
        Ok(())
    });
    let (count, reads, decisions) = (count.get(), reads.get(), decisions.get());
    if let Err(error) = outcome {
        let last = watch.last();
        panic!("{name}, after {count} inputs: {error}\nthe last input tried was\n{last}");
    }
    println!(
        "fuzzing, {name}: {count} inputs, {reads} read, {decisions} decided, {} s",
        begin.elapsed().as_secs()
    );
    assert!(reads >= count / 100 * kind.read, "too few can be read");
    assert!(
        decisions >= reads / 100 * kind.decided,
        "too few are decided"
    );
}

struct Watch {
    current: Arc<Mutex<(Instant, String)>>,
    ended: Arc<AtomicBool>,
}

impl Watch {
    fn start(kind: &str) -> Watch {
        let watch = Watch {
            current: Arc::new(Mutex::new((Instant::now(), String::new()))),
            ended: Arc::default(),
        };
        let (current, ended, kind) = (watch.current.clone(), watch.ended.clone(), kind.to_owned());
        thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
                let (since, text) = match current.lock() {
                    Ok(current) => (current.0, current.1.clone()),
                    Err(_) => return,
                };
                let why = match (since.elapsed() > PATIENCE, resident() > MEMORY) {
                    (true, _) => "this input hangs",
                    (_, true) => "memory grows, perhaps by this input",
                    _ => continue,
                };
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                eprintln!("fuzzing, {kind}: {why}:\n{text}");
                std::process::exit(101);
            }
        });
        watch
    }

    fn at(&self, text: &str) {
        if let Ok(mut current) = self.current.lock() {
            current.0 = Instant::now();
            text.clone_into(&mut current.1);
        }
    }

    fn last(&self) -> String {
        let current = self.current.lock();
        current.map_or_else(|_| String::new(), |current| current.1.clone())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// What the process holds, in kilobytes; 0 where the system does not report it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}
