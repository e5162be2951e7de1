//! The models that executions are explored under.
use cat::Model;
use explore::{Acyclic, Options, Reduction, Reductions};
use std::path::{Path, PathBuf};

/// The models of machines, and that between the language and machines.
pub const MACHINES: [&str; 4] = [
    "imm",
    "aarch64-programs",
    "power-programs",
    "riscv-programs",
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn model(name: &str) -> Model {
    let path = root().join("models").join(format!("{name}.cat"));
    Model::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The model of `dependencies.cat`.
pub fn dependencies() -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/executions");
    let path = folder.join("dependencies.cat");
    Model::load(&path, &[root().join("models")]).unwrap_or_else(|error| panic!("{error}"))
}

/// Options for models whose guarantee is that of dependencies.
pub fn by_dependencies(workers: usize) -> Options {
    Options {
        acyclic: Some(Acyclic::Dependencies),
        ..options(workers)
    }
}

pub fn options(workers: usize) -> Options {
    Options {
        workers,
        acyclic: Some(Acyclic::ProgramOrder),
        reductions: Reductions::ALL.with(Reduction::Symmetry, false),
        ..Options::default()
    }
}
