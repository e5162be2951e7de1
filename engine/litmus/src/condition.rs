//! The final condition of a test, and how conditions and states are printed.

use std::fmt::Write as _;

use super::declarations::Types;
use super::observable::Observable;
use super::value::{Address, Value};

/// What a final state says about registers and locations.
pub trait FinalValues {
    /// The value as it is printed.
    fn value(&self, of: &Observable) -> Value;

    /// A constant as a value of this type is printed.
    fn constant(&self, _of: &Observable, constant: Value) -> Value {
        constant
    }

    /// Whether two have the same value.
    fn same(&self, a: &Observable, b: &Observable) -> bool {
        self.value(a) == self.value(b)
    }
}

impl<F: Fn(&Observable) -> Value> FinalValues for F {
    fn value(&self, of: &Observable) -> Value {
        self(of)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prop {
    True,
    False,
    Is(Observable, Value),
    /// `v={1,2}`
    Holds(Observable, Vec<Value>),
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

impl Prop {
    /// Adds the registers and locations that the proposition mentions.
    pub fn observables(&self, into: &mut Vec<Observable>) {
        self.mentions(&mut |o| into.push(o.clone()));
    }

    /// Adds the locations that it mentions.
    pub fn locations(&self, into: &mut Vec<Address>) {
        self.mentions(&mut |o| into.extend(o.addresses()));
    }

    fn mentions(&self, see: &mut dyn FnMut(&Observable)) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Is(o, _) | Prop::Holds(o, _) => see(o),
            Prop::Same(a, b) => [a, b].into_iter().for_each(see),
            Prop::Not(p) => p.mentions(see),
            Prop::And(ps) | Prop::Or(ps) => ps.iter().for_each(|p| p.mentions(see)),
            Prop::Implies(p, q) => [p, q].into_iter().for_each(|p| p.mentions(see)),
        }
    }

    /// Adds the addresses that appear as values.
    pub fn addresses(&self, into: &mut Vec<Address>) {
        match self {
            Prop::Is(_, Value::Address(a)) => into.push(*a),
            Prop::Holds(_, values) => into.extend(values.iter().filter_map(Value::address)),
            Prop::Not(p) => p.addresses(into),
            Prop::And(ps) | Prop::Or(ps) => ps.iter().for_each(|p| p.addresses(into)),
            Prop::Implies(p, q) => {
                p.addresses(into);
                q.addresses(into);
            }
            _ => {}
        }
    }

    pub fn holds(&self, state: &dyn FinalValues) -> bool {
        let is = |o: &Observable, v: &Value| state.value(o) == state.constant(o, *v);
        match self {
            Prop::True => true,
            Prop::False => false,
            Prop::Is(o, v) => is(o, v),
            Prop::Holds(o, values) => o.parts().iter().zip(values).all(|(o, v)| is(o, v)),
            Prop::Same(a, b) => state.same(a, b),
            Prop::Not(p) => !p.holds(state),
            Prop::And(ps) => ps.iter().all(|p| p.holds(state)),
            Prop::Or(ps) => ps.iter().any(|p| p.holds(state)),
            Prop::Implies(p, q) => !p.holds(state) || q.holds(state),
        }
    }
}

/// Prints names, values, states and conditions as herd7 does.
pub struct Printer<'a> {
    pub location_names: &'a [String],
    pub types: &'a Types,
}

impl Printer<'_> {
    pub fn address(&self, a: Address) -> String {
        printed(|out| self.put_address(out, a))
    }

    pub fn value(&self, v: Value) -> String {
        printed(|out| self.put_value(out, v))
    }

    pub fn observable(&self, o: &Observable) -> String {
        printed(|out| self.put_observable(out, o))
    }

    /// `0:r0=1; [x]=2;`, with the values of all observables one after the other
    pub fn state(&self, observables: &[Observable], values: &[Value]) -> String {
        let mut rest = values;
        printed(|out| {
            for o in observables {
                let (own, others) = rest.split_at(o.count().min(rest.len()));
                rest = others;
                if !out.is_empty() {
                    out.push(' ');
                }
                self.put_observable(out, o);
                out.push('=');
                self.put_values(out, o, own);
                out.push(';');
            }
        })
    }

    /// The values of an observable as a final state has them.
    pub fn values(&self, of: &Observable, values: &[Value]) -> String {
        printed(|out| self.put_values(out, of, values))
    }

    pub fn prop(&self, p: &Prop) -> String {
        printed(|out| self.put_prop(out, p))
    }

    /// `exists (0:r0=1)`
    pub fn condition(&self, c: &Condition) -> String {
        let word = match c.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        };
        printed(|out| {
            out.push_str(word);
            out.push(' ');
            self.put_wrapped(out, &c.prop, true);
        })
    }

    fn put_address(&self, out: &mut String, a: Address) {
        let name = self
            .location_names
            .get(a.name as usize)
            .map_or("?", String::as_str);
        out.push_str(name);
        if a.offset > 0 {
            out.push('+');
        }
        if a.offset != 0 {
            put_number(out, a.offset);
        }
    }

    fn put_value(&self, out: &mut String, v: Value) {
        match v {
            Value::Undetermined(n) => {
                out.push('S');
                put_number(out, n.into());
            }
            Value::Int(i) => put_number(out, i),
            Value::Address(a) => self.put_address(out, a),
            Value::Code(name) => {
                let name = self.location_names.get(name as usize);
                out.push_str(name.map_or("?", String::as_str));
            }
        }
    }

    fn put_values(&self, out: &mut String, of: &Observable, values: &[Value]) {
        let unsigned = self.types.of(of).is_unsigned_word();
        let put = |out: &mut String, value: Value| match value {
            Value::Int(n) if unsigned && n < 0 => {
                let _ = write!(out, "{}", n as u64);
            }
            value => self.put_value(out, value),
        };
        match (of, values) {
            (Observable::Array { .. }, values) => {
                out.push('{');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    put(out, *value);
                }
                out.push('}');
            }
            (_, [value]) => put(out, *value),
            _ => {}
        }
    }

    fn put_observable(&self, out: &mut String, o: &Observable) {
        match o {
            Observable::Array { at, .. } => self.put_address(out, *at),
            Observable::Element { at, index } => {
                self.put_address(out, Address { offset: 0, ..*at });
                let _ = write!(out, "[{index}]");
            }
            Observable::Register { thread, name } => {
                put_number(out, *thread as i64);
                out.push(':');
                out.push_str(name);
            }
            Observable::Memory(a) => {
                out.push('[');
                self.put_address(out, *a);
                out.push(']');
            }
        }
    }

    fn put_prop(&self, out: &mut String, p: &Prop) {
        match p {
            Prop::True => out.push_str("true"),
            Prop::False => out.push_str("false"),
            Prop::Is(o, v) => {
                self.put_observable(out, o);
                out.push('=');
                self.put_value(out, *v);
            }
            Prop::Holds(o, values) => {
                self.put_observable(out, o);
                out.push('=');
                self.put_values(out, o, values);
            }
            Prop::Same(a, b) => {
                self.put_observable(out, a);
                out.push('=');
                self.put_observable(out, b);
            }
            Prop::Not(p) => {
                out.push_str("not ");
                self.put_wrapped(out, p, true);
            }
            Prop::And(ps) => self.put_joined(out, ps, " /\\ ", |p| {
                matches!(p, Prop::Or(_) | Prop::Implies(..))
            }),
            Prop::Or(ps) => {
                self.put_joined(out, ps, " \\/ ", |p| matches!(p, Prop::Implies(..)));
            }
            Prop::Implies(p, q) => {
                let wrap = |p: &Prop| matches!(p, Prop::And(_) | Prop::Or(_) | Prop::Implies(..));
                self.put_wrapped(out, p, wrap(p));
                out.push_str(" => ");
                self.put_wrapped(out, q, wrap(q));
            }
        }
    }

    fn put_wrapped(&self, out: &mut String, p: &Prop, wrap: bool) {
        if wrap {
            out.push('(');
        }
        self.put_prop(out, p);
        if wrap {
            out.push(')');
        }
    }

    fn put_joined(&self, out: &mut String, ps: &[Prop], glue: &str, wrap: impl Fn(&Prop) -> bool) {
        for (index, p) in ps.iter().enumerate() {
            if index > 0 {
                out.push_str(glue);
            }
            self.put_wrapped(out, p, wrap(p));
        }
    }
}

/// Most printed states and conditions are shorter, in bytes.
const CAPACITY: usize = 64;

fn printed(put: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(CAPACITY);
    put(&mut out);
    out
}

fn put_number(out: &mut String, n: i64) {
    match n {
        0..=9 => out.push(char::from(b'0' + n as u8)),
        _ => {
            let _ = write!(out, "{n}");
        }
    }
}
