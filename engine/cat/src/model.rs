//! The entry point: a model is read from a file, then evaluated on graphs.
use crate::error::CatError;
use crate::evaluation::consistency::{Complete, Consistency};
use crate::evaluation::input::Input;
use crate::evaluation::plan_cache::{CachedPlan, PlanCache};
use crate::evaluation::prepare::prepare;
use crate::evaluation::prepared::Prepared;
use crate::plan::statements;
use crate::syntax::ast::{Block, Statement, StatementKind};
use crate::syntax::files::{self, Files, FindFile};
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The definitions that every cat file starts with.
const PRELUDE: &str = include_str!("prelude.cat");
const PRELUDE_NAME: &str = "stdlib.cat";

/// The variant of herd7 in which accesses of several sizes may overlap.
pub const MIXED: &str = "mixed";

/// The variant of herd7 in which both halves of the Linux kernel's read-modify-writes have its annotation,
/// and no fences stand around them.
pub const LKMMV2: &str = "lkmmv2";

/// What users of a model have derived from it, for the next that asks.
type Derived = RwLock<Vec<Arc<dyn Any + Send + Sync>>>;

/// A cat file, parsed, with the files it includes.
pub struct Model {
    /// The name in the file; the file's own name if there is none.
    pub name: String,
    /// The architecture in front of the name, if there is one.
    pub architecture: Option<String>,
    /// Whether the file computes dependencies from registers itself (`catdep`): the input must then
    /// contain the register events and `rf-reg`.
    pub computes_dependencies: bool,
    files: Arc<Files>,
    /// The prelude, the bell file if there is one, the model.
    blocks: Vec<Block>,
    /// The annotations that the bell file declares.
    tags: Vec<String>,
    /// The variants that are on whatever is evaluated: those of the configuration that names the model.
    on: Vec<String>,
    /// Critical sections of SRCU are loads and stores, as the macros of the configuration say.
    pub srcu_by_accesses: bool,
    plans: PlanCache,
    derived: Derived,
}

impl Model {
    /// Reads a model from a file. Included files are searched for in the folder of the including
    /// file, then in `folders`, in order.
    pub fn load(path: &Path, folders: &[PathBuf]) -> Result<Model, CatError> {
        let Some(text) = files::read(path) else {
            let message = format!("cannot read {}", path.display());
            return Err(CatError::placeless(message, "expected a cat file"));
        };
        Model::read(path, text, None, folders)
    }

    /// Reads a model and the bell file that declares its annotations.
    pub fn load_with_bell(
        path: &Path,
        bell: &Path,
        folders: &[PathBuf],
    ) -> Result<Model, CatError> {
        let text = |path: &Path| {
            let missing = || {
                let message = format!("cannot read {}", path.display());
                CatError::placeless(message, "expected a file in the language cat")
            };
            files::read(path).ok_or_else(missing)
        };
        Model::read(path, text(path)?, Some((bell, text(bell)?)), folders)
    }

    fn read(
        path: &Path,
        text: String,
        bell: Option<(&Path, String)>,
        folders: &[PathBuf],
    ) -> Result<Model, CatError> {
        Model::build(path, text, bell, &|name, including| {
            let beside = including.parent().unwrap_or(Path::new(""));
            let searched = std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
            let mut found = searched.map(|folder| folder.join(name));
            found.find_map(|path| files::read(&path).map(|text| (path, text)))
        })
    }

    /// Reads a model from a text. `load` returns the text of an included file.
    pub fn parse(
        text: &str,
        name: &str,
        load: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, CatError> {
        Model::build(Path::new(name), text.to_owned(), None, &|name, _| {
            load(name).map(|text| (PathBuf::from(name), text))
        })
    }

    fn build(
        path: &Path,
        text: String,
        bell: Option<(&Path, String)>,
        find: &FindFile,
    ) -> Result<Model, CatError> {
        let mut files = Files::new();
        let prelude = files.add(Path::new(PRELUDE_NAME), PRELUDE.to_owned(), &|_, _| None)?;
        let bell = match bell {
            Some((path, text)) => Some(files.add(path, text, find)?),
            None => None,
        };
        let main = files.add(path, text, &|name, including| {
            let built_in = || (name == PRELUDE_NAME).then(|| (name.into(), PRELUDE.to_owned()));
            find(name, including).or_else(built_in)
        })?;
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        Ok(Model {
            name: main.name.clone().or(stem).unwrap_or_default(),
            architecture: main.architecture.clone(),
            computes_dependencies: main.catdep,
            tags: bell
                .as_ref()
                .map_or(Vec::new(), |bell| tags(&bell.statements, &files)),
            files: Arc::new(files),
            blocks: [Some(prelude), bell, Some(main)]
                .into_iter()
                .flatten()
                .map(|file| Arc::new(file.statements))
                .collect(),
            on: Vec::new(),
            srcu_by_accesses: false,
            plans: PlanCache::default(),
            derived: Derived::default(),
        })
    }

    /// The plan for these variants. `in_parts`: see [`Complete::in_parts`].
    pub(crate) fn plan(
        &self,
        variants: &dyn Fn(&str) -> bool,
        in_parts: bool,
    ) -> Result<Arc<CachedPlan>, CatError> {
        let is_on = |name: &str| self.is_on(name) || variants(name);
        let on = self.files.variants.iter().map(|name| is_on(name));
        let on = on.chain([in_parts]);
        let blocks: Vec<&Block> = self.blocks.iter().collect();
        let make = || statements::plan(&self.files, &blocks, &is_on, in_parts);
        self.plans
            .plan(on.collect(), make)
            .map_err(|(at, fault)| fault.error(&self.files, &self.files.names, at))
    }

    /// The same model as a configuration says: with these variants on, and what SRCU is.
    pub fn configured(self, on: Vec<String>, srcu_by_accesses: bool) -> Model {
        Model {
            on,
            srcu_by_accesses,
            ..self
        }
    }

    /// Whether the model's configuration has a variant on.
    pub fn is_on(&self, variant: &str) -> bool {
        self.on.iter().any(|on| on == variant)
    }

    /// The annotations that the model's bell file declares; their events are sets of the model.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// The names of the sets and relations that the model reads from its input, including those
    /// that are unbound inside `try`.
    pub fn takes(&self, variants: &dyn Fn(&str) -> bool) -> Result<Vec<String>, CatError> {
        let planned = self.plan(variants, false)?;
        Ok(planned.given.iter().map(|(_, name)| name.clone()).collect())
    }

    /// Whether a read-modify-write of C is two events for the model, a read and a write related by
    /// rmw, instead of one: a model of C alone (`C "name"`) that takes rmw and dependencies, and so
    /// distinguishes what the two depend on. herd7 has one event for any model.
    pub fn splits_rmw(&self) -> Result<bool, CatError> {
        if self.architecture.as_deref() != Some("C") {
            return Ok(false);
        }
        let taken = self.takes(&|_| false)?;
        let takes = |name: &str| taken.iter().any(|taken| taken == name);
        Ok(takes("rmw") && ["addr", "data", "ctrl"].iter().any(|name| takes(name)))
    }

    /// Whether the model says itself what accesses of several sizes do that overlap: by herd7's variant
    /// `mixed`.
    pub fn knows_mixed_sizes(&self) -> bool {
        self.files.variants.iter().any(|name| name == MIXED)
    }

    /// Whether both models were read from the same texts.
    pub fn is_same(&self, other: &Model) -> bool {
        let configuration = (&self.on, self.srcu_by_accesses);
        self.files.sources == other.files.sources
            && configuration == (&other.on, other.srcu_by_accesses)
    }

    /// What `make` derives from the model alone, of which `is` says whether it is what is asked for.
    /// It is stored with the model.
    pub fn derived<T: Any + Send + Sync, E>(
        &self,
        is: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let of_type = |one: &Arc<dyn Any + Send + Sync>| one.clone().downcast().ok();
        let known = |all: &[Arc<dyn Any + Send + Sync>]| {
            let mut known = all.iter().filter_map(of_type);
            known.find(|one: &Arc<T>| is(one))
        };
        if let Some(found) = known(&self.derived.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        let mut all = self.derived.write().unwrap_or_else(PoisonError::into_inner);
        all.push(made.clone());
        Ok(made)
    }

    /// Compiles the model for complete graphs. It is an error if the model makes a choice that the
    /// graphs do not give, or refers to a name that they do not give.
    pub fn consistency(
        &self,
        variants: &dyn Fn(&str) -> bool,
        complete: &Complete,
    ) -> Result<Consistency, CatError> {
        let planned = self.plan(variants, complete.in_parts)?;
        Consistency::new(&self.files, &planned.plan, complete)
    }

    /// Evaluates what a graph of events alone determines.
    pub fn prepare(&self, input: &Input) -> Result<Prepared, CatError> {
        let plan = self.plan(input.variants, false)?;
        prepare(&self.files, &plan, input).map_err(|error| *error)
    }
}

/// The tags of the enumerations that a file declares.
fn tags(statements: &[Statement], files: &Files) -> Vec<String> {
    let declared = statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Enum(_, tags) => Some(tags),
            _ => None,
        });
    let names = declared.flatten().map(|tag| files.names.text(*tag));
    names
        .map(|name| name.trim_start_matches('\'').to_owned())
        .collect()
}
