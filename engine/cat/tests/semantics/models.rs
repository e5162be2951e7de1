//! Whole models are read and give the known numbers of executions on small tests.
use crate::graphs::*;
use cat::Model;

const HERD: [&str; 11] = [
    "sc",
    "x86tso",
    "x86tso-mixed",
    "rc11",
    "c11_simp",
    "c11_orig",
    "c11_partialSC",
    "c11_cos",
    "ppc",
    "riscv",
    "aarch64",
];

/// Models of assembly, which refer to names that these graphs do not give.
const ASSEMBLY: [&str; 4] = ["aarch64.cat", "power.cat", "riscv.cat", "x86.cat"];

#[test]
fn own_models_are_read() {
    for entry in own_models().read_dir().unwrap() {
        let path = entry.unwrap().path();
        // These are not complete models: they are included by others.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = name != "c11_los.cat" && !name.ends_with("-axioms.cat");
        if whole && path.extension().is_some_and(|end| end == "cat") {
            let model = Model::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            if ASSEMBLY.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            let graph = Graph::new(&["Wx:A Ry:A", "Wy:A Rx:A"]);
            let counts = graph.count(&model);
            assert!(
                counts.is_ok(),
                "{}: {}",
                path.display(),
                counts.unwrap_err()
            );
            println!("{} {:?}", model.name, counts.unwrap());
        }
    }
}

#[test]
#[ignore = "needs herd7, on PATH or named by HERD7: cargo test -p cat herd -- --ignored"]
fn herd_models_are_read() {
    let library = herd_library().expect("herd7 is on PATH, or HERD7 names it");
    for name in HERD {
        let path = library.join(format!("{name}.cat"));
        let model = Model::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let graph = Graph::new(&["Wx:A Ry:A", "Wy:A Rx:A"]);
        match graph.count(&model) {
            Ok(counts) => println!("{name} {counts:?}"),
            Err(error) => println!("{name} {error}"),
        }
    }
}
