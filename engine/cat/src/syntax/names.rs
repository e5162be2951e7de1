//! The interned names of a model, and positions in its files.
use std::collections::HashMap;
use std::sync::Arc;

/// An interned name: its number in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// The interned names of a model.
#[derive(Default, Clone)]
pub struct Names {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, Symbol>,
    /// For each name, whether anything in the model may define it.
    defined: Vec<bool>,
}

impl Names {
    /// The number of a name; adds it if it is new.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        if let Some(sym) = self.numbers.get(text) {
            return *sym;
        }
        let text: Arc<str> = text.into();
        let sym = Symbol(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.defined.push(false);
        self.numbers.insert(text, sym);
        sym
    }

    /// Records that something defines the name.
    pub fn define(&mut self, sym: Symbol) -> Symbol {
        self.defined[sym.0 as usize] = true;
        sym
    }

    pub fn is_defined(&self, sym: Symbol) -> bool {
        self.defined[sym.0 as usize]
    }

    /// The name of a number.
    pub fn text(&self, sym: Symbol) -> &str {
        &self.texts[sym.0 as usize]
    }
}

/// A position in a file: the file's number in the model, the line and the column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}
