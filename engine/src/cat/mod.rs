//! The cat language: models as axioms over relations between events.
//!
//! The language is that of Alglave, Cousot and Maranget, "Syntax and semantics of the
//! weak consistency model specification language cat", 2016, as herd7 7.58 reads it.
//!
//! A [`Model`] is read once, prepared once for each graph of events, and solved once for
//! each reads-from relation:
//!
//! ```text
//! let model = Model::load(path, folders)?;
//! let mut prepared = model.prepare(&input)?;          // a graph of events: what is fixed
//! prepared.solutions(&rf, None, &mut |solution| …)?;  // a reads-from relation
//! ```
mod error;

pub use error::CatError;

use crate::graph::{Relation, Set};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A cat file, parsed, with what it includes.
pub struct Model {
    /// The name that the file gives itself; its file name when it gives none.
    pub name: String,
    /// The architecture that the file names before its name, when it does.
    pub architecture: Option<String>,
    /// Whether the file computes dependencies from registers itself (`catdep`): it then
    /// expects the register events and `rf-reg` in its input.
    pub computes_dependencies: bool,
}

/// A graph of events: what the model may refer to and what no choice changes.
///
/// Names are herd7's. A set or relation that is absent is unbound in the model, which is
/// an error only when the model uses it (and not in `try`). These are computed here and
/// need not be given: `_`, `0`, `{}`, and what herd7's standard library defines: `emptyset`,
/// `po-loc`, `rfe`, `rfi`, `co0`, `fencerel`, `lxsx`, … `id` and `unv` too.
///
/// To be given where the model may use them: `loc`, `int`, `ext`, `po`, `addr`, `data`,
/// `ctrl`, `rmw`, `amo`, `sm`, … ; `M`, `R`, `W`, `F`, `B`, `IW`, `I` and the annotations and
/// fences of the dialect.
///
/// `rf` and `FW` are no part of it: they come with each candidate. (In
/// [`Model::solutions`], `rf` is taken from `relations` and `FW` from `sets`.)
pub struct Input<'a> {
    /// How many events there are.
    pub n: usize,
    /// Sets of events by name.
    pub sets: &'a HashMap<String, Set>,
    /// Relations between events by name.
    pub relations: &'a HashMap<String, Relation>,
    /// The location of each event that has one, for `classes-loc`.
    pub locations: &'a [Option<u32>],
    /// Whether a variant (`if "vmsa" then …`) is on.
    pub variants: &'a dyn Fn(&str) -> bool,
}

/// A way to make the model's choices (`with x from …`) such that all its axioms hold.
pub struct Solution<'a> {
    /// The coherence order: what the model binds to `co`, else to `mo`.
    pub co: Option<&'a Relation>,
    /// Each choice by name, in the model's order.
    pub choices: &'a [(&'a str, &'a Relation)],
    /// The names of the flags raised.
    pub flags: &'a [&'a str],
    /// Whether an `undefined_unless` fails: the program has no meaning.
    pub undefined: bool,
}

/// What to do with each solution; `Break` ends the search.
pub type Visit<'v> = dyn FnMut(&Solution) -> ControlFlow<()> + 'v;

impl Model {
    /// Reads the model of a file. What it includes is looked for beside the including
    /// file, then in `folders`, in their order.
    pub fn load(path: &Path, folders: &[PathBuf]) -> Result<Model, CatError> {
        let _ = (path, folders);
        Err(CatError::placeless("cat files are not read yet", ""))
    }

    /// Reads the model of a text. `load` gives the text of a file that it includes.
    pub fn parse(
        text: &str,
        name: &str,
        load: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, CatError> {
        let _ = (text, name, load);
        Err(CatError::placeless("cat files are not read yet", ""))
    }

    /// Evaluates what depends on the graph alone.
    pub fn prepare(&self, input: &Input) -> Result<Prepared, CatError> {
        let _ = input;
        Err(CatError::placeless("cat files are not evaluated yet", ""))
    }

    /// Calls `visit` for every solution with the `rf` that is in the input.
    pub fn solutions(&self, input: &Input, visit: &mut Visit) -> Result<(), CatError> {
        let rf = input.relations.get("rf").cloned();
        let rf = rf.unwrap_or_else(|| Relation::new(input.n));
        let finals = input.sets.get("FW");
        self.prepare(input)?.solutions(&rf, finals, visit)
    }

    /// For each axiom, how many ways to make the choices fail it first.
    pub fn why_not(&self, input: &Input) -> Result<Vec<(String, u64)>, CatError> {
        let rf = input.relations.get("rf").cloned();
        let rf = rf.unwrap_or_else(|| Relation::new(input.n));
        let finals = input.sets.get("FW");
        self.prepare(input)?.why_not(&rf, finals)
    }
}

/// A model with all that depends on the graph alone evaluated.
pub struct Prepared {}

impl Prepared {
    /// The name of an axiom that fails whatever is read from where, if there is one: then
    /// there are no solutions.
    pub fn never(&self) -> Option<&str> {
        None
    }

    /// Whether the model looks at the final writes `FW` other than to order them last in
    /// a coherence order it chooses. When not, leave `FW` out: the final write of a
    /// location is then the last in `co`, and every one occurs.
    pub fn needs_final_writes(&self) -> bool {
        false
    }

    /// Calls `visit` for every solution with this reads-from relation and, where
    /// [`Prepared::needs_final_writes`], these final writes.
    pub fn solutions(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut Visit,
    ) -> Result<(), CatError> {
        let _ = (rf, finals, visit);
        Ok(())
    }

    /// Whether some solution may extend these parts of a reads-from relation and a
    /// coherence order: false only when an axiom that more pairs cannot repair fails.
    /// Without `co`, what is fixed of it beforehand stands for it.
    pub fn monotone_axioms_hold(
        &mut self,
        rf: &Relation,
        co: Option<&Relation>,
    ) -> Result<bool, CatError> {
        let _ = (rf, co);
        Ok(true)
    }

    /// For each axiom, how many ways to make the choices fail it first.
    pub fn why_not(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
    ) -> Result<Vec<(String, u64)>, CatError> {
        let _ = (rf, finals);
        Ok(Vec::new())
    }
}
