//! Numbers the names of shared locations.

use rustc_hash::FxHashMap;

use super::value::{Address, Value};

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

    pub fn value(&mut self, name: &str) -> Value {
        Value::Address(self.address(name))
    }
}
