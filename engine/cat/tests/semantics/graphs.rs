//! Small graphs of events to evaluate models over.
use cat::{CatError, Given, Input, Model, Prepared};
use relation::{Relation, Set};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A graph of events: threads of reads and writes of locations.
pub struct Graph {
    pub n: usize,
    pub sets: HashMap<String, Set>,
    pub relations: HashMap<String, Relation>,
    pub locations: Vec<Option<u32>>,
    pub reads: Vec<usize>,
}

impl Graph {
    /// Threads such as `"Wx Ry"`, each event a kind, a location and, after it, the names
    /// of further sets (`Wx:A:REL`); `F` has no location. The initial writes come first.
    pub fn new(threads: &[&str]) -> Graph {
        let mut events = Vec::new();
        let mut named = Vec::new();
        for (thread, text) in threads.iter().enumerate() {
            for word in text.split_whitespace() {
                let mut parts = word.split(':');
                let head = parts.next().unwrap();
                let location = head.chars().nth(1).map(|c| c as u32 - 'a' as u32);
                let sets = parts.map(str::to_owned).collect();
                named.push((Some(thread), head.chars().next().unwrap(), location, sets));
            }
        }
        let mut locations: Vec<u32> = named.iter().filter_map(|event| event.2).collect();
        locations.sort_unstable();
        locations.dedup();
        for location in locations {
            events.push((None, 'I', Some(location), Vec::<String>::new()));
        }
        events.extend(named);
        let n = events.len();
        let of = |keep: &dyn Fn(usize) -> bool| Set::of(n, (0..n).filter(|event| keep(*event)));
        let kind = |event: usize| events[event].1;
        let pairs = |keep: &dyn Fn(usize, usize) -> bool| Relation::full(n).filter(keep);
        let mut sets = HashMap::new();
        for name in [
            "R", "W", "M", "F", "B", "A", "RMW", "SC", "REL", "ACQ", "ACQ_REL", "RLX", "LS", "LK",
            "UL", "CON", "X", "CASF",
        ] {
            sets.insert(
                name.to_owned(),
                of(&|event| events[event].3.iter().any(|set| set == name)),
            );
        }
        sets.insert(
            "R".to_owned(),
            of(&|event| matches!(kind(event), 'R' | 'U')),
        );
        sets.insert(
            "W".to_owned(),
            of(&|event| matches!(kind(event), 'W' | 'U' | 'I')),
        );
        sets.insert(
            "M".to_owned(),
            of(&|event| matches!(kind(event), 'R' | 'W' | 'U' | 'I')),
        );
        sets.insert("RMW".to_owned(), of(&|event| kind(event) == 'U'));
        sets.insert("F".to_owned(), of(&|event| kind(event) == 'F'));
        sets.insert("IW".to_owned(), of(&|event| kind(event) == 'I'));
        sets.insert("I".to_owned(), of(&|event| kind(event) == 'I'));
        let mut relations = HashMap::new();
        let thread = |event: usize| events[event].0;
        let same = |a: usize, b: usize| thread(a).is_some() && thread(a) == thread(b);
        relations.insert("po".to_owned(), pairs(&|a, b| a < b && same(a, b)));
        relations.insert("int".to_owned(), pairs(&same));
        relations.insert("ext".to_owned(), pairs(&|a, b| thread(a) != thread(b)));
        let place = |event: usize| events[event].2;
        relations.insert(
            "loc".to_owned(),
            pairs(&|a, b| place(a).is_some() && place(a) == place(b)),
        );
        for name in ["rmw", "addr", "data", "chosen", "ctrl", "amo"] {
            relations.insert(name.to_owned(), Relation::new(n));
        }
        relations.insert("sm".to_owned(), Relation::identity(&sets["M"]));
        let locations = (0..n).map(place).collect();
        let reads = sets["R"].iter().collect();
        Graph {
            n,
            sets,
            relations,
            locations,
            reads,
        }
    }

    fn given(&self, name: &str) -> Option<Given> {
        let set = self.sets.get(name).cloned().map(Given::Set);
        set.or_else(|| self.relations.get(name).cloned().map(Given::Relation))
    }

    pub fn prepare(&self, model: &Model) -> Result<Prepared, CatError> {
        model.prepare(&Input {
            n: self.n,
            given: &|name| self.given(name),
            locations: &self.locations,
            variants: &|_| false,
        })
    }

    /// Every reads-from relation.
    pub fn all_rf(&self) -> Vec<Relation> {
        let mut all = vec![Relation::new(self.n)];
        for read in &self.reads {
            let writes = self.sets["W"].iter();
            let sources: Vec<usize> = writes
                .filter(|write| write != read && self.locations[*write] == self.locations[*read])
                .collect();
            let mut longer = Vec::new();
            for rf in &all {
                for source in &sources {
                    let mut rf = rf.clone();
                    rf.insert(*source, *read);
                    longer.push(rf);
                }
            }
            all = longer;
        }
        all
    }

    /// Every choice of a final write of `x`; herd7 chooses none for a location that the test's
    /// condition does not mention.
    pub fn all_finals(&self) -> Vec<Set> {
        let mut all = vec![Set::new(self.n)];
        let writes = &self.sets["W"];
        let x = 'x' as u32 - 'a' as u32;
        let places: Vec<u32> = self
            .locations
            .contains(&Some(x))
            .then_some(x)
            .into_iter()
            .collect();
        for place in places {
            let mut longer = Vec::new();
            for finals in &all {
                for write in writes
                    .iter()
                    .filter(|write| self.locations[*write] == Some(place))
                {
                    let mut finals = finals.clone();
                    finals.insert(write);
                    longer.push(finals);
                }
            }
            all = longer;
        }
        all
    }

    /// For each reads-from relation, how many solutions there are, with their flags.
    pub fn count(&self, model: &Model) -> Result<Vec<(usize, Vec<String>)>, CatError> {
        let mut prepared = self.prepare(model)?;
        let finals = if prepared.needs_final_writes() {
            self.all_finals()
        } else {
            vec![Set::new(self.n)]
        };
        let mut counts = Vec::new();
        for rf in self.all_rf() {
            let (mut count, mut flags) = (0, Vec::new());
            for last in &finals {
                prepared.solutions(&rf, Some(last), &mut |solution| {
                    count += 1;
                    flags.extend(solution.flags.iter().map(|flag| flag.to_string()));
                    if solution.undefined {
                        flags.push("undefined".to_owned());
                    }
                    ControlFlow::Continue(())
                })?;
            }
            flags.sort();
            flags.dedup();
            counts.push((count, flags));
        }
        Ok(counts)
    }
}

/// The folder of the project's own models.
pub fn own_models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// herd7's library folder, if herd7 is installed.
pub fn herd_library() -> Option<PathBuf> {
    let herd = std::env::var("HERD7").unwrap_or_else(|_| "herd7".to_owned());
    let output = std::process::Command::new(herd)
        .arg("-libdir")
        .output()
        .ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    folder.is_dir().then_some(folder)
}

/// A model from its text.
pub fn model(text: &str) -> Model {
    match Model::parse(text, "test.cat", &|_| None) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}
