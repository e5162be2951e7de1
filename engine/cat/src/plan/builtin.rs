//! The functions that every cat file finds, by name.

/// A function that is not written in cat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prim {
    Domain,
    Range,
    /// `classes-loc`: a set of events, parted by location
    ClassesLoc,
    /// `classes`: the classes of an equivalence relation
    Classes,
    /// `linearisations (s, r)`: the total orders of `s` that extend `r`
    Linearisations,
    Fail,
    /// `as_transitive`: a hint of herd7's; the transitive closure
    AsTransitive,
    /// `tag2events 'a`: the events that bear the tag
    TagEvents,
    /// `tag2scope 'a`: the scope relation of the tag
    TagScope,
    /// Those that need more of events than the engine gives: values, labels, page tables.
    Missing(&'static str),
}

impl Prim {
    pub fn named(name: &str) -> Option<Prim> {
        Some(match name {
            "domain" => Prim::Domain,
            "range" => Prim::Range,
            "classes-loc" => Prim::ClassesLoc,
            "classes" => Prim::Classes,
            "linearisations" => Prim::Linearisations,
            "fail" => Prim::Fail,
            "as_transitive" => Prim::AsTransitive,
            "tag2events" => Prim::TagEvents,
            "tag2scope" | "tag2level" => Prim::TagScope,
            "at-least-one-writable" => Prim::Missing("at-least-one-writable"),
            "oa-changes" => Prim::Missing("oa-changes"),
            "same-oa" => Prim::Missing("same-oa"),
            "different-values" => Prim::Missing("different-values"),
            "fromto" => Prim::Missing("fromto"),
            "lift" => Prim::Missing("lift"),
            "delift" => Prim::Missing("delift"),
            "deliftinter" => Prim::Missing("deliftinter"),
            "bisimulation" => Prim::Missing("bisimulation"),
            "tag2fenced" => Prim::Missing("tag2fenced"),
            "loc2events" => Prim::Missing("loc2events"),
            _ => return None,
        })
    }
}

/// Whether a function that is missing is known of nothing: without page tables and values no event
/// differs from another in them.
pub fn takes_nothing(name: &str) -> bool {
    gives_a_set(name) || matches!(name, "same-oa" | "different-values")
}

/// Whether such a function takes a set and what else it looks at, and gives those of the set; the
/// others take a relation and give of it.
pub fn gives_a_set(name: &str) -> bool {
    matches!(name, "oa-changes" | "at-least-one-writable")
}
