//! Plain loads of parts of objects that are accessed atomically as a whole, under models that define
//! races: a program does what it does when each of them is a load of the whole, from which the part is
//! computed.
//!
//! Random programs of threads that load bytes, halves and whole objects of 4, 8 and 16 bytes, or
//! bytes of two objects at once, among threads that store, exchange and add to them.
mod dice;
mod found;
mod random_threads;
mod seeds;

use dice::Dice;
use explore::{Acyclic, Limit, Options, Search};
use found::{found, model};
use program::interpreter::Limits;
use program::Program;
use random_threads::{add_main, add_thread, run_threads, Body, LIBRARY, TARGET};
use seeds::seeds;
use std::ops::Range;
use std::time::Duration;

const ENTRY: &str = "  %own = alloca i32\n  store i32 0, ptr %own\n";
const READS: [&str; 4] = ["monotonic", "monotonic", "acquire", "seq_cst"];
const WRITES: [&str; 4] = ["monotonic", "monotonic", "release", "seq_cst"];
const UPDATES: [&str; 5] = ["monotonic", "acquire", "release", "acq_rel", "seq_cst"];

/// What is accessed: two numbers of 4 bytes side by side, one of 8 bytes, one of 16.
#[derive(Clone, Copy)]
struct Object {
    address: &'static str,
    size: u64,
}

const OBJECTS: [Object; 4] = [
    Object {
        address: "@x",
        size: 4,
    },
    Object {
        address: "getelementptr (i8, ptr @x, i64 4)",
        size: 4,
    },
    Object {
        address: "@y",
        size: 8,
    },
    Object {
        address: "@z",
        size: 16,
    },
];

/// The function of a thread. With `whole`, loads of parts are loads of what contains them.
struct Thread<'d> {
    dice: &'d mut Dice,
    text: String,
    names: u32,
    whole: bool,
    /// What most accesses of the program are to.
    usual: Object,
    /// How many parts are loaded.
    parts: u32,
}

impl Body for Thread<'_> {
    const FACTOR: u32 = 5;

    fn text(&mut self) -> &mut String {
        &mut self.text
    }

    fn names(&mut self) -> &mut u32 {
        &mut self.names
    }
}

impl Thread<'_> {
    fn object(&mut self) -> Object {
        match self.dice.happens(3) {
            true => self.dice.one(&OBJECTS),
            false => self.usual,
        }
    }

    /// A number whose bytes differ; of 16 bytes, also the halves.
    fn number(&mut self, size: u64) -> String {
        let byte = 1 + self.dice.below(3);
        let low = 0x0807_0605_0403_0201 * byte;
        match size {
            16 => (u128::from(low + 1) << 64 | u128::from(low)).to_string(),
            8 => low.to_string(),
            _ => (low as u32).to_string(),
        }
    }

    /// A load with an order, or a plain one.
    fn load(&mut self, address: &str, bytes: u64, order: &str) -> String {
        let bits = 8 * bytes;
        match order {
            "" => self.value(&format!("load i{bits}, ptr {address}, align 1")),
            _ => self.value(&format!(
                "load atomic i{bits}, ptr {address} {order}, align {bytes}"
            )),
        }
    }

    /// What 16 bytes are, read at once: a plain load of them is two of their halves.
    fn copy_of_wide(&mut self, address: &str) -> String {
        let copy = self.value("alloca i128, align 16");
        self.line(&format!(
            "call void @llvm.memcpy.p0.p0.i64(ptr {copy}, ptr {address}, i64 16, i1 false)"
        ));
        self.load(&copy, 16, "")
    }

    /// Some bytes of a value, as i32.
    fn restricted(&mut self, value: &str, size: u64, from: u64, bytes: u64) -> String {
        let (of, to) = (8 * size, 8 * bytes);
        let shifted = self.value(&format!("lshr i{of} {value}, {}", 8 * from));
        match size == bytes {
            true => self.narrow(&shifted, bytes),
            false => {
                let part = self.value(&format!("trunc i{of} {shifted} to i{to}"));
                self.narrow(&part, bytes)
            }
        }
    }

    /// A value as i32: the exclusive or of its words.
    fn narrow(&mut self, value: &str, bytes: u64) -> String {
        match bytes {
            4 => value.to_owned(),
            1 | 2 => self.value(&format!("zext i{} {value} to i32", 8 * bytes)),
            _ => {
                let half = 4 * bytes;
                let high = self.value(&format!("lshr i{} {value}, {half}", 8 * bytes));
                let halves = [value, &high].map(|half_of| {
                    self.value(&format!("trunc i{} {half_of} to i{half}", 8 * bytes))
                });
                let both = self.value(&format!("xor i{half} {}, {}", halves[0], halves[1]));
                self.narrow(&both, bytes / 2)
            }
        }
    }

    /// Loads some bytes of an object, in some order.
    fn load_part(&mut self) -> String {
        let object = self.object();
        let bytes = self.dice.one(&[1, 2, 4, 8]).min(object.size / 2);
        let from = self.dice.below(object.size - bytes + 1);
        self.parts += 1;
        if self.whole {
            let all = match object.size {
                16 => self.copy_of_wide(object.address),
                _ => self.load(object.address, object.size, ""),
            };
            return self.restricted(&all, object.size, from, bytes);
        }
        let at = self.value(&format!(
            "getelementptr i8, ptr {}, i64 {from}",
            object.address
        ));
        let read = self.load(&at, bytes, "");
        self.narrow(&read, bytes)
    }

    /// Loads bytes of both numbers of 4 bytes.
    fn load_across(&mut self) -> String {
        let (from, bytes) = self.dice.one(&[(3, 2), (1, 4), (2, 4), (3, 4), (0, 8)]);
        self.parts += 1;
        if self.whole {
            // the first of them is read first
            let low = self.load(OBJECTS[0].address, 4, "");
            let high = self.load(OBJECTS[1].address, 4, "");
            let [low, high] =
                [low, high].map(|read| self.value(&format!("zext i32 {read} to i64")));
            let high = self.value(&format!("shl i64 {high}, 32"));
            let both = self.value(&format!("or i64 {high}, {low}"));
            return self.restricted(&both, 8, from, bytes);
        }
        let at = self.value(&format!("getelementptr i8, ptr @x, i64 {from}"));
        let read = self.load(&at, bytes, "");
        self.narrow(&read, bytes)
    }

    fn access(&mut self) {
        match self.dice.below(12) {
            0..=3 => {
                let read = self.load_part();
                self.remember(&read);
            }
            4 if self.dice.happens(2) => {
                let read = self.load_across();
                self.remember(&read);
            }
            4 => {
                let object = self.object();
                let order = self.dice.one(&READS);
                let read = self.load(object.address, object.size, order);
                let read = self.narrow(&read, object.size);
                self.remember(&read);
            }
            5..=9 => self.write(),
            10 => {
                let order = self.dice.one(&["acquire", "release", "seq_cst"]);
                self.line(&format!("fence {order}"));
            }
            _ if self.dice.happens(3) => self.forbid(),
            _ => self.stop_unless_written(),
        }
    }

    fn write(&mut self) {
        let Object { address, size } = self.object();
        let (bits, number) = (8 * size, self.number(size));
        if self.dice.happens(2) || size == 16 && self.dice.happens(2) {
            let order = self.dice.one(&WRITES);
            self.line(&format!(
                "store atomic i{bits} {number}, ptr {address} {order}, align {size}"
            ));
            return;
        }
        let order = self.dice.one(&UPDATES);
        let old = if size == 16 || self.dice.happens(3) {
            let expected = self.dice.one(&["0".to_owned(), number.clone()]);
            let failure = self.dice.one(&READS);
            let pair = self.value(&format!(
                "cmpxchg ptr {address}, i{bits} {expected}, i{bits} {number} {order} {failure}"
            ));
            self.value(&format!("extractvalue {{ i{bits}, i1 }} {pair}, 0"))
        } else {
            let kind = self.dice.one(&["xchg", "add"]);
            self.value(&format!(
                "atomicrmw {kind} ptr {address}, i{bits} {number} {order}"
            ))
        };
        let old = self.narrow(&old, size);
        self.remember(&old);
    }

    /// An error if a part has some value.
    fn forbid(&mut self) {
        let read = self.load_part();
        let wrong = 1 + self.dice.below(8);
        let right = self.value(&format!("icmp ne i32 {read}, {wrong}"));
        self.check(&right);
    }

    /// What follows is executed only if a part is not zero.
    fn stop_unless_written(&mut self) {
        let read = self.load_part();
        let zero = self.value(&format!("icmp eq i32 {read}, 0"));
        let on = self.name();
        self.line(&format!("br i1 {zero}, label %end, label %{on}"));
        self.label(&on);
        self.remember(&read);
    }
}

/// The program of a seed, and how many parts it loads.
fn random(seed: u64, whole: bool) -> (String, u32) {
    let mut dice = Dice::new(seed);
    let count = 2 + u64::from(dice.happens(2));
    let usual = dice.one(&OBJECTS);
    let mut parts = 0;
    let mut text = format!(
        "{TARGET}{LIBRARY}\
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
         @x = global [2 x i32] [i32 {}, i32 0], align 8\n\
         @y = global i64 {}, align 8\n\
         @z = global i128 0, align 16\n",
        dice.one(&[0, 0x0908_0706]),
        dice.one(&[0, 0x0f0e_0d0c_0b0a_0908_u64])
    );
    let mut thread = |dice: &mut Dice, act: &mut dyn FnMut(&mut Thread<'_>)| {
        let mut thread = Thread {
            dice,
            text: String::new(),
            names: 0,
            whole,
            usual,
            parts: 0,
        };
        act(&mut thread);
        parts += thread.parts;
        thread.text
    };
    for number in 0..count {
        let own = thread(&mut dice, &mut |thread| {
            let most = if count == 2 { 4 } else { 2 };
            for _ in 0..1 + thread.dice.below(most) {
                thread.access();
            }
        });
        add_thread(&mut text, number, ENTRY, &own, false);
    }
    let starts: Vec<u64> = (0..count).collect();
    let body = thread(&mut dice, &mut |main| {
        run_threads(main, &starts);
        for _ in 0..2 {
            let read = match main.dice.happens(3) {
                true => main.load_across(),
                false => main.load_part(),
            };
            main.remember(&read);
        }
    });
    add_main(&mut text, &body);
    (text, parts)
}

/// Those that define races.
const MODELS: [&str; 2] = ["rc20", "rc11"];

/// Compares each program with that which loads the whole, under one of the models. `most`: programs
/// with more executions are left out.
fn compare(seeds: Range<u64>, most: u64) {
    let loaded = MODELS.map(|name| (name, model(name)));
    let search = [None, Some(Search::Revisits), Some(Search::Postpones)];
    let (mut compared, mut parts, mut varied, mut executions) = (0, 0, 0, 0);
    let all = seeds.end - seeds.start;
    for seed in seeds {
        let (name, model) = &loaded[(seed % 2) as usize];
        let mut options = Options {
            workers: 1,
            acyclic: Some(Acyclic::ProgramOrder),
            search: search[(seed / 2) as usize % 3],
            ..Options::default()
        };
        options.limits.executions = most;
        options.limits.time = Duration::from_secs(20);
        let explored = |whole| {
            let (text, parts) = random(seed, whole);
            let program =
                Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{seed}: {text}"));
            (
                found(&program, model, &options, Limits::default()),
                text,
                parts,
            )
        };
        let (with_parts, text, loaded) = explored(false);
        let (with_whole, whole_text, _) = explored(true);
        let context = || format!("program {seed} under {name}: {text}\n{whole_text}");
        let ((seen, counts), (expected, expected_counts)) = match (with_parts, with_whole) {
            (Ok(seen), Ok(expected)) => (seen, expected),
            (Err(Some(Limit::Seconds)), _) | (_, Err(Some(Limit::Seconds))) => continue,
            (Err(_), Err(_)) => continue,
            _ => panic!("only one has more executions: {}", context()),
        };
        assert_eq!(seen.results, expected.results, "{}", context());
        let kinds = |found: &found::Found| {
            let kinds = found.violations.iter().map(|(kind, _)| *kind);
            kinds.collect::<Vec<_>>()
        };
        assert_eq!(kinds(&seen), kinds(&expected), "{}", context());
        assert_eq!(counts.all(), expected_counts.all(), "{}", context());
        compared += 1;
        parts += loaded;
        varied += u64::from(seen.results.len() > 2);
        executions += counts.all();
    }
    println!("{compared} programs with {parts} parts: {executions} executions, {varied} with more than two results");
    assert!(
        10 * compared > 9 * all && 4 * varied > compared,
        "{compared}, {varied} of {all}"
    );
}

#[test]
fn a_load_of_a_part_is_a_load_of_the_whole() {
    compare(0..64, 300);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn a_load_of_a_part_is_a_load_of_the_whole_in_many_programs() {
    compare(seeds(10_000), 3_000);
}
