//! Choices: what `with … from` ranges over, and that the search finds each solution once.
use crate::graphs::*;
use cat::Model;
use relation::{Relation, Set};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn own(name: &str) -> Model {
    let load = |name: &str| std::fs::read_to_string(own_models().join(name)).ok();
    Model::parse(name, "test.cat", &load).unwrap_or_else(|error| panic!("{error}"))
}

/// The coherence orders of the solutions, each counted, under the `rf` number `number`.
fn solutions(graph: &Graph, model: &Model, number: usize) -> Vec<Relation> {
    let mut prepared = graph.prepare(model).unwrap();
    let mut found = Vec::new();
    prepared
        .solutions(&graph.all_rf()[number], None, &mut |solution| {
            found.push(solution.co.unwrap().clone());
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    found
}

/// Every coherence order for which `keep` holds, by enumeration of all.
fn listed(graph: &Graph, keep: impl Fn(&Relation) -> bool) -> BTreeSet<Relation> {
    let mut all = vec![Relation::new(graph.n)];
    let initial = Relation::product(
        &graph.sets["IW"],
        &graph.sets["W"].difference(&graph.sets["IW"]),
    );
    for place in graph
        .locations
        .iter()
        .flatten()
        .copied()
        .collect::<BTreeSet<u32>>()
    {
        let writes = graph.sets["W"]
            .iter()
            .filter(|write| graph.locations[*write] == Some(place));
        let writes = Set::of(graph.n, writes);
        let orders: Vec<Relation> = initial.linear_extensions(&writes).collect();
        all = all
            .iter()
            .flat_map(|one| orders.iter().map(move |order| one.union(order)))
            .collect();
    }
    all.into_iter().filter(|co| keep(co)).collect()
}

const WRITERS: [&str; 3] = ["Wx Wy Rx", "Wx Wx Ry", "Wy Rx Ux"];

#[test]
fn every_coherence_order_is_found_once() {
    let graph = Graph::new(&WRITERS);
    let model = own("include \"cos.cat\"");
    let found = solutions(&graph, &model, 0);
    let all = listed(&graph, |_| true);
    assert_eq!(found.len(), all.len());
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), all);
}

#[test]
fn pruning_loses_no_solution() {
    let graph = Graph::new(&WRITERS);
    let model = own("include \"cos.cat\"\nacyclic po-loc | rf | co | fr as coherence\nacyclic po | rf | fr | co as sc");
    let po = &graph.relations["po"];
    for (number, rf) in graph.all_rf().into_iter().enumerate() {
        let found = solutions(&graph, &model, number);
        let expected = listed(&graph, |co| {
            let mut fr = rf.inverse().sequence(co);
            fr = fr.difference(&Relation::identity(&Set::full(graph.n)));
            po.union(&rf).union(co).union(&fr).is_acyclic()
        });
        assert_eq!(found.len(), expected.len());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn axioms_whose_values_shrink_do_not_prune() {
    let graph = Graph::new(&WRITERS);
    let model = own("include \"cos.cat\"\nlet w = W \\ IW\nempty ((w * w) & loc & ext) \\ (co | co^-1) \\ (w * R) as total\n~empty co \\ po as some");
    for number in [0, 5] {
        let found = solutions(&graph, &model, number);
        let w = graph.sets["W"].difference(&graph.sets["IW"]);
        let conflict = Relation::product(&w, &w)
            .intersection(&graph.relations["loc"])
            .intersection(&graph.relations["ext"]);
        let expected = listed(&graph, |co| {
            let open = conflict.difference(&co.union(&co.inverse()));
            let open = open.difference(&Relation::product(&w, &graph.sets["R"]));
            open.is_empty() && !co.difference(&graph.relations["po"]).is_empty()
        });
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn orders_by_unrecognised_functions_are_the_same() {
    let graph = Graph::new(&["Wx Wx", "Wx Wy", "Wy Rx"]);
    let file = |name: &str| std::fs::read_to_string(own_models().join(name)).unwrap();
    let functions = file("cross.cat");
    let (_, functions) = functions.split_once('\n').unwrap();
    let text = file("cos.cat").replace("include \"cross.cat\"", functions);
    let known = Model::parse(&text, "cos.cat", &|_| None).unwrap();
    // The same functions with one more operation are not recognised, but interpreted.
    let words = text.replace("match xs with", "match (xs | {}) with");
    assert_ne!(words, text);
    let interpreted = Model::parse(&words, "cos.cat", &|_| None).unwrap();
    for number in 0..graph.all_rf().len() {
        let expected = solutions(&graph, &known, number);
        let found = solutions(&graph, &interpreted, number);
        assert_eq!(found.len(), expected.len());
        assert_eq!(BTreeSet::from_iter(found), BTreeSet::from_iter(expected));
    }
}

#[test]
fn choices_from_listed_values() {
    let graph = Graph::new(&["Wx Rx", "Wx"]);
    let count = |text: &str| {
        graph
            .count(&model(text))
            .unwrap()
            .into_iter()
            .map(|(count, _)| count)
            .collect::<Vec<_>>()
    };
    assert_eq!(count("with r from {po, ext, 0}"), [3, 3, 3]);
    assert_eq!(count("with r from {po, po}"), [1, 1, 1]);
    assert_eq!(count("with r from {}"), [0, 0, 0]);
    assert_eq!(count("with r from {po, 0}\nempty r"), [1, 1, 1]);
    assert_eq!(
        count("with r from {po, 0}\nwith s from {r, ext}\nempty r & s"),
        [3, 3, 3]
    );
    assert_eq!(
        count("with r from linearisations (W, co0)\nempty 0"),
        [2, 2, 2]
    );
    assert_eq!(
        count("with r from linearisations (W, co0 | co0^-1)"),
        [0, 0, 0]
    );
    assert_eq!(
        count("with r from linearisations (W, rf; rf^-1 | po)"),
        [0, 0, 0]
    );
    assert_eq!(count("with r from {rf, rf | ext}\nacyclic rf"), [2, 2, 2]);
}

#[test]
fn flags_are_those_of_the_solution() {
    let graph = Graph::new(&["Wx Rx", "Wx"]);
    let text = "with r from {po, 0}\nflag ~empty r as some\nflag empty r as none\nundefined_unless empty 0 as fine\nflag ~empty r & rf as seen";
    let mut prepared = graph.prepare(&model(text)).unwrap();
    let mut found = Vec::new();
    for rf in graph.all_rf() {
        let visit = &mut |solution: &cat::Solution| {
            assert!(!solution.undefined);
            found.push(solution.flags.join(" "));
            ControlFlow::Continue(())
        };
        prepared.solutions(&rf, None, visit).unwrap();
    }
    found.sort();
    assert_eq!(found, ["none", "none", "none", "seen some", "some", "some"]);
}

#[test]
fn a_break_ends_the_search() {
    let graph = Graph::new(&WRITERS);
    let model = own("include \"cos.cat\"");
    let mut prepared = graph.prepare(&model).unwrap();
    let mut count = 0;
    let visit = &mut |_: &cat::Solution| {
        count += 1;
        if count == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    prepared.solutions(&graph.all_rf()[0], None, visit).unwrap();
    assert_eq!(count, 3);
}

#[test]
fn a_limit_is_reported() {
    let graph = Graph::new(&WRITERS);
    let mut prepared = graph.prepare(&own("include \"cos.cat\"")).unwrap();
    prepared.set_limit(Some(5));
    let error = prepared
        .solutions(&graph.all_rf()[0], None, &mut |_| ControlFlow::Continue(()))
        .unwrap_err();
    assert!(error.limit);
}

#[test]
fn a_failure_names_the_axiom_that_is_violated_first() {
    let graph = Graph::new(&["Wx Wx", "Wx"]);
    let model =
        own("include \"cos.cat\"\nacyclic po | co as coherence\nempty co \\ co0 \\ po as order");
    let mut prepared = graph.prepare(&model).unwrap();
    let rf = graph.all_rf()[0].clone();
    let mut axioms = Vec::new();
    prepared
        .failures(&rf, None, &mut |axiom, _| axioms.push(axiom.to_owned()))
        .unwrap();
    axioms.sort();
    // Six orders: three contradict program order, and each of the others adds a pair.
    let expected = [["coherence"; 3], ["order"; 3]].concat();
    assert_eq!(axioms, expected);
}

#[test]
fn a_partial_candidate_fails_only_if_every_extension_does() {
    let graph = Graph::new(&WRITERS);
    let model = own("include \"cos.cat\"\nacyclic po-loc | rf | co | fr as coherence\nacyclic po | rf | fr | co as sc");
    let mut prepared = graph.prepare(&model).unwrap();
    for (number, rf) in graph.all_rf().into_iter().enumerate() {
        let found = solutions(&graph, &model, number);
        let pairs: Vec<(usize, usize)> = rf.iter().collect();
        for length in 0..=pairs.len() {
            let part = Relation::of(graph.n, pairs[..length].iter().copied());
            let holds = prepared.monotone_axioms_hold(&part, None).unwrap();
            assert!(holds || found.is_empty());
            for co in &found {
                assert!(prepared.monotone_axioms_hold(&part, Some(co)).unwrap());
            }
        }
        for co in listed(&graph, |_| true) {
            let holds = prepared.monotone_axioms_hold(&rf, Some(&co)).unwrap();
            assert_eq!(holds, found.contains(&co));
        }
    }
}

#[test]
fn final_writes_matter_only_if_the_model_uses_them() {
    let graph = Graph::new(&["Wx", "Wx Rx"]);
    let needs = |model: &Model| graph.prepare(model).unwrap().needs_final_writes();
    assert!(!needs(&own("include \"cos.cat\"")));
    assert!(needs(&own("include \"cos.cat\"\nempty [FW]; po")));
    assert!(needs(&own(
        "include \"cos.cat\"\nlet co0 = co0\nacyclic co0 | po"
    )));
    assert!(needs(&own(
        "include \"cos.cat\"\nwith mo from generate_orders (W & A, co0)"
    )));
}

/// With or without `po-loc`, each in every combination.
const SUBSETS: &str = r#"
let rec subsets (all, pairs) = match pairs with
|| {} -> all
|| pair ++ pairs ->
   let pair = pair ++ 0 in
   let all = all | map (fun one -> one | pair) all in
   subsets (all, pairs)
end
with x from subsets ({po \ po}, po & loc)
acyclic (x | po)+ as preserved
"#;

#[test]
fn one_model_accepts_graphs_with_and_without_a_choice_in_any_order() {
    let graphs = [
        (Graph::new(&["Wx Wy"]), 1),
        (Graph::new(&["Wx Wx"]), 2),
        (Graph::new(&["Wx Wx Wx"]), 8),
    ];
    for order in [[0, 1, 2, 0], [1, 0, 1, 0], [2, 1, 0, 1]] {
        let model = own(SUBSETS);
        for number in order {
            let (graph, expected) = &graphs[number];
            let mut found = BTreeSet::new();
            let mut prepared = graph.prepare(&model).unwrap_or_else(|e| panic!("{e}"));
            let result = prepared.solutions(&Relation::new(graph.n), None, &mut |solution| {
                found.insert(solution.choices[0].1.clone());
                ControlFlow::Continue(())
            });
            assert!(result.is_ok(), "{result:?}");
            assert_eq!(found.len(), *expected, "graph {number} of {order:?}");
        }
    }
}
