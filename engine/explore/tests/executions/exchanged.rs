//! Of the executions that exchanges of threads lead to, along with the elements that these get, one
//! is found; and every execution if something tells the elements apart.
use crate::elements::{Elements, Filled, Spot, Step, Value};
use crate::models::{model, options};
use crate::naive::{canonical, Event};
use crate::seeds::seeds;
use cat::Model;
use explore::{
    explore, explore_each, ExecutionEnd, ExploreError, Extent, FaultKind, Options, Reduction,
    Reductions, Search, ThreadId,
};
use program::ir::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// An execution, as far as it is not determined by what the program does: of each event the kind, what
/// was chosen, and where it reads from; coherence order. Exchanges leave the rest to the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    threads: BTreeMap<ThreadId, Vec<(String, u64, Option<Event>)>>,
    orders: BTreeSet<Vec<Event>>,
    end: ExecutionEnd,
}

struct Found {
    shapes: Vec<Shape>,
    represented: u64,
    kinds: BTreeSet<FaultKind>,
}

/// Programs with more executions are left out.
const MOST: u64 = 1000;

/// What is found; none if that is too much.
fn found(program: &Elements, model: &Model, search: Search, symmetry: bool) -> Option<Found> {
    let mut options = Options {
        search: Some(search),
        reductions: Reductions::ALL.with(Reduction::Symmetry, symmetry),
        ..options(1)
    };
    options.limits.executions = MOST;
    loop {
        options.limits.counted.store(0, Relaxed);
        let shapes = Mutex::new(Vec::new());
        let known = program.distinguished.load(Relaxed);
        let result = explore_each(program, model, &options, |execution, end| {
            let whole = canonical(execution);
            let event = |(label, value, source): &(String, u64, Option<Event>)| {
                let kind = label.split(' ').next().unwrap_or_default().to_owned();
                let chosen = if kind == "Choose" { *value } else { 0 };
                (kind, chosen, *source)
            };
            let of = |events: &Vec<_>| events.iter().map(event).filter(|e| e.0 != "Join").collect();
            let threads = whole.threads.iter();
            shapes.lock().unwrap().push(Shape {
                threads: threads
                    .map(|(thread, events)| (*thread, of(events)))
                    .collect(),
                orders: whole.orders.into_values().collect(),
                end,
            });
        });
        if program.distinguished.load(Relaxed) != known {
            continue;
        }
        let result = result.unwrap_or_else(|error| panic!("{error}"));
        if result.limit.is_some() {
            return None;
        }
        let kinds = result.violations.iter().map(|seen| seen.fault.kind);
        return Some(Found {
            shapes: shapes.into_inner().unwrap(),
            represented: result.counts.represented,
            kinds: kinds.collect(),
        });
    }
}

fn permutations(of: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for number in 0..of.len() {
        let mut rest = of.to_vec();
        let first = rest.remove(number);
        all.extend(permutations(&rest).into_iter().map(|mut order| {
            order.insert(0, first);
            order
        }));
    }
    all
}

fn exchanged(shape: &Shape, to: &BTreeMap<ThreadId, ThreadId>) -> Shape {
    let thread = |thread: &ThreadId| to.get(thread).copied().unwrap_or(*thread);
    let event = |(of, index): Event| (thread(&of), index);
    let events = |events: &Vec<(String, u64, Option<Event>)>| {
        let events = events.iter().cloned();
        let events = events.map(|(kind, chosen, source)| (kind, chosen, source.map(event)));
        events.collect()
    };
    let orders = shape.orders.iter();
    Shape {
        threads: shape
            .threads
            .iter()
            .map(|(of, done)| (thread(of), events(done)))
            .collect(),
        orders: orders
            .map(|order| order.iter().copied().map(event).collect())
            .collect(),
        end: shape.end,
    }
}

/// All executions that exchanges lead to.
fn expanded(shapes: &[Shape], classes: &[Vec<ThreadId>]) -> BTreeSet<Shape> {
    let mut all: BTreeSet<Shape> = shapes.iter().cloned().collect();
    for class in classes.iter().filter(|class| class.len() > 1) {
        let orders = permutations(class);
        let maps = orders
            .into_iter()
            .map(|order| class.iter().copied().zip(order).collect());
        let maps: Vec<BTreeMap<ThreadId, ThreadId>> = maps.collect();
        all = all
            .iter()
            .flat_map(|shape| maps.iter().map(|to| exchanged(shape, to)))
            .collect();
    }
    all
}

#[derive(Default)]
struct Counts {
    all: usize,
    some: usize,
    exchanged: usize,
    distinguished: usize,
    left_out: usize,
}

fn compare(name: &str, model: &Model, seed: u64, program: &Elements, counts: &mut Counts) {
    let every = |search, symmetry| found(program, model, search, symmetry);
    let (Some(all), Some(some), Some(revisiting)) = (
        every(Search::Postpones, false),
        every(Search::Postpones, true),
        every(Search::Revisits, false),
    ) else {
        counts.left_out += 1;
        return;
    };
    let classes = program.classes();
    let every: BTreeSet<Shape> = all.shapes.iter().cloned().collect();
    let context = || format!("program {seed} under {name}: {program:#?}");
    let reached = expanded(&some.shapes, &classes);
    let missing = every.difference(&reached).next();
    let wrong = reached.difference(&every).next();
    assert!(
        missing.is_none() && wrong.is_none(),
        "{}\nmissing: {missing:#?}\nwrong: {wrong:#?}",
        context()
    );
    assert_eq!(some.represented, all.shapes.len() as u64, "{}", context());
    let mut once: BTreeSet<Shape> = BTreeSet::new();
    for shape in &some.shapes {
        let least = expanded(std::slice::from_ref(shape), &classes)
            .into_iter()
            .next();
        assert!(
            once.insert(least.unwrap()),
            "one twice: {shape:#?} of {} {} {} {}",
            all.shapes.len(),
            every.len(),
            some.shapes.len(),
            context()
        );
    }
    for kinds in [&all.kinds, &some.kinds] {
        assert_eq!(*kinds, revisiting.kinds, "{}", context());
    }
    counts.all += all.shapes.len();
    counts.some += some.shapes.len();
    let is_distinguished = program.distinguished.load(Relaxed);
    counts.distinguished += usize::from(is_distinguished);
    counts.exchanged += usize::from(!is_distinguished && some.shapes.len() < all.shapes.len());
}

const MODELS: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

fn compare_each(seeds: std::ops::Range<u64>) {
    let models = MODELS.map(|name| (name, model(name)));
    let mut counts = Counts::default();
    let count = seeds.clone().count();
    for seed in seeds {
        if seed % 1000 == 999 {
            println!("{seed} programs");
        }
        let (name, model) = &models[seed as usize % MODELS.len()];
        compare(name, model, seed, &Elements::random(seed), &mut counts);
    }
    let Counts {
        all,
        some,
        exchanged,
        distinguished,
        left_out,
    } = counts;
    println!("{count} programs: {exchanged} with fewer executions, {distinguished} whose threads differ, {left_out} left out; {some} of {all} executions");
    assert!(
        5 * exchanged > count && 25 * distinguished > count,
        "{exchanged}, {distinguished}"
    );
    assert!(some < all, "{some} of {all}");
}

/// What was explored relies on an exchange.
#[test]
fn threads_that_are_found_to_differ_cannot_be_explored_further() {
    let code = vec![
        Step::Swap(Spot::Shared(0), Value::Name, Order::AcqRel),
        Step::Load(Spot::Followed, Order::Rlx),
    ];
    let create = (1..4).map(Step::Create).collect();
    let program = Elements {
        threads: vec![create, code.clone(), code.clone(), code],
        arguments: vec![0, 1, 2, 3],
        filled: Filled::Zeros,
        distinguished: Arc::default(),
    };
    let mut options = options(1);
    options.search = Some(Search::Postpones);
    options.reductions = Reductions::ALL;
    options.limits.executions = 1;
    let found = explore(&program, &model("sc"), &options).expect("some executions");
    program.distinguished.store(true, Relaxed);
    options.limits.executions = MOST;
    options.extent = Extent::Open(found.open);
    let found = explore(&program, &model("sc"), &options);
    assert!(
        matches!(found, Err(ExploreError::Unsupported { .. })),
        "{found:?}"
    );
}

/// Each of two threads writes both elements, and its own before or after the other does.
#[test]
fn threads_that_write_each_others_elements_are_exchanged() {
    let code = vec![
        Step::Store(Spot::Next, Value::Number(1), Order::Rlx),
        Step::Store(Spot::Own, Value::Number(2), Order::Rlx),
    ];
    let program = Elements {
        threads: vec![vec![Step::Create(1), Step::Create(2)], code.clone(), code],
        arguments: vec![0, 1, 2],
        filled: Filled::Zeros,
        distinguished: Arc::default(),
    };
    let mut counts = Counts::default();
    compare("rc20", &model("rc20"), 0, &program, &mut counts);
    assert_eq!((counts.some, counts.all), (3, 4));
}

#[test]
fn of_executions_in_which_elements_are_exchanged_one_is_found() {
    compare_each(0..100);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn of_executions_of_thirty_thousand_programs_with_elements_one_of_each_exchange_is_found() {
    compare_each(seeds(30_000));
}
