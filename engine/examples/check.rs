//! Decides litmus tests and prints what herd7 prints: for comparing the two.
//!
//! `check -model FILE.cat [-I FOLDER]… TEST…`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use _engine::cat::Model;
use _engine::enumerate::{decide, herd, Limits};
use _engine::litmus::Test;
use rayon::prelude::*;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// True when every test has its answer.
fn run() -> Result<bool, String> {
    let mut tests: Vec<PathBuf> = Vec::new();
    let mut folders = Vec::new();
    let mut model = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .map(PathBuf::from)
                .ok_or("a value is missing")
        };
        match argument.as_str() {
            "-model" => model = Some(value()?),
            "-I" => folders.push(value()?),
            _ => tests.push(PathBuf::from(argument)),
        }
    }
    let model = model.ok_or("which model? -model FILE.cat")?;
    let model = Model::load(&model, &folders).map_err(|e| e.to_string())?;
    let answers: Vec<Result<String, String>> =
        tests.par_iter().map(|path| check(path, &model)).collect();
    let mut all = true;
    for answer in answers {
        match answer {
            Ok(text) => println!("{text}"),
            Err(message) => {
                eprintln!("{message}");
                all = false;
            }
        }
    }
    Ok(all)
}

fn check(path: &Path, model: &Model) -> Result<String, String> {
    let test = Test::read(path).map_err(|e| e.to_string())?;
    let answer =
        decide(&test, model, &Limits::default()).map_err(|e| format!("{}: {e}", path.display()))?;
    if let Some(limit) = answer.limit {
        return Err(format!("{}: too many {limit}", path.display()));
    }
    Ok(herd(&answer, &test))
}
