//! The files that are mutated (ours, and herd7's if it is installed), and the mutations.

use super::choices::Choices;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// herd7's library folder, if herd7 is on PATH or `HERD7` names it.
fn herd_library() -> Option<PathBuf> {
    let herd = std::env::var("HERD7").unwrap_or_else(|_| "herd7".to_owned());
    let output = std::process::Command::new(herd)
        .arg("-libdir")
        .output()
        .ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    folder.is_dir().then_some(folder)
}

fn below(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            below(&path, end, found);
        } else if path.extension().is_some_and(|e| e == end) {
            found.push(path);
        }
    }
}

/// Each file's name and text, in order.
fn texts(folders: &[PathBuf], end: &str) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    folders
        .iter()
        .for_each(|folder| below(folder, end, &mut paths));
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    paths.iter().filter_map(read).collect()
}

/// Our cat files, and herd7's.
pub fn cats() -> Vec<(String, String)> {
    let mut folders = vec![root().join("models")];
    folders.extend(herd_library());
    texts(&folders, "cat")
}

/// The litmus tests of the repository, which include every dialect.
pub fn tests() -> Vec<(String, String)> {
    let folders = [
        "engine/enumerate/tests/cases",
        "tests/agreement/litmus",
        "tests/checkers",
        "litmus",
    ];
    texts(&folders.map(|folder| root().join(folder)), "litmus")
}

/// Mutates a text in a few places: changes bytes, moves or duplicates pieces, inserts words.
pub fn changed(text: &str, words: &[&str], bytes: &[u8]) -> String {
    let mut c = Choices::new(bytes);
    let mut text = text.as_bytes().to_vec();
    let place =
        |c: &mut Choices<'_>, length: usize| (c.below(256) << 8 | c.below(256)) % length.max(1);
    for _ in 0..1 + c.below(5) {
        let at = place(&mut c, text.len() + 1).min(text.len());
        match c.below(7) {
            0 | 1 if at < text.len() => text[at] = c.below(256) as u8,
            2 => text.insert(at, c.below(256) as u8),
            3 => {
                let end = (at + 1 + c.below(8)).min(text.len());
                text.drain(at..end);
            }
            4 => {
                let from = place(&mut c, text.len());
                let end = (from + 1 + c.below(60)).min(text.len());
                let piece = text[from..end].to_vec();
                text.splice(at..at, piece);
            }
            5 if at < text.len() => text[at] ^= 1 << c.below(8),
            _ => {
                let word = format!(" {} ", c.of(words));
                text.splice(at..at, word.into_bytes());
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
