//! The functions that every cat file finds, by name.

/// A function that is not written in cat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Builtin {
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
    Unsupported(&'static str),
}

impl Builtin {
    pub fn named(name: &str) -> Option<Builtin> {
        Some(match name {
            "domain" => Builtin::Domain,
            "range" => Builtin::Range,
            "classes-loc" => Builtin::ClassesLoc,
            "classes" => Builtin::Classes,
            "linearisations" => Builtin::Linearisations,
            "fail" => Builtin::Fail,
            "as_transitive" => Builtin::AsTransitive,
            "tag2events" => Builtin::TagEvents,
            "tag2scope" | "tag2level" => Builtin::TagScope,
            "at-least-one-writable" => Builtin::Unsupported("at-least-one-writable"),
            "oa-changes" => Builtin::Unsupported("oa-changes"),
            "same-oa" => Builtin::Unsupported("same-oa"),
            "different-values" => Builtin::Unsupported("different-values"),
            "fromto" => Builtin::Unsupported("fromto"),
            "lift" => Builtin::Unsupported("lift"),
            "delift" => Builtin::Unsupported("delift"),
            "deliftinter" => Builtin::Unsupported("deliftinter"),
            "bisimulation" => Builtin::Unsupported("bisimulation"),
            "tag2fenced" => Builtin::Unsupported("tag2fenced"),
            "loc2events" => Builtin::Unsupported("loc2events"),
            _ => return None,
        })
    }
}

/// Whether a function that is missing is known of nothing: without page tables and values no event
/// differs from another in them.
pub fn is_known_on_empty(name: &str) -> bool {
    returns_set(name) || matches!(name, "same-oa" | "different-values")
}

/// Whether such a function takes a set and what else it looks at, and gives those of the set; the
/// others take a relation and give of it.
pub fn returns_set(name: &str) -> bool {
    matches!(name, "oa-changes" | "at-least-one-writable")
}
