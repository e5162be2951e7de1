//! Each construct has the semantics of the language's definition.
use crate::graphs::*;
use relation::{Relation, Set};

fn graph() -> Graph {
    Graph::new(&["Wx:A Rx Ry:A", "Wy:A:REL Ux F:SC", "Rx Ry"])
}

/// Whether `text`, which defines `found`, gives it the value of `expected`.
fn relation(text: &str, expected: impl Fn(&Graph) -> Relation) {
    let mut graph = graph();
    let expected = expected(&graph);
    graph.relations.insert("expected".to_owned(), expected);
    same(&graph, text);
}

fn set(text: &str, expected: impl Fn(&Graph) -> Set) {
    let mut graph = graph();
    let expected = expected(&graph);
    graph.sets.insert("expected".to_owned(), expected);
    same(&graph, text);
}

fn same(graph: &Graph, text: &str) {
    let text = format!(
        "{text}\nflag empty (found \\ expected) as below\nflag empty (expected \\ found) as above"
    );
    let counts = graph
        .count(&model(&text))
        .unwrap_or_else(|error| panic!("{error}"));
    for (count, flags) in counts {
        assert_eq!(
            (count, flags),
            (1, vec!["above".to_owned(), "below".to_owned()]),
            "{text}"
        );
    }
}

fn rel(graph: &Graph, name: &str) -> Relation {
    graph.relations[name].clone()
}

fn events(graph: &Graph, name: &str) -> Set {
    graph.sets[name].clone()
}

#[test]
fn operators_on_relations() {
    relation("let found = po | loc", |g| {
        rel(g, "po").union(&rel(g, "loc"))
    });
    relation("let found = po & loc", |g| {
        rel(g, "po").intersection(&rel(g, "loc"))
    });
    relation("let found = loc \\ po", |g| {
        rel(g, "loc").difference(&rel(g, "po"))
    });
    relation("let found = ~po", |g| rel(g, "po").complement());
    relation("let found = po; loc", |g| {
        rel(g, "po").sequence(&rel(g, "loc"))
    });
    relation("let found = po^-1", |g| rel(g, "po").inverse());
    relation("let found = (po | ext)+", |g| {
        rel(g, "po").union(&rel(g, "ext")).closure()
    });
    relation("let found = (po | ext)*", |g| {
        rel(g, "po").union(&rel(g, "ext")).reflexive_closure()
    });
    relation("let found = po?", |g| {
        rel(g, "po").union(&Relation::identity(&Set::full(g.n)))
    });
    relation("let found = [W]", |g| Relation::identity(&events(g, "W")));
    relation("let found = W * R", |g| {
        Relation::product(&events(g, "W"), &events(g, "R"))
    });
    relation("let found = 0", |g| Relation::new(g.n));
    relation("let found = id", |g| Relation::identity(&Set::full(g.n)));
    relation("let found = _ * _", |g| Relation::full(g.n));
}

#[test]
fn operators_on_sets() {
    set("let found = W | R", |g| {
        events(g, "W").union(&events(g, "R"))
    });
    set("let found = W & R", |g| {
        events(g, "W").intersection(&events(g, "R"))
    });
    set("let found = W \\ R", |g| {
        events(g, "W").difference(&events(g, "R"))
    });
    set("let found = ~W", |g| events(g, "W").complement());
    set("let found = _ \\ W", |g| events(g, "W").complement());
    set("let found = {}", |g| Set::new(g.n));
    set("let found = _ & W", |g| events(g, "W"));
    set("let found = domain po", |g| rel(g, "po").domain());
    set("let found = range po", |g| rel(g, "po").range());
}

#[test]
fn operators_bind_as_in_herd() {
    relation("let found = po | loc & ext", |g| {
        rel(g, "loc")
            .intersection(&rel(g, "ext"))
            .union(&rel(g, "po"))
    });
    relation("let found = po; loc \\ ext", |g| {
        rel(g, "po").sequence(&rel(g, "loc").difference(&rel(g, "ext")))
    });
    relation("let found = po; loc | ext", |g| {
        rel(g, "po").sequence(&rel(g, "loc")).union(&rel(g, "ext"))
    });
    relation("let found = loc \\ po \\ ext", |g| {
        rel(g, "loc")
            .difference(&rel(g, "po"))
            .difference(&rel(g, "ext"))
    });
    relation("let found = loc \\ po & ext", |g| {
        rel(g, "loc").difference(&rel(g, "po").intersection(&rel(g, "ext")))
    });
    relation("let found = W * R & ext", |g| {
        Relation::product(&events(g, "W"), &events(g, "R")).intersection(&rel(g, "ext"))
    });
    relation("let found = ~po^-1", |g| {
        rel(g, "po").inverse().complement()
    });
    relation("let found = po?;loc+", |g| {
        let once = rel(g, "po").union(&Relation::identity(&Set::full(g.n)));
        once.sequence(&rel(g, "loc").closure())
    });
}

#[test]
fn brackets_restrict() {
    let restricted = |g: &Graph| {
        rel(g, "po")
            .restrict_domain(&events(g, "W"))
            .restrict_range(&events(g, "R"))
    };
    relation("let found = [W]; po; [R]", restricted);
    relation("let found = po & (W * R)", restricted);
    relation("let found = (W * R) & po", restricted);
    relation("let found = [W]; [_]; po; [R]; [M]", restricted);
    relation("let found = [W]; [A]", |g| {
        Relation::identity(&events(g, "W").intersection(&events(g, "A")))
    });
    relation("let found = po & (_ * R)", |g| {
        rel(g, "po").restrict_range(&events(g, "R"))
    });
    relation("let found = po; [F]; po", |g| {
        rel(g, "po")
            .restrict_range(&events(g, "F"))
            .sequence(&rel(g, "po"))
    });
    relation("let found = po; [F]", |g| {
        rel(g, "po").restrict_range(&events(g, "F"))
    });
}

#[test]
fn definitions_and_functions() {
    set("let a, b = (W, R)\nlet a, b = (b, a)\nlet found = a", |g| {
        events(g, "R")
    });
    set("let (a, b) = (W, R) let found = b", |g| events(g, "R"));
    set(
        "let a = W and b = R\nlet a = b and b = a\nlet found = b",
        |g| events(g, "W"),
    );
    set("let f x = x | R\nlet found = f W", |g| {
        events(g, "W").union(&events(g, "R"))
    });
    set("let f (x, _) = x\nlet found = f (W, R)", |g| events(g, "W"));
    set("let f () = W\nlet found = f ()", |g| events(g, "W"));
    set(
        "let twice f = fun x -> f (f x)\nlet found = twice (fun s -> ~s) W",
        |g| events(g, "W"),
    );
    set(
        "let compose (f, g) = fun x -> f (g x)\nlet found = compose (domain, (fun s -> [s])) W",
        |g| events(g, "W"),
    );
    set(
        "let x = W\nlet f y = x & y\nlet x = R\nlet found = f _",
        |g| events(g, "W"),
    );
    set("let found = let x = W in let y = x in y", |g| {
        events(g, "W")
    });
    set("let found = begin W end", |g| events(g, "W"));
    relation("let found = fencerel F", |g| {
        rel(g, "po")
            .restrict_range(&events(g, "F"))
            .sequence(&rel(g, "po"))
    });
}

#[test]
fn an_unused_fixpoint_is_removed() {
    relation(
        "let found = po\nlet rec a = po | rf | (b; a) and b = a | b\nlet rec c = c | 0",
        |g| rel(g, "po"),
    );
}

#[test]
fn recursion() {
    relation("let rec found = po | loc | found; found", |g| {
        rel(g, "po").union(&rel(g, "loc")).closure()
    });
    relation("let rec found = po | (po; found)", |g| {
        rel(g, "po").closure()
    });
    relation(
        "let rec a = po | b and b = loc | a; a\nlet found = a",
        |g| rel(g, "po").union(&rel(g, "loc")).closure(),
    );
    relation("let found = let rec a = ext | a; a in a", |g| {
        rel(g, "ext").closure()
    });
    relation(
        "let rec a = (let rec b = ext | b; a | a in b) | a; b0 and b0 = a\nlet found = a",
        |g| rel(g, "ext").closure(),
    );
    set(
        "let rec reach = W | range ([reach]; po)\nlet found = reach",
        |g| {
            events(g, "W").union(
                &rel(g, "po")
                    .closure()
                    .restrict_domain(&events(g, "W"))
                    .range(),
            )
        },
    );
    relation("let rec (a, b) = (po | b, a; a)\nlet found = a", |g| {
        rel(g, "po").closure()
    });
}

#[test]
fn sets_of_values() {
    let union = "let rec union s = match s with || {} -> {} || x ++ xs -> x | union xs end\n";
    set(&format!("{union}let found = union {{W, R}}"), |g| {
        events(g, "W").union(&events(g, "R"))
    });
    set(&format!("{union}let found = union (classes-loc W)"), |g| {
        events(g, "W")
    });
    set(&format!("{union}let found = union (W ++ {{}})"), |g| {
        events(g, "W")
    });
    set(
        &format!("{union}let found = union ({{W, R}} \\ {{W}})"),
        |g| events(g, "R"),
    );
    set(
        &format!("{union}let found = union ({{W, R}} & {{W}})"),
        |g| events(g, "W"),
    );
    set(
        &format!("{union}let found = union (map (fun s -> s & A) {{W, R}})"),
        |g| events(g, "A").intersection(&events(g, "M")),
    );
    relation(
        &format!("{union}let found = union (map (fun s -> s * s) (classes-loc M))"),
        |g| rel(g, "loc"),
    );
    relation(
        &format!("{union}let found = union (map (fun s -> s * s) (classes loc))"),
        |g| rel(g, "loc"),
    );
    relation(
        &format!("{union}let found = union (linearisations (W, 0))"),
        |g| {
            Relation::product(&events(g, "W"), &events(g, "W"))
                .difference(&Relation::identity(&Set::full(g.n)))
        },
    );
    set("let rec all s = match s with || {} -> {} || e ++ rest -> {e} | all rest end\nlet found = all W", |g| {
        events(g, "W")
    });
    set("let rec all s = match s with || a | e ++ b -> {e} | all a | all b || {} -> {} end\nlet found = all W", |g| {
        events(g, "W")
    });
    relation("let rec all r = match r with || {} -> 0 || p ++ rest -> p ++ all rest end\nlet found = all po", |g| {
        rel(g, "po")
    });
    relation("let rec all r = match r with || {} -> 0 || p ++ rest -> (p ++ 0) ^-1 | all rest end\nlet found = all po", |g| {
        rel(g, "po").inverse()
    });
}

#[test]
fn conditions() {
    set("let found = if W = W then R else W", |g| events(g, "R"));
    set("let found = if W = R then R else W", |g| events(g, "W"));
    set("let found = if W subset M then R else W", |g| {
        events(g, "R")
    });
    set("let found = if W in {W, R} then R else W", |g| {
        events(g, "R")
    });
    set("let found = if \"off\" then R else W", |g| events(g, "W"));
    set(
        "let found = if not \"off\" && not (\"off\" || \"off\") then R else W",
        |g| events(g, "R"),
    );
    set("if \"off\" let found = R else let found = W end", |g| {
        events(g, "W")
    });
    set("let found = W if \"off\" let found = R end", |g| {
        events(g, "W")
    });
}

#[test]
fn tags() {
    let text = "enum kind = 'one || 'two || 'three\n";
    set(
        &format!("{text}let f t = match t with || 'one -> W || _ -> R end\nlet found = f 'one"),
        |g| events(g, "W"),
    );
    set(
        &format!("{text}let f t = match t with || 'one -> W || _ -> R end\nlet found = f 'two"),
        |g| events(g, "R"),
    );
    set(
        &format!("{text}let found = if 'one in ~{{'two}} then W else R"),
        |g| events(g, "W"),
    );
    set(
        &format!("{text}let found = if ~{{'two}} = {{'one, 'three}} then W else R"),
        |g| events(g, "W"),
    );
    set(
        &format!("{text}match 'two with || 'one -> let found = R || 'two -> let found = W end"),
        |g| events(g, "W"),
    );
    set(
        &format!("{text}forall k in kind do empty 0 end let found = W"),
        |g| events(g, "W"),
    );
}

#[test]
fn try_catches_faults() {
    set("let found = try NoSuchSet with W", |g| events(g, "W"));
    set("let found = try W with R", |g| events(g, "W"));
    set("let found = try (W & po) with R", |g| events(g, "R"));
    set("let found = try fail W with R", |g| events(g, "R"));
    set("let f x = try (x & po) with R\nlet found = f W", |g| {
        events(g, "R")
    });
    relation("let found = try fencerel NoSuchFence with 0", |g| {
        Relation::new(g.n)
    });
    relation("let found = (try (rf & W) with 0) | po", |g| rel(g, "po"));
}

#[test]
fn procedures() {
    let text = "procedure below (r, s) = empty r \\ s as below-check end\n";
    set(
        &format!("{text}call below (po, po | loc) let found = W"),
        |g| events(g, "W"),
    );
    set(
        "procedure both p = acyclic p let inside = R end\ncall both (po) as named let found = W",
        |g| events(g, "W"),
    );
    let graph = graph();
    let none = graph
        .count(&model(&format!("{text}call below (loc, po)")))
        .unwrap();
    assert!(none.iter().all(|(count, _)| *count == 0));
}

#[test]
fn comments_and_show_have_no_effect() {
    set("(* a (* nested *) comment *) // to the end\n# to the end too\nlet found = W show po, loc show po \\ loc as x unshow po", |g| {
        events(g, "W")
    });
    set(
        "\"a name\" let found = W instructions R[{'a}] default W['a]",
        |g| events(g, "W"),
    );
}

#[test]
fn names_of_models() {
    let named = |text: &str| {
        let model = model(text);
        (
            model.architecture.clone(),
            model.name.clone(),
            model.computes_dependencies,
        )
    };
    assert_eq!(
        named("C RC11 let x = po"),
        (Some("C".into()), "RC11".into(), false)
    );
    assert_eq!(
        named("RISCV \"a model\""),
        (Some("RISCV".into()), "a model".into(), false)
    );
    assert_eq!(named("SC"), (None, "SC".into(), false));
    assert_eq!(named("\"the name\""), (None, "the name".into(), false));
    assert_eq!(named("catdep let x = po"), (None, "test".into(), true));
}
