//! Fuzzes cat files: generated well-typed ones, random sequences of words, and mutated files.

use super::choices::Choices;
use super::watch::{self, Kind};
use super::{files, judge, Reached};
use cat::Model;
use litmus::Test;
use proptest::prelude::*;
use std::collections::HashMap;

const WORDS: [&str; 62] = [
    "let",
    "rec",
    "and",
    "in",
    "fun",
    "->",
    "match",
    "with",
    "||",
    "{}",
    "++",
    "end",
    "try",
    "if",
    "then",
    "else",
    "\"vmsa\"",
    "not",
    "acyclic",
    "irreflexive",
    "empty",
    "~",
    "as",
    "flag",
    "undefined_unless",
    "from",
    "with x from",
    "procedure",
    "call",
    "forall",
    "do",
    "enum",
    "'a",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    "&",
    "\\",
    ";",
    "*",
    "+",
    "?",
    "^-1",
    "_",
    "0",
    "=",
    "x",
    "y",
    "f",
    "po",
    "rf",
    "W",
    "co",
    "linearisations (W, po)",
    "include \"cos.cat\"",
    "domain",
    "\u{e9}",
];

/// Two threads with the events that models use: writes, reads, fences, a read-modify-write.
const SUBJECTS: [&str; 2] = [
    "C subject\n{}\n\
     P0 (atomic_int* x, atomic_int* y) {\n\
     \x20 atomic_store_explicit(x, 1, memory_order_relaxed);\n\
     \x20 atomic_thread_fence(memory_order_seq_cst);\n\
     \x20 int r0 = atomic_load_explicit(y, memory_order_acquire);\n}\n\
     P1 (atomic_int* x, atomic_int* y) {\n\
     \x20 int r0 = atomic_fetch_add_explicit(y, 1, memory_order_release);\n\
     \x20 int r1 = atomic_load_explicit(x, memory_order_relaxed);\n}\n\
     exists (0:r0=0 /\\ 1:r1=0)\n",
    "AArch64 subject\n{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; }\n \
     P0 | P1 ;\n MOV W0,#1 | LDAR W0,[X3] ;\n STR W0,[X1] | EOR W2,W0,W0 ;\n \
     DMB ST | LDR W4,[X1,W2,SXTW] ;\n STLR W0,[X3] | ;\nexists (1:X0=1 /\\ 1:X4=0)\n",
];

/// The state of the generator of well-typed models: the names that it has bound.
struct Typed<'c, 'b> {
    c: &'c mut Choices<'b>,
    text: String,
    relations: Vec<String>,
    sets: Vec<String>,
    functions: Vec<String>,
}

impl Typed<'_, '_> {
    fn set(&mut self, depth: usize) -> String {
        let bound = self.c.below(self.sets.len());
        if depth == 0 {
            return self.sets[bound].clone();
        }
        match self.c.below(9) {
            0 => format!("({} | {})", self.set(depth - 1), self.set(depth - 1)),
            1 => format!("({} & {})", self.set(depth - 1), self.set(depth - 1)),
            2 => format!("({} \\ {})", self.set(depth - 1), self.set(depth - 1)),
            3 => format!("~{}", self.set(depth - 1)),
            4 => format!("domain ({})", self.relation(depth - 1)),
            5 => format!("range ({})", self.relation(depth - 1)),
            _ => self.sets[bound].clone(),
        }
    }

    fn relation(&mut self, depth: usize) -> String {
        let bound = self.c.below(self.relations.len());
        if depth == 0 {
            return self.relations[bound].clone();
        }
        let d = depth - 1;
        match self.c.below(17) {
            0 | 1 => format!("({} | {})", self.relation(d), self.relation(d)),
            2 | 3 => format!("({} ; {})", self.relation(d), self.relation(d)),
            4 => format!("({} & {})", self.relation(d), self.relation(d)),
            5 => format!("({} \\ {})", self.relation(d), self.relation(d)),
            6 => format!("({})+", self.relation(d)),
            7 => format!("({})*", self.relation(d)),
            8 => format!("({})?", self.relation(d)),
            9 => format!("({})^-1", self.relation(d)),
            10 => format!("~({})", self.relation(d)),
            11 => format!("[{}]", self.set(d)),
            12 => format!("({} * {})", self.set(d), self.set(d)),
            13 if !self.functions.is_empty() => {
                let f = self.c.below(self.functions.len());
                let argument = self.relation(d);
                format!("{} ({argument})", self.functions[f])
            }
            14 => format!("(let l = {} in {})", self.relation(d), self.relation(d)),
            15 => format!(
                "(if \"vmsa\" then {} else {})",
                self.relation(d),
                self.relation(d)
            ),
            _ => self.relations[bound].clone(),
        }
    }

    fn statement(&mut self, number: usize) {
        let depth = 1 + self.c.below(3);
        let line = match self.c.below(14) {
            0..=2 => {
                let line = format!("let r{number} = {}", self.relation(depth));
                self.relations.push(format!("r{number}"));
                line
            }
            3 => {
                let line = format!("let s{number} = {}", self.set(depth));
                self.sets.push(format!("s{number}"));
                line
            }
            4 => {
                let line = format!(
                    "let f{number} (x) = ({} | x) ; {}",
                    self.relation(depth),
                    self.relation(depth)
                );
                self.functions.push(format!("f{number}"));
                line
            }
            5 => {
                let base = self.relation(depth);
                let step = self.relation(depth);
                self.relations.push(format!("r{number}"));
                format!("let rec r{number} = ({base}) | (r{number} ; ({step}))")
            }
            6 => {
                let (a, b) = (self.relation(depth), self.relation(depth));
                self.relations.push(format!("q{number}"));
                self.relations.push(format!("r{number}"));
                format!("let rec q{number} = ({a}) | (r{number} & po) and r{number} = ({b}) | (q{number} ; q{number})")
            }
            7 => format!("flag ~empty {} as flag{number}", self.relation(depth)),
            8 => format!(
                "undefined_unless irreflexive {} as undefined{number}",
                self.relation(depth)
            ),
            9 => format!(
                "include \"{}\"",
                self.c.of(&["cos.cat", "stdlib.cat", "cross.cat"])
            ),
            10 => {
                self.relations.push("chosen".to_owned());
                "with chosen from linearisations (W & loc, po & loc)".replace("W & loc", "W")
            }
            11 => format!("show {} as shown", self.relations[0]),
            _ => {
                let test = self
                    .c
                    .of(&["acyclic", "irreflexive", "empty", "~empty", "~acyclic"]);
                format!("{test} {} as axiom{number}", self.relation(depth))
            }
        };
        self.text.push_str(&line);
        self.text.push('\n');
    }
}

fn typed(bytes: &[u8]) -> String {
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|n| (*n).to_owned())
            .collect::<Vec<String>>()
    };
    let mut c = Choices::new(bytes);
    let mut typed = Typed {
        c: &mut c,
        text: "\"made\"\n".to_owned(),
        relations: owned(&[
            "po", "rf", "loc", "int", "ext", "id", "co0", "rfe", "po-loc", "0",
        ]),
        sets: owned(&["W", "R", "M", "F", "_", "IW", "emptyset"]),
        functions: Vec::new(),
    };
    if !typed.c.rarely(3) {
        typed.text.push_str("include \"cos.cat\"\n");
        typed.relations.extend(owned(&["co", "fr", "fre", "coe"]));
    }
    for number in 0.. {
        typed.statement(number);
        if typed.c.done() {
            break;
        }
    }
    typed.text
}

fn run(kind: &Kind, make: impl Fn(&(prop::sample::Index, Vec<u8>), &[(String, String)]) -> String) {
    let all = files::cats();
    let included: HashMap<String, String> = all.iter().cloned().collect();
    let subjects: Vec<Test> = SUBJECTS
        .iter()
        .map(|text| Test::parse("subject", text).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let inputs = (
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<u8>(), 0..120),
    );
    watch::run(
        kind,
        &inputs,
        |input| make(input, &all),
        |text| {
            let Ok(model) = Model::parse(text, "fuzz.cat", &|name| included.get(name).cloned())
            else {
                return Reached::default();
            };
            let decided = subjects.iter().filter(|test| judge(test, &model)).count();
            Reached {
                read: true,
                decided: decided > 0,
            }
        },
    );
}

#[test]
fn cat_files_that_are_well_typed() {
    let kind = Kind {
        name: "well-typed cat files",
        share: 10,
        read: 95,
        decided: 20,
    };
    run(&kind, |(_, bytes), _| typed(bytes));
}

#[test]
fn cat_files_of_words_in_any_order() {
    let kind = Kind {
        name: "words of cat files",
        share: 40,
        read: 0,
        decided: 0,
    };
    run(&kind, |(_, bytes), _| {
        let words = bytes.iter().map(|b| WORDS[usize::from(*b) % WORDS.len()]);
        words.collect::<Vec<&str>>().join(" ")
    });
}

#[test]
fn cat_files_that_are_changed() {
    let kind = Kind {
        name: "changed cat files",
        share: 10,
        read: 5,
        decided: 5,
    };
    run(&kind, |(which, bytes), all| {
        files::changed(&all[which.index(all.len())].1, &WORDS, bytes)
    });
}
