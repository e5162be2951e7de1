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
mod ast;
mod classes;
mod coherence;
mod compact;
mod compile;
mod consistency;
mod cycles;
mod env;
mod error;
mod eval;
mod growth;
mod interp;
mod layout;
mod lex;
mod load;
mod node;
mod ops;
mod parse;
mod parse_bind;
mod parse_exp;
mod plan;
mod polarity;
mod prepare;
mod prims;
mod recognise;
mod rows;
mod search;
mod sorts;
mod stages;
mod typed;
mod value;
mod values;

pub use consistency::{Axiom, Complete, Consistency, Remarks};
pub use error::CatError;
pub use sorts::{Extent, MAX_SORTS};

use ast::{Block, Names, Place};
use load::{Files, Find};
use plan::Plan;
use relation::{Relation, Set};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use typed::{GivenForm, Typed};
use value::Fault;
use values::Values;

/// What every cat file finds defined.
const PRELUDE: &str = include_str!("prelude.cat");
const PRELUDE_NAME: &str = "stdlib.cat";

/// A cat file, parsed, with what it includes.
pub struct Model {
    /// The name that the file gives itself; its file name when it gives none.
    pub name: String,
    /// The architecture that the file names before its name, when it does.
    pub architecture: Option<String>,
    /// Whether the file computes dependencies from registers itself (`catdep`): it then
    /// expects the register events and `rf-reg` in its input.
    pub computes_dependencies: bool,
    files: Arc<Files>,
    prelude: Block,
    main: Block,
    /// The model laid out, by which variants are on.
    plans: RwLock<Vec<(Vec<bool>, Arc<Planned>)>>,
}

/// A plan, and it typed for what graphs have given so far.
struct Planned {
    plan: Arc<Plan>,
    /// The names that the plan asks a graph for, and the operations that they are.
    given: Vec<(node::Id, String)>,
    typed: RwLock<Vec<(Forms, Relations, Arc<Typed>)>>,
}

/// What a graph gives under each name that a plan asks for.
type Forms = Vec<Option<GivenForm>>;

/// The choices among listed values that are relations: where there is one value to choose.
type Relations = Vec<u32>;

impl Planned {
    fn new(plan: Plan) -> Planned {
        let name = |id: &node::Id| match plan.nodes.op(*id) {
            node::Op::Given(name) => Some((*id, plan.names.text(*name).to_owned())),
            _ => None,
        };
        Planned {
            given: plan.given.iter().filter_map(name).collect(),
            plan: Arc::new(plan),
            typed: RwLock::default(),
        }
    }

    /// The plan typed for a graph that gives these sets and relations and leaves no choice but
    /// these relations; without them, with such as another graph like it left.
    fn typed(&self, given: &[Option<Given>], only: Option<&[u32]>) -> (Relations, Arc<Typed>) {
        let is_it =
            |forms: &[Option<GivenForm>]| forms.iter().copied().eq(given.iter().map(prepare::form));
        let known = |all: &[(Forms, Relations, Arc<Typed>)]| {
            let mut found = all.iter().rev();
            let fits = |relations: &[u32]| only.map_or(true, |only| only == relations);
            let found = found.find(|(forms, relations, _)| fits(relations) && is_it(forms));
            found.map(|(_, relations, typed)| (relations.clone(), typed.clone()))
        };
        if let Some(typed) = self.typed.read().ok().and_then(|all| known(&all)) {
            return typed;
        }
        let form = |name: &str| {
            let index = self.given.iter().position(|(_, given)| given == name)?;
            prepare::form(&given[index])
        };
        let relations = only.unwrap_or_default();
        let typed = Arc::new(Typed::new(&self.plan, false, &form, relations));
        if let Ok(mut all) = self.typed.write() {
            if known(&all).is_none() {
                let forms = given.iter().map(prepare::form).collect();
                all.push((forms, relations.to_vec(), typed.clone()));
            }
        }
        (relations.to_vec(), typed)
    }
}

/// A set or a relation that a model refers to by name.
#[derive(Clone, Debug)]
pub enum Given {
    Set(Set),
    Relation(Relation),
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
/// `rf` and `FW` are no part of it: they come with each candidate.
pub struct Input<'a> {
    /// How many events there are.
    pub n: usize,
    /// What a name stands for; asked at most once for each that the model uses.
    pub given: &'a dyn Fn(&str) -> Option<Given>,
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
    /// How many solutions these are; see [`Prepared::tally`].
    pub count: u64,
    /// Of solutions told together, the last writes in their orders, as far as they matter.
    pub lasts: Option<&'a [usize]>,
}

/// What to do with each solution; `Break` ends the search.
pub type Visit<'v> = dyn FnMut(&Solution) -> ControlFlow<()> + 'v;

impl Model {
    /// Reads the model of a file. What it includes is looked for beside the including
    /// file, then in `folders`, in their order.
    pub fn load(path: &Path, folders: &[PathBuf]) -> Result<Model, CatError> {
        let Some(text) = load::read(path) else {
            let message = format!("{} cannot be read", path.display());
            return Err(CatError::placeless(message, "a cat file is expected"));
        };
        Model::build(path, text, &|name, including| {
            let beside = including.parent().unwrap_or(Path::new(""));
            let places = std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
            let mut found = places.map(|folder| folder.join(name));
            found.find_map(|path| load::read(&path).map(|text| (path, text)))
        })
    }

    /// Reads the model of a text. `load` gives the text of a file that it includes.
    pub fn parse(
        text: &str,
        name: &str,
        load: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, CatError> {
        Model::build(Path::new(name), text.to_owned(), &|name, _| {
            load(name).map(|text| (PathBuf::from(name), text))
        })
    }

    fn build(path: &Path, text: String, find: &Find) -> Result<Model, CatError> {
        let mut files = Files::new();
        let prelude = files.add(Path::new(PRELUDE_NAME), PRELUDE.to_owned(), &|_, _| None)?;
        let main = files.add(path, text, &|name, including| {
            let built_in = || (name == PRELUDE_NAME).then(|| (name.into(), PRELUDE.to_owned()));
            find(name, including).or_else(built_in)
        })?;
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        Ok(Model {
            name: main.name.or(stem).unwrap_or_default(),
            architecture: main.architecture,
            computes_dependencies: main.catdep,
            files: Arc::new(files),
            prelude: Arc::new(prelude.statements),
            main: Arc::new(main.statements),
            plans: RwLock::new(Vec::new()),
        })
    }

    /// The model laid out, once for each way the variants may be.
    fn plan(&self, variants: &dyn Fn(&str) -> bool) -> Result<Arc<Planned>, CatError> {
        let on: Vec<bool> = self
            .files
            .variants
            .iter()
            .map(|name| variants(name))
            .collect();
        let known = |plans: &[(Vec<bool>, Arc<Planned>)]| {
            plans
                .iter()
                .find(|(key, _)| *key == on)
                .map(|(_, plan)| plan.clone())
        };
        if let Ok(plans) = self.plans.read() {
            if let Some(plan) = known(&plans) {
                return Ok(plan);
            }
        }
        let plan = plan::plan(&self.files, &[&self.prelude, &self.main], variants)
            .map_err(|(at, fault)| fault_error(&self.files, &self.files.names, at, fault))?;
        let plan = Arc::new(Planned::new(plan));
        if let Ok(mut plans) = self.plans.write() {
            if known(&plans).is_none() {
                plans.push((on, plan.clone()));
            }
        }
        Ok(plan)
    }

    /// The names of the sets and relations that the model takes from its input. What it
    /// finds nowhere under `try` is among them.
    pub fn takes(&self, variants: &dyn Fn(&str) -> bool) -> Result<Vec<String>, CatError> {
        let planned = self.plan(variants)?;
        Ok(planned.given.iter().map(|(_, name)| name.clone()).collect())
    }

    /// Evaluates what depends on the graph alone.
    pub fn prepare(&self, input: &Input) -> Result<Prepared, CatError> {
        let plan = self.plan(input.variants)?;
        prepare::prepare(&self.files, &plan, input).map_err(|error| *error)
    }
}

/// The error of a fault.
fn fault_error(files: &Files, names: &Names, at: Place, fault: Fault) -> CatError {
    let (message, advice) = match fault {
        Fault::Error(error) => return CatError::clone(&error),
        Fault::Unbound(name) => (
            format!("nothing is called {} here", names.text(name)),
            "it is neither defined before this place nor given for this kind of test".to_owned(),
        ),
        Fault::Type(expected, found) => {
            (format!("this is {found}"), format!("expected: {expected}"))
        }
        Fault::Said(message) => (message.to_string(), String::new()),
        Fault::Limit(message) => {
            let error = files.error((at, message.to_owned(), String::new()));
            return CatError {
                limit: true,
                ..error
            };
        }
    };
    files.error((at, message, advice))
}

/// A model with all that depends on the graph alone evaluated.
pub struct Prepared {
    typed: Arc<Typed>,
    values: Values,
    files: Arc<Files>,
    stages: Arc<stages::Stages>,
    /// Of each choice among orders of a known set, what is ordered one by one.
    classes: Vec<Option<classes::Classes>>,
    /// The relations chosen in the solution that is told.
    chosen: Vec<Relation>,
    never: Option<String>,
    /// How many steps the searches have taken, and how many they may.
    steps: u64,
    limit: Option<u64>,
    over: Option<Over>,
}

/// Whether it is time to end a search.
pub type Over = Arc<dyn Fn() -> bool + Send + Sync>;

impl Prepared {
    /// The name of an axiom that fails whatever is read from where, if there is one: then
    /// there are no solutions.
    pub fn never(&self) -> Option<&str> {
        self.never.as_deref()
    }

    /// Whether the model looks at the final writes `FW` other than to order them last in
    /// a coherence order it chooses. When not, leave `FW` out: the final write of a
    /// location is then the last in `co`, and every one occurs.
    pub fn needs_final_writes(&self) -> bool {
        self.typed.plan.needs_finals
    }

    /// How many steps of search there may be in all from now; none for no limit. The
    /// error then has its `limit` set.
    pub fn set_limit(&mut self, steps: Option<u64>) {
        self.steps = 0;
        self.limit = steps;
    }

    /// Has a search ask now and then whether to end; if so, the error has its `limit` set.
    pub fn set_over(&mut self, over: Over) {
        self.over = Some(over);
    }

    /// Calls `visit` for every solution with this reads-from relation and, where
    /// [`Prepared::needs_final_writes`], these final writes.
    pub fn solutions(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut Visit,
    ) -> Result<(), CatError> {
        self.search(rf, finals, None, visit).map_err(|error| *error)
    }

    /// As [`Prepared::solutions`], for those who need not see the choices, but for which of the
    /// writes in `observed` are the last in a coherence order. Solutions that do not differ in
    /// that are told together where they can be counted without being listed: these have `lasts`
    /// instead of choices.
    pub fn tally(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        observed: &Set,
        visit: &mut Visit,
    ) -> Result<(), CatError> {
        self.search(rf, finals, Some(observed), visit)
            .map_err(|error| *error)
    }

    /// Whether some solution may extend these parts of a reads-from relation and a
    /// coherence order: false only when an axiom that more pairs cannot repair fails.
    /// Without `co`, what is fixed of it beforehand stands for it.
    pub fn monotone_axioms_hold(
        &mut self,
        rf: &Relation,
        co: Option<&Relation>,
    ) -> Result<bool, CatError> {
        self.may_hold(rf, co).map_err(|error| *error)
    }

    /// For each axiom, how many ways to make the choices fail it first.
    pub fn why_not(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
    ) -> Result<Vec<(String, u64)>, CatError> {
        let mut counts: Vec<(String, u64)> = Vec::new();
        self.failures(rf, finals, &mut |axiom, _| match counts
            .iter_mut()
            .find(|(name, _)| name == axiom)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((axiom.to_owned(), 1)),
        })?;
        counts.sort();
        Ok(counts)
    }

    /// Calls `visit` for every way to make the choices that fails an axiom, with the first
    /// that it fails.
    pub fn failures(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut dyn FnMut(&str, &Solution),
    ) -> Result<(), CatError> {
        self.explain(rf, finals, visit).map_err(|error| *error)
    }
}
