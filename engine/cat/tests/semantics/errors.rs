//! Errors have a position, a message and advice.
use crate::graphs::*;
use cat::{CatError, Model};

fn parse_error(text: &str) -> CatError {
    match Model::parse(text, "test.cat", &|_| None) {
        Ok(_) => panic!("{text} is read"),
        Err(error) => error,
    }
}

fn evaluation_error(text: &str) -> CatError {
    let graph = Graph::new(&["Wx Rx"]);
    match graph.count(&model(text)) {
        Ok(counts) => panic!("{text} gives {counts:?}"),
        Err(error) => error,
    }
}

fn place(error: &CatError) -> (usize, usize) {
    (error.line, error.column)
}

#[test]
fn syntax() {
    for (text, expected) in [
        ("let x = \n  (po | \n", (3, 1)),
        ("let x = po po-loc ;; rf", (1, 20)),
        ("let x po", (1, 9)),
        ("let f x y = x", (1, 9)),
        ("acyclic po as", (1, 14)),
        ("include po", (1, 9)),
        ("let x = \"text\"", (1, 9)),
        ("acyclic ~po+", (1, 12)),
        ("let x = W * R * W", (1, 15)),
        ("let x = match W with || {} -> 0 end", (1, 33)),
        ("Name (* comment", (1, 6)),
        ("let x = \u{2229}", (1, 9)),
        ("let x = 'a' \"open", (1, 13)),
        ("flag po", (1, 6)),
        ("let x = po end", (1, 12)),
        ("let x = r^2", (1, 11)),
    ] {
        let error = parse_error(text);
        assert_eq!(place(&error), expected, "{error}");
        assert_eq!(error.file, "test.cat");
    }
}

#[test]
fn an_error_shows_its_line() {
    let error = parse_error("SC\nlet ok = po\nlet x = po |\nacyclic x");
    let shown = error.to_string();
    assert_eq!(
        shown,
        "test.cat:4:1: unexpected 'acyclic'\n4 | acyclic x\n  | ^\nexpected: an expression"
    );
}

#[test]
fn evaluation() {
    for (text, expected, message) in [
        ("empty unheard-of", (1, 7), "unknown name unheard-of"),
        ("let x = po | unheard-of\nlet y = x; rf\nacyclic y", (1, 14), "unknown name unheard-of"),
        ("acyclic W", (1, 9), "expected a relation, found a set of events"),
        ("acyclic [po]", (1, 9), "expected a set of events, found a relation"),
        ("let x = W & po\nempty x", (1, 9), "expected a set of events, found a relation"),
        ("empty W po", (1, 7), "expected a function, found a set of events"),
        ("with x from W", (1, 13), "expected a set of values to choose from, found a set of events"),
        ("empty 'tag", (1, 7), "the tag 'tag belongs to no enumeration"),
        ("call nothing (po)", (1, 1), "unknown procedure nothing"),
        ("include \"absent.cat\"", (1, 1), "file absent.cat not found"),
        ("let f (x, y) = x\nempty f W", (2, 7), "expected a tuple, found a set of events"),
        ("let rec f x = f x\nempty f 0", (2, 7), "the evaluation of the model takes too long"),
        ("let rec f x = x | f x\nempty f 0", (2, 7), "calls nest too deeply"),
        (
            "let any s = (_ * _); s; (_ * _)\nlet rec x = ([W] \\ any (x & [W])) | [R] & any (x & [W])\nempty x",
            (2, 9),
            "let rec does not terminate",
        ),
        ("assert ~empty 0 as sane", (1, 1), "the assertion sane fails"),
    ] {
        let error = evaluation_error(text);
        assert_eq!((place(&error), error.message.as_str()), (expected, message), "{error}");
        // a limit of the evaluation is distinguished from an error of the model
        let is_limit = ["too long", "too deeply", "not terminate"]
            .iter()
            .any(|end| message.ends_with(end));
        assert_eq!(error.limit, is_limit, "{error}");
    }
}

#[test]
fn an_unused_definition_is_not_an_error() {
    let graph = Graph::new(&["Wx Rx"]);
    let text = "let x = unheard-of\nlet y = W & po\nlet f a = unheard-of | a\nlet g = f 0";
    assert!(graph.count(&model(text)).is_ok());
}

#[test]
fn an_error_in_an_included_file_has_its_position_there() {
    let load = |name: &str| (name == "inner.cat").then(|| "let a = po\nlet b = ) a".to_owned());
    let model = Model::parse("include \"inner.cat\"", "outer.cat", &load).unwrap();
    let error = Graph::new(&["Wx"]).count(&model).unwrap_err();
    assert_eq!((error.file.as_str(), place(&error)), ("inner.cat", (2, 9)));
}

#[test]
fn a_file_that_includes_itself_reaches_a_limit() {
    let load = |name: &str| (name == "loop.cat").then(|| "include \"loop.cat\"".to_owned());
    let model = Model::parse("include \"loop.cat\"", "outer.cat", &load).unwrap();
    let error = Graph::new(&["Wx"]).count(&model).unwrap_err();
    assert!(error.limit, "{error}");
}
