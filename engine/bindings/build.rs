//! Adds a digest of the engine's sources to its version, so that stored answers of another engine
//! are not reused.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let workspace = Path::new("..");
    let mut files: Vec<PathBuf> = ["Cargo.lock", "Cargo.toml"]
        .map(|file| workspace.join(file))
        .into();
    for member in entries(workspace) {
        let manifest = member.join("Cargo.toml");
        if manifest.is_file() {
            files.push(manifest);
            let sources = member.join("src");
            if sources.is_dir() {
                // cargo takes what is missing for changed, and compiles each time
                below(&sources, &mut files);
                println!("cargo:rerun-if-changed={}", sources.display());
            }
        }
    }
    files.sort();
    let mut digest = DefaultHasher::new();
    for file in &files {
        let text = std::fs::read(file).unwrap_or_default();
        digest.write(file.to_string_lossy().as_bytes());
        digest.write_usize(text.len());
        digest.write(&text);
        if file
            .file_name()
            .is_some_and(|name| name == "Cargo.toml" || name == "Cargo.lock")
        {
            println!("cargo:rerun-if-changed={}", file.display());
        }
    }
    println!("cargo:rustc-env=ENGINE_SOURCES={:016x}", digest.finish());
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        match path.is_dir() {
            true => below(&path, files),
            false => files.push(path),
        }
    }
}
