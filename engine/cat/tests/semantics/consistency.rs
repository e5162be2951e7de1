//! The consistency of complete graphs agrees with the search for choices.
use crate::graphs::*;
use cat::{Complete, Consistency, Flags, Model, RaisedFlag};
use proptest::prelude::*;
use relation::{Relation, Set};
use std::ops::ControlFlow;

/// Models of C, with the names of their choices other than the coherence order.
const MODELS: [(&str, &[&str]); 9] = [
    ("sc", &["co", "taken"]),
    ("tso", &["co", "taken"]),
    ("pso", &["co", "taken"]),
    ("rc11", &["co", "taken"]),
    ("rc20", &["co", "taken"]),
    ("c11", &["co", "taken"]),
    ("c20", &["co", "taken"]),
    ("clr2", &["co", "taken"]),
    ("openmp3", &["co", "taken", "flush-order"]),
];

const WORDS: [&str; 22] = [
    "Wx:A:RLX",
    "Wx:A:REL",
    "Wx:A:SC",
    "Wy:A:RLX",
    "Wy:A:SC",
    "Wz",
    "Rx:A:RLX",
    "Rx:A:ACQ",
    "Rx:A:SC",
    "Ry:A:RLX",
    "Ry:A:SC",
    "Rz",
    "Ux:A:RLX",
    "Ux:A:ACQ_REL",
    "Uy:A:SC",
    "F:SC",
    "F:REL",
    "F:ACQ",
    "Lm:LS:LK",
    "Lm:UL",
    "Wx:A:RLX",
    "Rx:A:RLX",
];

/// A model compiled for complete graphs, and the names of the sets and relations it is given.
struct Compiled {
    consistency: Consistency,
    sets: Vec<String>,
    relations: Vec<String>,
}

impl Compiled {
    /// Compiled for the names that the graph gives; if `bare`, those that are empty in it are
    /// declared empty in every graph.
    fn new(model: &Model, graph: &Graph, choices: &[&str], bare: bool) -> Compiled {
        let void = |name: &&String| bare && graph.sets.get(*name).is_some_and(Set::is_empty);
        let (empty, sets): (Vec<&String>, Vec<&String>) = graph.sets.keys().partition(void);
        let sets: Vec<String> = sets.into_iter().cloned().collect();
        let mut relations: Vec<String> = graph.relations.keys().cloned().collect();
        relations.push("rf".to_owned());
        relations.extend(choices.iter().map(|name| name.to_string()));
        fn texts(names: &[String]) -> Vec<&str> {
            names.iter().map(String::as_str).collect()
        }
        let complete = Complete {
            sets: &texts(&sets),
            relations: &texts(&relations),
            empty: &empty.into_iter().map(String::as_str).collect::<Vec<_>>(),
            in_parts: false,
        };
        let consistency = model.consistency(&|_| false, &complete);
        let consistency = consistency.unwrap_or_else(|error| panic!("{error}"));
        Compiled {
            consistency,
            sets,
            relations,
        }
    }

    /// Stores a graph, with `extra` in addition.
    fn fill(&mut self, graph: &Graph, extra: &[(&str, &Relation)]) {
        let on = &mut self.consistency;
        on.begin(graph.n);
        let stride = on.stride();
        for (index, name) in self.sets.iter().enumerate() {
            if on.takes_set(index) {
                for event in graph.sets[name].iter() {
                    on.set_mut(index)[event / 64] |= 1 << (event % 64);
                }
            }
        }
        for (index, name) in self.relations.iter().enumerate() {
            let given = extra.iter().find(|(extra, _)| extra == name);
            let given = given.map(|(_, relation)| *relation);
            let Some(relation) = given.or_else(|| graph.relations.get(name)) else {
                continue;
            };
            if on.takes_relation(index) {
                for (from, to) in relation.iter() {
                    on.relation_mut(index)[from * stride + to / 64] |= 1 << (to % 64);
                }
            }
        }
    }
}

/// The relations that a model chose, by name.
type Chosen = Vec<(String, Relation)>;

/// Flags of which only the names are known.
fn names(of: impl Iterator<Item = String>) -> Vec<RaisedFlag> {
    of.map(|name| RaisedFlag { name, pair: None }).collect()
}

/// Compares every assignment of the model's choices for one reads-from relation.
fn compare(model: &Model, choices: &[&str], graph: &Graph, rf: &Relation) {
    let mut prepared = graph.prepare(model).unwrap();
    let mut all: Vec<(Chosen, Option<Flags>)> = Vec::new();
    let own = |choices: &[(&str, &Relation)]| -> Chosen {
        let owned = |(name, relation): &(&str, &Relation)| (name.to_string(), (*relation).clone());
        choices.iter().map(owned).collect()
    };
    prepared
        .solutions(rf, None, &mut |solution| {
            let flags = Flags {
                raised: names(solution.flags.iter().map(|flag| flag.to_string())),
                undefined: solution.undefined,
                undefined_by: Vec::new(),
                conflict: None,
            };
            all.push((own(solution.choices), Some(flags)));
            ControlFlow::Continue(())
        })
        .unwrap();
    prepared
        .failures(rf, None, &mut |_, solution| {
            all.push((own(solution.choices), None))
        })
        .unwrap();
    for bare in [false, true] {
        let mut compiled = Compiled::new(model, graph, choices, bare);
        for (chosen, expected) in &all {
            let mut extra: Vec<(&str, &Relation)> = chosen
                .iter()
                .map(|(name, relation)| (name.as_str(), relation))
                .collect();
            extra.push(("rf", rf));
            compiled.fill(graph, &extra);
            let consistent = compiled.consistency.consistent().unwrap();
            assert_eq!(consistent, expected.is_some(), "{chosen:?}");
            assert_eq!(consistent, compiled.consistency.failing().is_none());
            if let Some(expected) = expected {
                let mut flags = compiled.consistency.flags().unwrap();
                assert_eq!(flags.undefined, !flags.undefined_by.is_empty());
                assert!(flags.undefined || flags.conflict.is_none());
                flags.undefined_by.clear();
                flags.conflict = None;
                flags.raised = names(flags.raised.into_iter().map(|flag| flag.name));
                assert_eq!(&flags, expected);
            }
        }
    }
}

fn random_threads() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let word = prop::sample::select(&WORDS[..]);
    prop::collection::vec(prop::collection::vec(word, 1..4), 1..4).prop_filter(
        "few writes of one location",
        |threads| {
            let words = || threads.iter().flatten();
            let count = |start: &str| words().filter(|word| word.starts_with(start)).count();
            count("Wx") + count("Ux") < 4 && count("Wy") + count("Uy") < 4 && count("Wz") < 4
        },
    )
}

fn graph_of(threads: &[Vec<&str>]) -> Graph {
    let texts: Vec<String> = threads.iter().map(|words| words.join(" ")).collect();
    Graph::new(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn complete_graphs_are_consistent_when_they_solve_the_model(
        threads in random_threads(),
        which in any::<prop::sample::Index>(),
    ) {
        let graph = graph_of(&threads);
        let all = graph.all_rf();
        prop_assume!(!all.is_empty());
        let rf = &all[which.index(all.len())];
        for (name, choices) in MODELS {
            let model = Model::load(&own_models().join(format!("{name}.cat")), &[]).unwrap();
            compare(&model, choices, &graph, rf);
        }
    }
}

#[test]
#[ignore = "needs herd7, on PATH or named by HERD7: cargo test -p cat herd -- --ignored"]
fn complete_graphs_under_the_models_of_herd7() {
    let library = herd_library().expect("herd7 is on PATH, or HERD7 names it");
    let graph = graph_of(&[
        vec!["Wx:A:REL", "F:SC", "Ry:A:ACQ"],
        vec!["Wy:A:SC", "Rx:A:RLX", "Ux:A:RLX"],
        vec!["Wx:A:RLX", "Rz", "Wz"],
    ]);
    for name in ["sc", "rc11", "c11_simp"] {
        let model = Model::load(&library.join(format!("{name}.cat")), &[]).unwrap();
        for rf in graph.all_rf() {
            compare(&model, &["co", "mo", "loLL"], &graph, &rf);
        }
    }
}

#[test]
fn graphs_of_more_than_64_events_work_like_small_ones() {
    let threads = vec![vec!["Wx:A:RLX", "Rx:A:RLX", "F:SC"]; 30];
    let graph = graph_of(&threads);
    assert!(graph.n > 64);
    let mut co = Relation::new(graph.n);
    let writes: Vec<usize> = graph.sets["W"].iter().collect();
    for (place, write) in writes.iter().enumerate() {
        writes[place + 1..]
            .iter()
            .for_each(|later| co.insert(*write, *later));
    }
    let read_own = graph.reads.iter().map(|read| (read - 1, *read));
    let good = Relation::of(graph.n, read_own);
    let mut bad = good.clone();
    // The last read does not read from the write before it.
    bad.remove(writes[writes.len() - 1], graph.n - 2);
    bad.insert(writes[3], graph.n - 2);
    let none = Relation::new(graph.n);
    for name in ["sc", "tso", "rc11", "rc20"] {
        let model = Model::load(&own_models().join(format!("{name}.cat")), &[]).unwrap();
        let mut compiled = Compiled::new(&model, &graph, &["co", "taken"], false);
        for (rf, expected) in [(&good, true), (&bad, false), (&good, true)] {
            compiled.fill(&graph, &[("rf", rf), ("co", &co), ("taken", &none)]);
            assert_eq!(
                compiled.consistency.consistent().unwrap(),
                expected,
                "{name}"
            );
        }
    }
}

/// The names of the axioms that fail for good.
fn lasting(consistency: &Consistency) -> Vec<String> {
    let axioms = consistency.axioms().into_iter();
    let lasting = axioms.filter(|axiom| axiom.fails_for_good);
    let mut names: Vec<String> = lasting.map(|axiom| axiom.name).collect();
    names.sort();
    names
}

#[test]
fn axioms_are_analysed_statically() {
    let graph = Graph::new(&["Wx:A Rx:A"]);
    let compiled = |name: &str| {
        let model = Model::load(&own_models().join(format!("{name}.cat")), &[]).unwrap();
        Compiled::new(&model, &graph, &["co"], true).consistency
    };
    let rc11 = compiled("rc11");
    assert!(rc11.shows_porf_acyclic());
    let expected = [
        "atomicity",
        "coherence",
        "mutual-exclusion",
        "no-thin-air",
        "seq-cst",
    ];
    assert_eq!(lasting(&rc11), expected);
    assert!(compiled("sc").shows_porf_acyclic());
    assert_eq!(lasting(&compiled("tso")).len(), 4);
    // No single axiom states it.
    assert!(!compiled("tso").shows_porf_acyclic());
    assert!(!compiled("c11").shows_porf_acyclic());
    for name in ["sc", "tso", "rc11", "rc20", "clr2"] {
        assert!(compiled(name).keeps_maximal(), "{name}");
    }
    for name in ["sc", "tso", "rc11", "rc20", "clr2", "imm"] {
        assert!(compiled(name).states_coherence(), "{name}");
    }
    let weak = "irreflexive po; (rf | (co | (rf^-1; co) \\ id))? as no-reads-after-changes";
    assert!(!Compiled::new(&model(weak), &graph, &["co"], true)
        .consistency
        .states_coherence());
    for name in ["sc", "tso", "rc11", "rc20", "clr2"] {
        assert!(compiled(name).forbids_cycles_alone(), "{name}");
    }

    let moves = |text: &str| {
        let compiled = Compiled::new(&model(text), &graph, &["co"], true);
        [false, true].map(|forwarded| compiled.consistency.allows_earlier_source(true, forwarded))
    };
    let co = "with co from generate_orders(W, po-loc)\nlet fr = (rf^-1; co) \\ id\n";
    for (text, expected) in [
        ("acyclic po & loc | rf | co | fr", [true; 2]),
        // the read may be what leads on to its thread's later events
        ("acyclic po | rf", [false; 2]),
        ("acyclic po | rf & ext", [false; 2]),
        ("irreflexive rf; po; fr", [false; 2]),
        ("acyclic po; [F] | [R & ACQ]; po | po; [W & REL] | rf & ext", [true; 2]),
        ("acyclic [F]; po | rf & ext", [true; 2]),
        ("acyclic po; [W] | rf & ext", [false; 2]),
        ("acyclic (data | rf & int)+ | rf & ext", [true; 2]),
        // co leads from the earlier write to the later one, and from there rf to the read
        ("acyclic po; [R] | rf & ext | co & ext | fr & ext", [false; 2]),
        ("acyclic po; [W] | po & loc | rf & ext | co & ext | fr & ext\nacyclic po & loc | rf | co | fr", [true; 2]),
        ("acyclic data; rf & int; fr | po & loc | rf & ext | co & ext | fr & ext\nacyclic po & loc | rf | co | fr", [true, false]),
        ("empty po \\ rf", [false; 2]),
    ] {
        assert_eq!(moves(&format!("{co}{text}")), expected, "{text}");
    }
    assert!(compiled("imm").allows_earlier_source(true, true));

    let text = "empty [RMW]; rf \\ (rf; po) as shrinks\n~empty rf as needs\nempty R \\ range rf as unread\nempty po \\ rf as stays\nempty (_ * _) & (po \\ (po; po)) as gaps\nempty R \\ domain rmw as halves\nempty R \\ domain data as may-be-used";
    let open = Compiled::new(&model(text), &graph, &[], false).consistency;
    // The intermediate event of (po; po) is older than the new event.
    assert_eq!(lasting(&open), ["gaps", "halves", "shrinks", "stays"]);
}

#[test]
fn models_that_allow_what_is_left_of_an_execution_without_a_read_are_recognised() {
    let graph = Graph::new(&["Wx:A Rx:A"]);
    for name in ["sc", "tso", "rc11", "rc20"] {
        let model = Model::load(&own_models().join(format!("{name}.cat")), &[]).unwrap();
        let compiled = Compiled::new(&model, &graph, &["co"], true).consistency;
        assert!(compiled.holds_in_smaller(), "{name}");
    }
    let race = "let hb = (po | rf)+\nlet race = (loc & ext & (W * M | M * W)) \\ (hb | hb^-1)\n";
    for (text, expected) in [
        ("acyclic po | rf | co | (rf^-1; co) \\ id as one", true),
        ("acyclic (po | rf | co) \\ (po; po) as gaps", false),
        ("~empty rf as needs", false),
        ("empty R \\ range rf as unread", false),
        ("undefined_unless empty race as data-race", true),
        ("flag ~empty race as data-race", true),
        ("flag empty race as quiet", false),
        ("undefined_unless irreflexive race as odd", false),
        ("flag ~empty rf; po as observed", false),
        ("flag ~empty race \\ co as unordered", false),
    ] {
        let text = format!("with co from linearisations(W, 0)\n{race}{text}");
        let compiled = Compiled::new(&model(&text), &graph, &["co"], true).consistency;
        assert_eq!(compiled.holds_in_smaller(), expected, "{text}");
    }
}

#[test]
fn a_model_forbids_only_cycles_if_every_pair_of_its_axioms_has_a_walk() {
    let graph = Graph::new(&["Wx:A Rx:A"]);
    let fr = "let fr = (rf^-1; co) \\ id\n";
    for (axioms, expected) in [
        ("acyclic po | rf | co | fr as one", true),
        ("irreflexive (po | rf)+; (co | fr)? as one", true),
        ("acyclic po & loc | rf & ext | fr as one", true),
        ("let hb = po | IW * (_ \\ IW) | rf\nacyclic hb as one", true),
        (
            "acyclic [W]; (po \\ loc); [R] | (rf; po) & (po; rf) as one",
            true,
        ),
        ("acyclic po | rf as one\nempty rf & int as other", false),
        ("~acyclic po | rf as one", false),
        ("acyclic po | loc & ext as one", false),
        ("irreflexive (po | rf)? as one", false),
        // the source of an rmw precedes its write
        ("irreflexive rf^-1; co as one", false),
        ("acyclic IW * W | rf as one", false),
        // pairs between old events are added or removed with a new event
        ("acyclic po \\ (rf; po) as one", false),
        ("acyclic po & ~(rf; po) as one", false),
        ("acyclic [domain (rf; po)]; po as one", false),
        ("acyclic po; [range rf] as one", false),
    ] {
        let text = format!("with co from linearisations(W, 0)\n{fr}{axioms}");
        let compiled = Compiled::new(&model(&text), &graph, &["co"], true).consistency;
        assert_eq!(compiled.forbids_cycles_alone(), expected, "{axioms}");
    }
}

#[test]
fn names_that_are_not_given_are_reported() {
    let complete = Complete {
        sets: &["W", "IW"],
        relations: &["po", "rf"],
        empty: &[],
        in_parts: false,
    };
    let error = |text: &str| match model(text).consistency(&|_| false, &complete) {
        Ok(_) => panic!("{text} is compiled"),
        Err(error) => error.message,
    };
    assert_eq!(error("acyclic po | unheard"), "unknown name unheard");
    assert_eq!(
        error("empty W & po"),
        "expected a set of events, found a relation"
    );
    assert_eq!(
        error("with co from linearisations (W, 0)\nacyclic co | po"),
        "the model chooses co, which the graphs do not give"
    );
    let fine = model("acyclic po | (try unheard with 0)\nlet unused = unheard-of");
    assert!(fine.consistency(&|_| false, &complete).is_ok());
}

#[test]
fn fixpoints_and_deferred_functions_have_the_same_values() {
    let text = "let rec a = po | b; rf and b = rf | a; po | [c] and c = W & range a\nacyclic a | b as first\nlet rec each s = match s with || {} -> 0 || x ++ xs -> ({x} * R) | each xs end\nempty each (W \\ IW) & rf & (po | po^-1) as second\nflag ~empty each c as third";
    let model = model(text);
    for threads in [["Wx Ry Wx", "Wy Rx"], ["Rx Wx Rx", "Ux Wy"]] {
        let graph = Graph::new(&threads);
        for rf in graph.all_rf() {
            compare(&model, &[], &graph, &rf);
        }
    }
}
