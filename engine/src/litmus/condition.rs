//! The final condition of a test: what is asked, and how it reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::value::{Address, Value};

/// Something a final state gives a value to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observable {
    Register { thread: usize, name: String },
    Memory(Address),
}

impl Observable {
    /// The shared location, if it is one.
    pub fn address(&self) -> Option<Address> {
        match self {
            Observable::Memory(address) => Some(*address),
            Observable::Register { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prop {
    True,
    False,
    Is(Observable, Value),
    Same(Observable, Observable),
    Not(Box<Prop>),
    And(Vec<Prop>),
    Or(Vec<Prop>),
    Implies(Box<Prop>, Box<Prop>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    Exists,
    NotExists,
    Forall,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub quantifier: Quantifier,
    pub prop: Prop,
}

/// The values of what a test observes.
pub type State = BTreeMap<Observable, Value>;

impl Prop {
    /// What the proposition mentions.
    pub fn observables(&self, into: &mut Vec<Observable>) {
        self.mentions(&mut |o| into.push(o.clone()));
    }

    /// The shared locations that it mentions.
    pub fn locations(&self, into: &mut Vec<Address>) {
        self.mentions(&mut |o| into.extend(o.address()));
    }

    fn mentions(&self, see: &mut dyn FnMut(&Observable)) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Is(o, _) => see(o),
            Prop::Same(a, b) => [a, b].into_iter().for_each(see),
            Prop::Not(p) => p.mentions(see),
            Prop::And(ps) | Prop::Or(ps) => ps.iter().for_each(|p| p.mentions(see)),
            Prop::Implies(p, q) => [p, q].into_iter().for_each(|p| p.mentions(see)),
        }
    }

    /// Addresses that appear as values.
    pub fn addresses(&self, into: &mut Vec<Address>) {
        match self {
            Prop::Is(_, Value::Address(a)) => into.push(*a),
            Prop::Not(p) => p.addresses(into),
            Prop::And(ps) | Prop::Or(ps) => ps.iter().for_each(|p| p.addresses(into)),
            Prop::Implies(p, q) => {
                p.addresses(into);
                q.addresses(into);
            }
            _ => {}
        }
    }

    pub fn holds(&self, value: &dyn Fn(&Observable) -> Value) -> bool {
        match self {
            Prop::True => true,
            Prop::False => false,
            Prop::Is(o, v) => value(o) == *v,
            Prop::Same(a, b) => value(a) == value(b),
            Prop::Not(p) => !p.holds(value),
            Prop::And(ps) => ps.iter().all(|p| p.holds(value)),
            Prop::Or(ps) => ps.iter().any(|p| p.holds(value)),
            Prop::Implies(p, q) => !p.holds(value) || q.holds(value),
        }
    }
}

/// How names, values and conditions are printed: as herd7 does.
pub struct Printer<'a> {
    pub names: &'a [String],
}

impl Printer<'_> {
    pub fn address(&self, a: Address) -> String {
        let name = self.names.get(a.name as usize).map_or("?", String::as_str);
        match a.offset {
            0 => name.to_string(),
            n if n < 0 => format!("{name}{n}"),
            n => format!("{name}+{n}"),
        }
    }

    pub fn value(&self, v: Value) -> String {
        match v {
            Value::Open(n) => format!("S{n}"),
            Value::Int(i) => i.to_string(),
            Value::Address(a) => self.address(a),
        }
    }

    pub fn observable(&self, o: &Observable) -> String {
        match o {
            Observable::Register { thread, name } => format!("{thread}:{name}"),
            Observable::Memory(a) => format!("[{}]", self.address(*a)),
        }
    }

    /// `0:r0=1; [x]=2;`
    pub fn state<'s>(&self, state: impl IntoIterator<Item = (&'s Observable, Value)>) -> String {
        let mut text = String::new();
        for (o, v) in state {
            if !text.is_empty() {
                text.push(' ');
            }
            let _ = write!(text, "{}={};", self.observable(o), self.value(v));
        }
        text
    }

    pub fn prop(&self, p: &Prop) -> String {
        match p {
            Prop::True => "true".to_string(),
            Prop::False => "false".to_string(),
            Prop::Is(o, v) => format!("{}={}", self.observable(o), self.value(*v)),
            Prop::Same(a, b) => format!("{}={}", self.observable(a), self.observable(b)),
            Prop::Not(p) => format!("not ({})", self.prop(p)),
            Prop::And(ps) => self.join(ps, " /\\ ", |p| {
                matches!(p, Prop::Or(_) | Prop::Implies(..))
            }),
            Prop::Or(ps) => self.join(ps, " \\/ ", |p| matches!(p, Prop::Implies(..))),
            Prop::Implies(p, q) => {
                let side = |p: &Prop| match p {
                    Prop::And(_) | Prop::Or(_) | Prop::Implies(..) => format!("({})", self.prop(p)),
                    _ => self.prop(p),
                };
                format!("{} => {}", side(p), side(q))
            }
        }
    }

    fn join(&self, ps: &[Prop], glue: &str, wrap: impl Fn(&Prop) -> bool) -> String {
        let parts: Vec<String> = ps
            .iter()
            .map(|p| match wrap(p) {
                true => format!("({})", self.prop(p)),
                false => self.prop(p),
            })
            .collect();
        parts.join(glue)
    }

    /// `exists (0:r0=1)`
    pub fn condition(&self, c: &Condition) -> String {
        let word = match c.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        };
        format!("{word} ({})", self.prop(&c.prop))
    }
}
