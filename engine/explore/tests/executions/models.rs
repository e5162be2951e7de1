//! The models that executions are explored under.
use cat::Model;
use explore::{Acyclic, Options};
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn model(name: &str) -> Model {
    let path = root().join("models").join(format!("{name}.cat"));
    Model::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"))
}

pub fn options(workers: usize) -> Options {
    Options {
        workers,
        acyclic: Some(Acyclic::ProgramOrder),
        ..Options::default()
    }
}
