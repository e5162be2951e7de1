//! The numbers of executions and the flags agree with herd7 under the same cat files, for random C
//! tests; needs herd7.
use crate::graphs::*;
use cat::Model;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.roll(items.len())]
    }
}

/// Threads as [`Graph::new`] takes them.
fn threads(dice: &mut Dice) -> Vec<String> {
    let count = 2 + dice.roll(2);
    let most = if count == 2 { 3 } else { 2 };
    let thread = |dice: &mut Dice| {
        let words: Vec<String> = (0..1 + dice.roll(most))
            .map(|_| {
                let place = dice.pick(&["x", "x", "y", "y", "z"]);
                let kind = dice.roll(8);
                match (kind, place) {
                    (0..=2, "z") => "Wz".to_owned(),
                    (3..=5, "z") => "Rz".to_owned(),
                    (0..=2, _) => format!("W{place}:A:{}", dice.pick(&["RLX", "REL", "SC"])),
                    (3..=5, _) => format!("R{place}:A:{}", dice.pick(&["RLX", "ACQ", "SC"])),
                    (6, _) => format!("F:{}", dice.pick(&["ACQ", "REL", "ACQ_REL", "SC"])),
                    _ => format!(
                        "U{}:A:{}",
                        dice.pick(&["x", "y"]),
                        dice.pick(&["RLX", "ACQ", "REL", "ACQ_REL", "SC"])
                    ),
                }
            })
            .collect();
        words.join(" ")
    };
    (0..count).map(|_| thread(dice)).collect()
}

/// The C test of these threads.
fn litmus(name: &str, threads: &[String]) -> String {
    let mut text = format!("C {name}\n{{}}\n");
    let mut value = 0;
    for (number, thread) in threads.iter().enumerate() {
        writeln!(text, "P{number}(atomic_int* x, atomic_int* y, int* z) {{").unwrap();
        for (place, word) in thread.split(' ').enumerate() {
            let order = word.rsplit(':').next().unwrap().to_lowercase();
            let order = match order.as_str() {
                "rlx" => "memory_order_relaxed",
                "rel" => "memory_order_release",
                "acq" => "memory_order_acquire",
                "acq_rel" => "memory_order_acq_rel",
                _ => "memory_order_seq_cst",
            };
            let location = &word[1..2.min(word.len())];
            value += 1;
            match &word[..1] {
                "W" if location == "z" => writeln!(text, "  *z = {value};"),
                "R" if location == "z" => writeln!(text, "  int r{place} = *z;"),
                "W" => writeln!(
                    text,
                    "  atomic_store_explicit({location}, {value}, {order});"
                ),
                "R" => writeln!(
                    text,
                    "  int r{place} = atomic_load_explicit({location}, {order});"
                ),
                "F" => writeln!(text, "  atomic_thread_fence({order});"),
                _ => writeln!(
                    text,
                    "  int r{place} = atomic_fetch_add_explicit({location}, {value}, {order});"
                ),
            }
            .unwrap();
        }
        text.push_str("}\n");
    }
    text.push_str("exists (x=-1)\n");
    text
}

/// The number of executions and the flags of each test, by name, in herd7's log.
fn read_log(log: &str) -> Vec<(String, usize, BTreeSet<String>)> {
    let mut found: Vec<(String, usize, BTreeSet<String>)> = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Test", name, ..] => found.push((name.to_owned(), 0, BTreeSet::new())),
            ["Positive:", yes, "Negative:", no] => {
                found.last_mut().unwrap().1 =
                    yes.parse::<usize>().unwrap() + no.parse::<usize>().unwrap();
            }
            ["Flag", flag] => {
                let flag = if flag == "*undef*" { "undefined" } else { flag };
                found.last_mut().unwrap().2.insert(flag.to_owned());
            }
            _ => {}
        }
    }
    found
}

#[test]
#[ignore = "needs herd7, on PATH or named by HERD7: cargo test -p cat herd -- --ignored"]
fn the_number_of_executions_is_that_of_herd7() {
    let library = herd_library().expect("herd7 is on PATH, or HERD7 names it");
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(40);
    let folder = std::env::temp_dir().join(format!("weakspot-cat-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut dice = Dice(7);
    let tests: Vec<(String, Vec<String>)> = (0..rounds)
        .map(|round| (format!("T{round}"), threads(&mut dice)))
        .collect();
    for (name, threads) in &tests {
        std::fs::write(folder.join(format!("{name}.litmus")), litmus(name, threads)).unwrap();
    }
    let own = own_models();
    let models = [
        library.join("rc11.cat"),
        library.join("c11_simp.cat"),
        library.join("c11_orig.cat"),
        library.join("c11_partialSC.cat"),
        own.join("rc11.cat"),
        own.join("tso.cat"),
        own.join("sc.cat"),
        own.join("c20.cat"),
    ];
    let mut differ = 0;
    for path in models {
        let model = Model::load(&path, &[]).unwrap();
        let herd = std::env::var("HERD7").unwrap_or_else(|_| "herd7".to_owned());
        let files = tests
            .iter()
            .map(|(name, _)| folder.join(format!("{name}.litmus")));
        let mut command = Command::new(herd);
        command
            .arg("-I")
            .arg(path.parent().unwrap())
            .arg("-model")
            .arg(&path)
            .args(files);
        let output = command.output().unwrap();
        let log = String::from_utf8_lossy(&output.stdout).into_owned();
        let answers = read_log(&log);
        for (name, threads) in &tests {
            let Some((_, executions, flags)) = answers.iter().find(|answer| answer.0 == *name)
            else {
                println!(
                    "{}: herd7 says nothing of {name}: {}",
                    path.display(),
                    String::from_utf8_lossy(&output.stderr)
                );
                continue;
            };
            let words: Vec<&str> = threads.iter().map(String::as_str).collect();
            let graph = Graph::new(&words);
            let counts = graph
                .count(&model)
                .unwrap_or_else(|error| panic!("{error}"));
            let ours: usize = counts.iter().map(|(count, _)| count).sum();
            let our_flags: BTreeSet<String> =
                counts.into_iter().flat_map(|(_, flags)| flags).collect();
            if ours != *executions || our_flags != *flags {
                differ += 1;
                println!(
                    "{} {threads:?}: herd7 {executions} {flags:?}, we {ours} {our_flags:?}",
                    path.display()
                );
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(differ, 0);
}
