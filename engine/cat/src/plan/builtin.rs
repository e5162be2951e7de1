//! The built-in functions of the language.

/// A function that is not written in cat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Builtin {
    Domain,
    Range,
    /// `classes-loc`: the partition of a set of events by location.
    ClassesLoc,
    /// `classes`: the classes of an equivalence relation.
    Classes,
    /// `linearisations (s, r)`: the total orders of `s` that extend `r`.
    Linearisations,
    Fail,
    /// `as_transitive`: the transitive closure; in herd7 a hint.
    AsTransitive,
    /// `tag2events 'a`: the events with the tag.
    TagEvents,
    /// `tag2scope 'a`: the scope relation of the tag.
    TagScope,
    /// Functions that need what the engine does not model: values, labels, page tables.
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

/// Whether an unsupported function is known to map the empty set or relation to the empty value.
pub fn is_known_on_empty(name: &str) -> bool {
    returns_set(name) || matches!(name, "same-oa" | "different-values")
}

/// Whether such a function takes a tuple that starts with a set and returns a subset of it. The
/// others take a relation and return a part of it.
pub fn returns_set(name: &str) -> bool {
    matches!(name, "oa-changes" | "at-least-one-writable")
}
