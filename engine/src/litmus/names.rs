//! The names of shared locations, numbered.

use rustc_hash::FxHashMap;

use super::value::{Address, Value};

#[derive(Clone, Debug, Default)]
pub struct Names {
    pub list: Vec<String>,
    index: FxHashMap<String, u32>,
}

impl Names {
    pub fn address(&mut self, name: &str) -> Address {
        let next = self.list.len() as u32;
        let index = *self.index.entry(name.to_string()).or_insert_with(|| {
            self.list.push(name.to_string());
            next
        });
        Address {
            name: index,
            offset: 0,
        }
    }

    pub fn value(&mut self, name: &str) -> Value {
        Value::Address(self.address(name))
    }
}
