//! Final conditions evaluated on final states as herd7 and litmus7 print them, for programs that
//! read logs. The dialect of the test is not needed: a register has the name that is printed.

use super::condition::{Condition, Printer, Quantifier};
use super::declarations::Types;
use super::error::LitmusError;
use super::location_names::LocationNames;
use super::observable::Observable;
use super::sections::SourceSpan;
use super::value::Value;
use super::{final_condition, state};

#[derive(Clone, Debug)]
pub struct PrintedCondition {
    condition: Condition,
    location_names: LocationNames,
}

/// The register or location, as it is printed, to which the state gives no value that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValue(pub String);

impl PrintedCondition {
    /// Reads `exists (0:r0=1 /\ [x]=2)`.
    pub fn read(text: &str) -> Result<PrintedCondition, LitmusError> {
        let mut location_names = LocationNames::default();
        let section = SourceSpan { text, offset: 0 };
        let mut types = Types::default();
        let found =
            final_condition::condition(section, &mut location_names, as_printed, &mut types);
        Ok(PrintedCondition {
            condition: found.map_err(|error| error.locate("", text))?.condition,
            location_names,
        })
    }

    /// Whether a state, the pairs `("0:r0", "1")` and `("[x]", "2")`, satisfies the proposition.
    pub fn holds<'s>(
        &self,
        state: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> Result<bool, MissingValue> {
        let mut location_names = self.location_names.clone();
        // what cannot be read, such as a fault, is missing where the condition mentions it
        let values: Vec<(Observable, Value)> = state
            .into_iter()
            .filter_map(|(name, value)| {
                state::binding(name, value, &mut location_names, as_printed).ok()
            })
            .flatten()
            .collect();
        let find = |wanted: &Observable| values.iter().find(|(name, _)| name == wanted);
        let mut mentioned = Vec::new();
        self.condition.prop.observables(&mut mentioned);
        if let Some(missing) = mentioned.iter().find(|name| find(name).is_none()) {
            let location_names = &location_names.list;
            let types = &Types::default();
            let printer = Printer {
                location_names,
                types,
            };
            return Err(MissingValue(printer.observable(missing)));
        }
        let value = |name: &Observable| find(name).map_or(Value::ZERO, |(_, value)| *value);
        Ok(self.condition.prop.holds(&value))
    }
}

/// The quantifier with which a condition begins, also where the rest cannot be read.
pub fn quantifier(condition: &str) -> Option<Quantifier> {
    let end = condition.find('(').unwrap_or(condition.len());
    let section = SourceSpan {
        text: &condition[..end],
        offset: 0,
    };
    final_condition::quantifier(section).ok().flatten()
}

fn as_printed(register: &str) -> Option<String> {
    Some(register.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: [(&str, &str); 6] = [
        ("0:r0", "1"),
        ("1:X3", "0x10"),
        ("[x]", "2"),
        ("a[1]", "1"),
        ("0:r1", "x"),
        ("fault(P0,x)", ""),
    ];

    fn holds(condition: &str) -> Result<bool, MissingValue> {
        let read = PrintedCondition::read(condition).expect(condition);
        read.holds(STATE)
    }

    #[test]
    fn names_and_numbers_are_compared_in_any_spelling() {
        assert_eq!(holds(r"exists ([x]=1 \/ 1:X3=16)"), Ok(true));
        assert_eq!(holds(r"exists (x=2 /\ a[1]=1 /\ P0:r0=0x1)"), Ok(true));
        assert_eq!(holds("exists (0:r1=y)"), Ok(false));
        assert_eq!(holds("exists (0:r1=x)"), Ok(true));
    }

    #[test]
    fn a_value_that_the_state_lacks_is_missing() {
        let missing = |name: &str| Err(MissingValue(name.to_owned()));
        assert_eq!(holds(r"exists (0:r0=1 \/ y=0)"), missing("[y]"));
        assert_eq!(holds("exists (2:%rax=1)"), missing("2:%rax"));
        let vector = PrintedCondition::read("exists (x=1)").expect("a condition");
        assert_eq!(vector.holds([("x", "{1,0}")]), missing("[x]"));
    }

    #[test]
    fn the_quantifier_is_found_before_what_cannot_be_read() {
        assert!(PrintedCondition::read("~exists (fault(P0,x))").is_err());
        let expected = Some(Quantifier::NotExists);
        assert_eq!(quantifier("~ exists (fault(P0,x))"), expected);
        assert_eq!(quantifier("forall"), Some(Quantifier::Forall));
        assert_eq!(quantifier(""), None);
    }
}
