//! What random programs do with all reductions and with none.
use crate::found::{found, model, Found};
use explore::{Acyclic, Counts, Limit, Options, Reduction, Reductions, Search};
use program::interpreter::Limits;
use program::Program;
use std::ops::Range;
use std::time::Duration;

/// Random programs, and what all reductions may find that was not found without them.
pub struct Comparison {
    /// The program of a seed.
    pub random: fn(u64) -> String,
    /// What is expected with reductions, from what was found without them, in how many executions.
    pub expected: fn(Found, &Counts, &Found) -> Found,
}

impl Comparison {
    /// Compares what programs do with all reductions and with none, each under one of the models.
    /// `most`: programs with more executions are left out, and those that take long.
    pub fn compare(&self, models: &[(&str, Acyclic)], seeds: Range<u64>, most: u64) {
        let loaded = models
            .iter()
            .map(|(name, acyclic)| (name, model(name), acyclic));
        let models: Vec<_> = loaded.collect();
        let count = models.len() as u64;
        let (mut all, mut some, mut compared, mut fewer) = (0, 0, 0, 0);
        for seed in seeds {
            let text = (self.random)(seed);
            let program =
                Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{seed}: {text}"));
            let (name, model, acyclic) = &models[(seed % count) as usize];
            let search = [None, Some(Search::Revisits), Some(Search::Postpones)];
            let explored = |every: bool| {
                let mut options = Options {
                    workers: 1,
                    acyclic: Some(**acyclic),
                    search: search[(seed / count) as usize % 3],
                    reductions: match every {
                        true => Reductions::ALL.without([
                            Reduction::Symmetry,
                            Reduction::Arrivals,
                            Reduction::Retries,
                            Reduction::UndoneRounds,
                            Reduction::Waits,
                        ]),
                        false => {
                            Reductions::ALL.with(Reduction::Symmetry, seed / (3 * count) % 2 == 0)
                        }
                    },
                    ..Options::default()
                };
                options.limits.executions = most;
                options.limits.time = Duration::from_secs(5);
                let rounds = Limits {
                    loops: 3,
                    ..Limits::default()
                };
                found(&program, model, &options, rounds)
            };
            let Ok((without, every)) = explored(true) else {
                continue;
            };
            let (seen, reduced) = match explored(false) {
                Ok(found) => found,
                Err(Some(Limit::Executions)) => {
                    panic!("more executions of {seed} under {name}: {text}")
                }
                Err(_) => continue,
            };
            let expected = (self.expected)(without, &every, &seen);
            assert_eq!(seen, expected, "program {seed} under {name}: {text}");
            all += every.all();
            some += reduced.all();
            compared += 1;
            fewer += u64::from(reduced.all() < every.all());
        }
        println!("{compared} programs: {some} executions of {all}, fewer in {fewer}");
        assert!(some < all, "{some} of {all}");
    }
}
