//! What a program does, for tests that compare explorations of it.
use cat::Model;
use explore::{Counts, FaultKind, Limit, Options, ProgramSource, Violation};
use program::interpreter::Limits;
use program::Program;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub results: BTreeSet<u64>,
    pub violations: BTreeSet<(FaultKind, Option<u32>)>,
}

/// What a program does, and in how many executions; the limit if these are too many, none if the
/// exploration says that some are missing.
pub fn found(
    program: &Program,
    model: &Model,
    options: &Options,
    limits: Limits,
) -> Result<(Found, Counts), Option<Limit>> {
    let mut source = ProgramSource::new(program, limits);
    let (found, results) = source
        .results(model, options)
        .unwrap_or_else(|error| panic!("{error}"));
    // of the races of an execution one is reported, at whichever of its accesses comes later
    let site = |seen: &Violation| match seen.fault.kind {
        FaultKind::Race => None,
        _ => seen.fault.site,
    };
    let violations = found.violations.iter();
    let all = Found {
        results: results.into_keys().collect(),
        violations: violations
            .map(|seen| (seen.fault.kind, site(seen)))
            .collect(),
    };
    let mut truncations = found.truncations.iter();
    let misses = truncations.any(|truncation| truncation.limit == "model");
    match found.limit.is_some() || misses {
        true => Err(found.limit),
        false => Ok((all, found.counts)),
    }
}

/// A model of the package, or of these tests.
pub fn model(name: &str) -> Model {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let models = tests.join("../../../models");
    let file = format!("{name}.cat");
    let own = tests.join("fixtures").join(&file);
    let path = match own.exists() {
        true => own,
        false => models.join(&file),
    };
    Model::load(&path, &[models]).unwrap_or_else(|error| panic!("{error}"))
}
