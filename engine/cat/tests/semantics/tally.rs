//! Solutions that are counted together are as many as those visited one by one, with the same
//! last writes.
use crate::graphs::*;
use cat::Model;
use proptest::prelude::*;
use relation::{Relation, Set};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

const MODELS: [&str; 9] = [
    "sc", "tso", "pso", "rc11", "rc20", "c11", "c20", "clr2", "openmp3",
];

/// Coherence axioms, alone and together, and axioms that resemble them.
const TEXTS: [&str; 9] = [
    "acyclic po | rf | co | fr",
    "acyclic po-loc | rf | co | fr\nacyclic (po \\ (W * R)) | rfe | coe | fre",
    "acyclic po-loc | rf | co | fr\nacyclic po | rfe | co | fr",
    "acyclic po-loc | rf | (fr | co) | fr & ext",
    "let eco = (rf | co | fr)+\nirreflexive po; eco?\nirreflexive [RMW]; eco",
    "let eco = (fr | rf | co)+\nlet m = [RMW] | rmw\nirreflexive (po | rf)+; eco?\nirreflexive m; eco\nempty m & (fr; co)",
    "let eco = (rf | co | fr)+\nirreflexive po; eco?",
    "acyclic po-loc | rfe | co | fr",
    "acyclic po-loc | rf | co | (rf^-1; co)",
];

const WORDS: [&str; 18] = [
    "Wx:A:RLX",
    "Wx:A:RLX",
    "Wx:A:REL",
    "Wx:A:SC",
    "Rx:A:RLX",
    "Rx:A:RLX",
    "Rx:A:ACQ",
    "Rx:A:SC",
    "Ux:A:RLX",
    "Ux:A:ACQ_REL",
    "Wy:A:RLX",
    "Ry:A:RLX",
    "Uy:A:RLX",
    "Wx",
    "Rx",
    "F:ACQ",
    "F:SC",
    "Lm:LS:LK",
];

fn named(name: &str) -> Model {
    Model::load(&own_models().join(format!("{name}.cat")), &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn own(text: &str) -> Model {
    let load = |name: &str| std::fs::read_to_string(own_models().join(name)).ok();
    let text = format!("include \"cos.cat\"\n{text}");
    Model::parse(&text, "test.cat", &load).unwrap_or_else(|error| panic!("{error}"))
}

/// The number of solutions by their observed last writes and flags, and whether any were counted
/// together.
type Counts = BTreeMap<(Vec<usize>, Vec<String>, bool), u64>;

fn counted_states(
    graph: &Graph,
    model: &Model,
    rf: &Relation,
    observed: Option<&Set>,
) -> (Counts, bool) {
    let mut prepared = graph.prepare(model).unwrap();
    let mut counts = Counts::new();
    let mut together = false;
    let finals = Set::new(graph.n);
    let all = Set::full(graph.n);
    let seen = observed.unwrap_or(&all);
    let mut visit = |solution: &cat::Solution| {
        let mut lasts: Vec<usize> = match (solution.last_writes, solution.co) {
            (Some(lasts), _) => {
                together = true;
                lasts.to_vec()
            }
            (None, Some(co)) => {
                let is_last = |write: &usize| co.image(*write).is_empty();
                graph.sets["W"].iter().filter(is_last).collect()
            }
            (None, None) => Vec::new(),
        };
        lasts.retain(|write| seen.contains(*write));
        lasts.sort_unstable();
        let flags = solution.flags.iter().map(|flag| flag.to_string()).collect();
        *counts
            .entry((lasts, flags, solution.undefined))
            .or_default() += solution.count;
        ControlFlow::Continue(())
    };
    match observed {
        Some(observed) => prepared.tally(rf, Some(&finals), observed, &mut visit),
        None => prepared.solutions(rf, Some(&finals), &mut visit),
    }
    .unwrap_or_else(|error| panic!("{error}"));
    (counts, together)
}

/// The counts, projected to the observed writes.
fn reduced(counts: Counts, observed: &Set) -> Counts {
    let mut all = Counts::new();
    for ((mut lasts, flags, undefined), count) in counts {
        lasts.retain(|write| observed.contains(*write));
        *all.entry((lasts, flags, undefined)).or_default() += count;
    }
    all
}

fn graph_of(threads: &[Vec<&str>]) -> Graph {
    let texts: Vec<String> = threads.iter().map(|words| words.join(" ")).collect();
    Graph::new(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn random_threads() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let word = prop::sample::select(&WORDS[..]);
    prop::collection::vec(prop::collection::vec(word, 1..4), 1..4).prop_filter(
        "few writes of one location",
        |threads| {
            let words = || threads.iter().flatten();
            let count = |start: &str| words().filter(|word| word.starts_with(start)).count();
            count("Wx") + count("Ux") < 5 && count("Rx") + count("Ux") < 5 && count("Lm") < 3
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn counted_solutions_are_those_that_are_listed(
        threads in random_threads(),
        which in any::<prop::sample::Index>(),
        seen in prop::collection::vec(any::<bool>(), 16),
    ) {
        let graph = graph_of(&threads);
        let all = graph.all_rf();
        prop_assume!(!all.is_empty());
        let start = which.index(all.len());
        let observed = (0..graph.n).filter(|event| seen[event % 16]);
        let observed = Set::of(graph.n, observed);
        let models = MODELS.map(named).into_iter().chain(TEXTS.map(own));
        for (number, model) in models.enumerate() {
            for rf in all.iter().cycle().skip(start).step_by(7).take(6) {
                let (listed, _) = counted_states(&graph, &model, rf, None);
                let (counted, _) = counted_states(&graph, &model, rf, Some(&observed));
                prop_assert_eq!(
                    reduced(counted, &observed),
                    reduced(listed, &observed),
                    "model {} under {:?}",
                    number,
                    rf
                );
            }
        }
    }

    #[test]
    fn parts_of_candidates_that_are_given_up_have_no_solutions(
        threads in random_threads(),
        order in any::<prop::sample::Index>(),
    ) {
        let graph = graph_of(&threads);
        let all = graph.all_rf();
        prop_assume!(!all.is_empty() && all.len() <= 200);
        for model in MODELS.map(named).into_iter().chain(TEXTS.map(own)) {
            let mut prepared = graph.prepare(&model).unwrap();
            for rf in &all {
                let (found, _) = counted_states(&graph, &model, rf, None);
                let mut pairs: Vec<(usize, usize)> = rf.iter().collect();
                let turn = if pairs.is_empty() { 0 } else { order.index(pairs.len()) };
                pairs.rotate_left(turn);
                for length in 0..=pairs.len() {
                    let part = Relation::of(graph.n, pairs[..length].iter().copied());
                    let holds = prepared.monotone_axioms_hold(&part, None).unwrap();
                    prop_assert!(holds || found.is_empty());
                }
            }
        }
    }
}

#[test]
fn orders_of_one_location_are_counted_without_enumeration() {
    let graph = Graph::new(&[
        "Wx:A:RLX Rx:A:RLX",
        "Ux:A:RLX Wx:A:RLX",
        "Wx:A:RLX Ry:A:RLX",
    ]);
    let observed = Set::full(graph.n);
    for name in ["sc", "tso", "pso", "rc11", "c20"] {
        let found: BTreeSet<bool> = graph
            .all_rf()
            .iter()
            .map(|rf| counted_states(&graph, &named(name), rf, Some(&observed)))
            .filter(|(counts, _)| !counts.is_empty())
            .map(|(_, together)| together)
            .collect();
        assert_eq!(found, BTreeSet::from([true]), "{name}");
    }
}

#[test]
fn orders_that_a_flag_depends_on_are_enumerated() {
    let graph = Graph::new(&["Wx Wx", "Wx"]);
    let observed = Set::full(graph.n);
    let model = own("acyclic po-loc | rf | co | fr\nflag ~empty (co; co) & po as between");
    let (_, together) = counted_states(&graph, &model, &graph.all_rf()[0], Some(&observed));
    assert!(!together);
}

/// 4 threads of 4 stores: 16! / 4!^4 orders, a quarter for each last write.
#[test]
fn many_orders_are_counted_at_once() {
    let graph = Graph::new(&["Wx:A:RLX Wx:A:RLX Wx:A:RLX Wx:A:RLX"; 4]);
    let observed = Set::full(graph.n);
    let rf = Relation::new(graph.n);
    let (counts, together) = counted_states(&graph, &named("rc11"), &rf, Some(&observed));
    assert!(together);
    assert_eq!(counts.len(), 4);
    assert!(counts.values().all(|count| *count == 63_063_000 / 4));
}

#[test]
#[ignore = "needs herd7, on PATH or named by HERD7: cargo test -p cat herd -- --ignored"]
fn coherence_orders_of_herd_are_recognised() {
    let library = herd_library().expect("herd7 is on PATH, or HERD7 names it");
    let graph = Graph::new(&["Wx:A:RLX", "Wx:A:RLX", "Wx:A:RLX"]);
    let observed = Set::full(graph.n);
    for orders in ["cos.cat", "c11_cos.cat"] {
        let load = |name: &str| std::fs::read_to_string(library.join(name)).ok();
        let text = format!("include \"{orders}\"\nacyclic po-loc | rf | co | fr");
        let model = Model::parse(&text, "test.cat", &load).unwrap();
        let rf = Relation::new(graph.n);
        let (counts, together) = counted_states(&graph, &model, &rf, Some(&observed));
        assert!(together, "{orders}");
        assert_eq!(counts.values().sum::<u64>(), 6, "{orders}");
    }
}

/// Two writes of each of two locations: 2! * 2! coherence orders, and 6! / (3 * 3) orders of all
/// writes in which initial ones precede those of their location.
#[test]
fn a_function_that_has_only_the_name_of_one_that_is_recognised_is_evaluated() {
    let graph = Graph::new(&["Wx", "Wx", "Wy", "Wy"]);
    let functions = [
        ("include \"cross.cat\"", 4),
        ("let generate_orders (s, r) = linearisations (s, r)", 80),
    ];
    let load = |name: &str| std::fs::read_to_string(own_models().join(name)).ok();
    for (function, expected) in functions {
        let text = format!("{function}\nwith co from generate_orders (W, co0)");
        let model = Model::parse(&text, "test.cat", &load).unwrap();
        let (counts, _) = counted_states(&graph, &model, &Relation::new(graph.n), None);
        assert_eq!(counts.values().sum::<u64>(), expected, "{function}");
    }
}
