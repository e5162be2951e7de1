//! Numbers the names of shared locations.

use rustc_hash::FxHashMap;

use super::value::{Address, Value};

/// What starts the name of an instruction that has no label.
pub const UNLABELLED: char = '@';

#[derive(Clone, Debug, Default)]
pub struct LocationNames {
    pub list: Vec<String>,
    index: FxHashMap<String, u32>,
}

impl LocationNames {
    pub fn address(&mut self, name: &str) -> Address {
        let known = self.index.get(name).copied();
        let name = known.unwrap_or_else(|| {
            let next = self.list.len() as u32;
            self.list.push(name.to_string());
            self.index.insert(name.to_string(), next);
            next
        });
        Address { name, offset: 0 }
    }

    /// The address of an instruction: that of a label as herd7 prints it.
    pub fn label(&mut self, thread: usize, label: &str) -> Value {
        Value::Code(self.address(&format!("label:\"P{thread}:{label}\"")).name)
    }

    /// The address of an instruction that has no label, which herd7 prints as a number.
    pub fn unlabelled(&mut self, thread: usize, instruction: usize) -> Value {
        Value::Code(
            self.address(&format!("{UNLABELLED}{thread}:{instruction}"))
                .name,
        )
    }

    /// The labels that are values, by name and number.
    pub fn labels(&self) -> impl Iterator<Item = (&str, u32)> {
        let numbered = self.list.iter().zip(0..);
        let labels = numbered.filter(|(name, _)| name.starts_with("label:"));
        labels.map(|(name, number)| (name.as_str(), number))
    }

    pub fn value(&mut self, name: &str) -> Value {
        Value::Address(self.address(name))
    }
}
