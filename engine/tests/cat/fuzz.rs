//! Whatever the text, there is an answer or an error, soon.
use crate::graphs::*;
use _engine::cat::Model;
use proptest::prelude::*;
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

fn own_texts() -> HashMap<String, String> {
    let files = own_models()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let cats = files.filter(|path| path.extension().is_some_and(|end| end == "cat"));
    cats.map(|path| {
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            std::fs::read_to_string(path).unwrap(),
        )
    })
    .collect()
}

const WORDS: [&str; 60] = [
    "let",
    "rec",
    "and",
    "in",
    "fun",
    "->",
    "match",
    "with",
    "||",
    "{}",
    "++",
    "end",
    "try",
    "if",
    "then",
    "else",
    "\"vmsa\"",
    "not",
    "acyclic",
    "irreflexive",
    "empty",
    "~",
    "as",
    "flag",
    "undefined_unless",
    "from",
    "with x from",
    "procedure",
    "call",
    "forall",
    "do",
    "enum",
    "'a",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    "&",
    "\\",
    ";",
    "*",
    "+",
    "?",
    "^-1",
    "_",
    "0",
    "=",
    "x",
    "y",
    "f",
    "po",
    "rf",
    "W",
    "co",
    "linearisations (W, po)",
    "include \"cos.cat\"",
];

fn rounds() -> u32 {
    std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: rounds(), ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(which in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6)) {
        let texts = own_texts();
        let mut names: Vec<&String> = texts.keys().collect();
        names.sort();
        let mut bytes = texts[names[which.index(names.len())]].clone().into_bytes();
        for (place, byte, kind) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => { bytes.remove(place); }
            }
        }
        swallow(&String::from_utf8_lossy(&bytes), &texts);
    }

    #[test]
    fn changed_words(which in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let texts = own_texts();
        let mut names: Vec<&String> = texts.keys().collect();
        names.sort();
        let text = &texts[names[which.index(names.len())]];
        let mut words: Vec<&str> = text.split_inclusive(' ').collect();
        for (place, word) in changes {
            let place = place.index(words.len());
            words[place] = WORDS[word.index(WORDS.len())];
        }
        swallow(&words.join(" "), &texts);
    }

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        swallow(&words.join(" "), &own_texts());
    }
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
