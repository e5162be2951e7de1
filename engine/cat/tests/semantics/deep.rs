//! Texts that nest deeply, are long or define what explodes: an answer or an error, soon.
use crate::graphs::*;
use cat::Model;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Reads and evaluates a text, whatever comes of it.
fn swallow(text: &str, files: &HashMap<String, String>) {
    let Ok(model) = Model::parse(text, "fuzz.cat", &|name| files.get(name).cloned()) else {
        return;
    };
    let graph = Graph::new(&["Wx:A Ry:A", "Wy:A Rx:A"]);
    let Ok(mut prepared) = graph.prepare(&model) else {
        return;
    };
    prepared.set_limit(Some(2_000));
    let rf = &graph.all_rf()[1];
    let _outcome = prepared.solutions(rf, None, &mut |_| ControlFlow::Continue(()));
    let _outcome = prepared.monotone_axioms_hold(rf, None);
}

#[test]
fn deep_and_long_texts() {
    let none = HashMap::new();
    swallow(
        &format!("empty {}po{}", "(".repeat(10_000), ")".repeat(10_000)),
        &none,
    );
    swallow(&format!("empty {}po", "~".repeat(10_000)), &none);
    swallow(&format!("empty po{}", " | po".repeat(10_000)), &none);
    swallow(&format!("empty po{}", " \\ po".repeat(10_000)), &none);
    swallow(&format!("empty po{}", " & po".repeat(10_000)), &none);
    swallow(&format!("empty po{}", "+".repeat(10_000)), &none);
    swallow(&format!("empty f{}", " f".repeat(10_000)), &none);
    swallow(&format!("if {} \"a\" end", "not ".repeat(10_000)), &none);
    swallow(
        &format!("{} empty po", "if \"a\" else ".repeat(10_000)),
        &none,
    );
    swallow(&"(*".repeat(10_000), &none);
    let chain: String = (1..20_000)
        .map(|i| format!("let x{i} = x{} | po ", i - 1))
        .collect();
    swallow(&format!("let x0 = rf {chain} acyclic x19999"), &none);
    let doubling: String = (1..60)
        .map(|i| format!("let f{i} x = f{} (f{} x) ", i - 1, i - 1))
        .collect();
    swallow(&format!("let f0 x = x; x {doubling} acyclic f59 po"), &none);
    let squares: String = (1..60)
        .map(|i| format!("let s{i} = {{s{}}} ", i - 1))
        .collect();
    swallow(&format!("let s0 = {{W}} {squares} with x from s59"), &none);
    let power = "let rec power s = match s with || {} -> {{}} || x ++ xs -> let p = power xs in p | map (fun s -> x ++ s) p end";
    swallow(&format!("{power} with x from power _"), &none);
}
