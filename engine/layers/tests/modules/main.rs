//! No two modules of a crate depend on each other, directly or through others.
//!
//! At each level of a crate the children of a module, and the module's own file as one more, must
//! form an acyclic graph: an edge leads from where a path stands to where the item it names is
//! defined. Re-exports of a module's own children are followed and are no edges themselves, so
//! that a `mod.rs` may list what its folder offers. Code under `#[cfg(test)]` may use everything.
//! A method call has no path: where a type's methods are spread over modules, their calls of one
//! another are not seen.

mod cycles;
mod reader;

use cycles::cycles;
use reader::Crate;
use std::path::{Path, PathBuf};

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The crates of the workspace, by folder.
fn crates() -> Vec<String> {
    let entries = engine().read_dir().expect("the engine's folder");
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let sources = folders.filter(|folder| folder.join("src/lib.rs").is_file());
    let mut names: Vec<String> = sources
        .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

fn cycles_of(source: &Path) -> Vec<String> {
    let read = Crate::read(&source.join("lib.rs")).unwrap_or_else(|error| panic!("{error}"));
    cycles(&read)
}

#[test]
fn no_two_modules_depend_on_each_other() {
    let names = crates();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let found = cycles_of(&engine().join(&name).join("src"));
        assert!(found.is_empty(), "crate {name}:\n{}", found.join("\n"));
    }
}

/// A crate of these files, in a folder that is removed in the end.
struct Planted(PathBuf);

impl Planted {
    fn new(name: &str, files: &[(&str, &str)]) -> Planted {
        let folder = std::env::temp_dir().join(format!("layers-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Planted(folder)
    }

    fn cycles(&self) -> Vec<String> {
        cycles_of(&self.0)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_cycle_that_is_planted_in_a_copy_of_a_crate_is_found() {
    let source = engine().join("relation/src");
    let mut files = Vec::new();
    for entry in source.read_dir().expect("the crate's files") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        files.push((
            name.into_owned(),
            std::fs::read_to_string(&path).expect("text"),
        ));
    }
    let text = |name: &str| -> String {
        let found = files.iter().find(|(file, _)| file == name);
        found.map(|(_, text)| text.clone()).expect("the file")
    };
    let planted = text("set.rs") + "\nuse crate::relation::Relation;\n";
    let mut copy: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(Planted::new("copy", &copy).cycles(), Vec::<String>::new());
    copy.retain(|(name, _)| *name != "set.rs");
    copy.push(("set.rs", &planted));
    let found = Planted::new("cycle", &copy).cycles();
    assert!(
        found[0].contains("set uses relation::Relation"),
        "{found:?}"
    );
}

#[test]
fn a_cycle_between_folders_is_found_through_their_files() {
    let planted = Planted::new(
        "folders",
        &[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "pub mod one; pub mod two;"),
            ("a/one.rs", "pub fn f() { crate::b::g() }"),
            ("a/two.rs", "pub struct T;"),
            ("b.rs", "use crate::a::two::T; pub fn g() {}"),
        ],
    );
    let found = planted.cycles();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_child_may_use_its_parents_items_unless_the_parent_uses_the_child() {
    let one_way = [
        ("lib.rs", "mod a; pub struct S;"),
        ("a.rs", "use super::S; pub fn f(_: S) {}"),
    ];
    assert!(Planted::new("one-way", &one_way).cycles().is_empty());
    let both = [
        ("lib.rs", "mod a; pub struct S; fn g() { a::f(S) }"),
        ("a.rs", "use super::S; pub fn f(_: S) {}"),
    ];
    assert_eq!(Planted::new("both-ways", &both).cycles().len(), 1);
}

#[test]
fn a_path_through_a_re_export_leads_to_where_the_item_is_defined() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use b::*;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::A; pub struct B(A);"),
        ("c.rs", "use crate::{A, B}; pub struct C(A, B);"),
    ];
    assert!(Planted::new("re-exports", &files).cycles().is_empty());
}

#[test]
fn paths_in_macros_count_and_paths_in_tests_do_not() {
    let in_macro = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn f() { println!(\"{}\", crate::b::g()) }"),
        ("b.rs", "pub fn g() -> u8 { crate::a::f(); 0 }"),
    ];
    assert_eq!(Planted::new("macro", &in_macro).cycles().len(), 1);
    let in_test = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "#[cfg(test)] mod tests { use crate::b::g; }"),
        ("b.rs", "use crate::a; pub fn g() {}"),
    ];
    assert!(Planted::new("test", &in_test).cycles().is_empty());
}
