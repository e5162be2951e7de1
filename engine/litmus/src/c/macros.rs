//! The macros of a .def file, such as the Linux kernel's linux-kernel.def.

use super::ast::Expression;
use rustc_hash::FxHashMap;

/// `READ_ONCE(X) __load{once}(X)` defines an expression and `smp_mb() { __fence{mb}; }` a
/// statement.
#[derive(Clone, Debug)]
pub struct Macros {
    pub(super) text: String,
    pub(super) expressions: FxHashMap<String, Macro>,
    pub(super) statements: FxHashMap<String, Macro>,
    /// The annotations that the definitions mention.
    pub(crate) tags: Vec<String>,
    pub(super) halves: Halves,
}

/// Which annotations the two events of a read-modify-write have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halves {
    /// Only a read has `acquire`, and only a write `release`; `mb` stands for two fences.
    #[default]
    ByMeaning,
    /// Both have the annotation that is written: herd7's variant lkmmv2.
    AsWritten,
}

#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub parameters: Vec<String>,
    /// Where in the text the body starts and ends.
    pub body: (usize, usize),
}

/// The parameters of the macro that is being expanded, and their values.
#[derive(Default)]
pub(super) struct Frame {
    pub parameters: Vec<String>,
    pub arguments: Vec<Expression>,
}

impl Frame {
    pub fn argument(&self, name: &str) -> Option<&Expression> {
        let at = self.parameters.iter().position(|known| known == name)?;
        self.arguments.get(at)
    }
}
