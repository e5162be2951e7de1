//! Work in threads, while the calling thread hands results to Python and watches for Ctrl-C.
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The stack of a worker, large enough for deeply nested tests.
const STACK: usize = 64 << 20;
/// How long to wait for a result before checking for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);
/// Results that come within this time of the first are taken together, with less time for each that
/// is expected where they are few: waking a thread for each of thousands costs as much as deciding
/// them.
const BATCH: Duration = Duration::from_millis(10);
const BATCH_OF_EACH: Duration = Duration::from_micros(50);

/// What the calling thread does while the workers work. An error ends the work.
pub trait Caller<T> {
    /// Takes the result of a task.
    fn take(&mut self, task: usize, result: T) -> PyResult<()>;

    /// Called from time to time while no result comes.
    fn idle(&mut self) -> PyResult<()> {
        Ok(())
    }
}

/// Does the tasks with the numbers below `count` on `jobs` threads, or on one per core for 0.
///
/// On Ctrl-C or an error of the caller, sets `stop`, waits for the tasks under way, which have to
/// watch it, and returns the error.
pub fn in_parallel<T: Send>(
    py: Python<'_>,
    count: usize,
    jobs: usize,
    stop: &AtomicBool,
    task: impl Fn(usize) -> T + Sync,
    caller: &mut impl Caller<T>,
) -> PyResult<()> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cores() } else { jobs };
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, mut results) = channel();
        for worker in 0..jobs.min(count) {
            let (task, next, sender) = (&task, &next, sender.clone());
            let work = move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || sender.send((number, task(number))).is_err() {
                        break;
                    }
                }
            };
            let started = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work);
            match started {
                // fewer threads than asked for can do the work
                Err(_) if worker > 0 => break,
                other => other?,
            };
        }
        drop(sender);
        let collected = collect(py, count, &mut results, caller);
        if collected.is_err() {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || results.iter().for_each(drop));
        }
        collected
    })
}

fn collect<T: Send>(
    py: Python<'_>,
    mut expected: usize,
    results: &mut Receiver<(usize, T)>,
    caller: &mut impl Caller<T>,
) -> PyResult<()> {
    loop {
        let waiting = &mut *results;
        let others = u32::try_from(expected)
            .unwrap_or(u32::MAX)
            .saturating_sub(1);
        let batch = BATCH.min(BATCH_OF_EACH.saturating_mul(others));
        let first = py.detach(move || {
            let first = waiting.recv_timeout(POLL);
            if first.is_ok() && !batch.is_zero() {
                thread::sleep(batch);
            }
            first
        });
        match first {
            Ok((task, result)) => {
                expected -= 1;
                caller.take(task, result)?;
            }
            Err(RecvTimeoutError::Timeout) => caller.idle()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        for (task, result) in results.try_iter() {
            expected -= 1;
            caller.take(task, result)?;
            py.check_signals()?;
        }
        py.check_signals()?;
    }
}

/// Work that may panic; the error says what happened.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) => format!("internal error of the engine: {text}"),
        None => "internal error of the engine".to_owned(),
    }
}
