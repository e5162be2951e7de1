//! Of the executions that differ only in which of several threads that behave alike does what, one is
//! found.
use crate::models::{model, options};
use crate::naive::{canonical, Canonical, Event};
use crate::random::Program;
use crate::seeds::seeds;
use cat::Model;
use explore::{
    explore_each, ExecutionEnd, FaultKind, Options, Reduction, Reductions, Search, ThreadId,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

type Found = Vec<(Canonical, ExecutionEnd)>;
type Kinds = BTreeSet<FaultKind>;

/// The executions that are found, how many they stand for, and what they violate.
fn found(program: &Program, model: &Model, options: &Options) -> (Found, u64, Kinds) {
    let found = Mutex::new(Vec::new());
    let result = explore_each(program, model, options, |execution, end| {
        found.lock().unwrap().push((canonical(execution), end));
    });
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    let kinds = result.violations.iter().map(|seen| seen.fault.kind);
    let found = found.into_inner().unwrap();
    (found, result.counts.represented, kinds.collect())
}

fn by(search: Search, symmetry: bool) -> Options {
    Options {
        search: Some(search),
        reductions: Reductions::ALL.with(Reduction::Symmetry, symmetry),
        ..options(1)
    }
}

/// All orders of some threads.
fn permutations(of: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (number, first) in of.iter().enumerate() {
        let mut rest = of.to_vec();
        rest.remove(number);
        all.extend(permutations(&rest).into_iter().map(|mut order| {
            order.insert(0, *first);
            order
        }));
    }
    all
}

/// The least of the executions in which threads that behave alike are exchanged.
fn least(program: &Program, execution: &Canonical) -> Canonical {
    let codes = &program.threads;
    // threads of the same code that are created one directly after the other
    let run = |first: usize| {
        let same = (first..codes.len()).take_while(|thread| codes[*thread] == codes[first]);
        same.collect::<Vec<ThreadId>>()
    };
    let class = (1..codes.len())
        .rev()
        .map(run)
        .max_by_key(Vec::len)
        .unwrap();
    let exchanged = permutations(&class).into_iter().map(|order| {
        let to = |thread: ThreadId| match class.iter().position(|twin| *twin == thread) {
            Some(number) => order[number],
            None => thread,
        };
        let event = |(thread, index): Event| (to(thread), index);
        let mut new = Canonical::default();
        for (thread, events) in &execution.threads {
            // main waits for a thread that does not end before it joins the others
            let events = events
                .iter()
                .filter(|(label, ..)| !label.starts_with("Join"));
            let events =
                events.map(|(label, value, source)| (label.clone(), *value, source.map(event)));
            new.threads.insert(to(*thread), events.collect());
        }
        for (at, order) in &execution.orders {
            new.orders
                .insert(*at, order.iter().copied().map(event).collect());
        }
        new
    });
    exchanged.min().unwrap()
}

fn compare(name: &str, model: &Model, seed: u64, program: &Program) -> (usize, usize) {
    let (all, _, kinds) = found(program, model, &by(Search::Postpones, false));
    let (some, represented, seen_kinds) = found(program, model, &by(Search::Postpones, true));
    let orbits = |found: &Found| -> BTreeSet<(Canonical, ExecutionEnd)> {
        let least = |(execution, end): &(Canonical, _)| (least(program, execution), *end);
        found.iter().map(least).collect()
    };
    let (expected, seen) = (orbits(&all), orbits(&some));
    let missing = expected.difference(&seen).next();
    let wrong = seen.difference(&expected).next();
    assert!(
        missing.is_none() && wrong.is_none(),
        "program {seed} under {name}: {program:#?}\nmissing: {missing:#?}\nwrong: {wrong:#?}"
    );
    assert_eq!(
        some.len(),
        seen.len(),
        "program {seed} under {name}: one twice: {program:#?}"
    );
    assert_eq!(
        represented,
        all.len() as u64,
        "program {seed} under {name}: {program:#?}"
    );
    // a model that flags races is shown what threads have read that wait
    let flags = name.starts_with("rc");
    let complete = |found: Found| -> Found {
        let ended = |(_, end): &(_, ExecutionEnd)| flags || *end == ExecutionEnd::Complete;
        let mut found: Found = found.into_iter().filter(ended).collect();
        found.sort();
        found
    };
    let (revisiting, _, expected_kinds) = found(program, model, &by(Search::Revisits, false));
    let all_count = all.len();
    assert_eq!(
        complete(all),
        complete(revisiting),
        "program {seed} under {name}: {program:#?}"
    );
    let all_kinds = [kinds, seen_kinds];
    for kinds in all_kinds {
        assert_eq!(
            kinds, expected_kinds,
            "program {seed} under {name}: {program:#?}"
        );
    }
    (all_count, some.len())
}

const MODELS: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

fn compare_each(seeds: std::ops::Range<u64>) {
    let models = MODELS.map(|name| (name, model(name)));
    let (mut all, mut some) = (0, 0);
    for seed in seeds {
        let (name, model) = &models[seed as usize % MODELS.len()];
        let (more, fewer) = compare(name, model, seed, &Program::of_twins(seed));
        all += more;
        some += fewer;
    }
    assert!(2 * some < all, "{some} of {all}");
}

#[test]
fn of_executions_in_which_twins_are_exchanged_one_is_found() {
    compare_each(0..60);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn of_executions_of_a_hundred_thousand_programs_one_of_each_exchange_is_found() {
    compare_each(seeds(100_000));
}

#[test]
fn a_thread_waits_forever_for_what_was_overwritten_while_others_read() {
    use crate::random::Do::{Await, Create, Load, Store, StoreNext};
    use program::ir::Order::{Na, Rlx};
    let counts = vec![Load(1, Rlx), StoreNext(1, Na)];
    let started = vec![Create(1), Create(2), Create(3), Create(4), Store(1, 1, Rlx)];
    let threads = vec![
        started,
        vec![Await(1, 2, Rlx)],
        counts.clone(),
        counts.clone(),
        counts,
    ];
    let program = Program { threads };
    compare("sc", &model("sc"), 0, &program);
}
