//! Decides litmus tests and prints what herd7 prints: for comparing the two.
//!
//! `check -model FILE.cat [-I FOLDER]… TEST…`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use _engine::enumerate::{decide, herd, Free, Limits};
use _engine::litmus::Test;

fn main() -> ExitCode {
    let mut tests: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-model" | "-I" => {
                arguments.next();
            }
            _ => tests.push(PathBuf::from(argument)),
        }
    }
    let mut failed = false;
    for path in &tests {
        match check(path) {
            Ok(text) => println!("{text}"),
            Err(message) => {
                eprintln!("{message}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn check(path: &Path) -> Result<String, String> {
    let test = Test::read(path).map_err(|e| e.to_string())?;
    let answer = decide(&test, &Free, &Limits::default()).map_err(|e| e.to_string())?;
    Ok(herd(&answer, &test))
}
