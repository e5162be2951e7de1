//! The interleavings of a program, and the event sequences that they give.
//!
//! Depth-first over the decisions of `machine`, which are only where threads conflict. When a run
//! shows a conflict that earlier runs passed over, the search begins again with it; at the fixed
//! point every interleaving is equivalent to one that was run.
use super::event::{Event, Kind};
use super::interp::{End, Limits, Outcome};
use super::ir::{Program, SiteId};
use super::machine::{Choice, Context, Footprint, Machine};
use super::memory::Named;
use super::value::Deps;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Debug, Clone)]
pub struct Options {
    pub loops: u32,
    pub interleavings: u64,
    pub seed: u64,
    pub shared_only: bool,
    pub spurious: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            loops: 4,
            interleavings: 4000,
            seed: 0,
            shared_only: true,
            spurious: true,
        }
    }
}

/// An event as it is told: dependencies are indices in its thread's list.
#[derive(Debug, Clone)]
pub struct TracedEvent {
    pub event: Event,
    pub loc: String,
    pub addr: Vec<u32>,
    pub data: Vec<u32>,
    pub ctrl: Vec<u32>,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub threads: Vec<Vec<TracedEvent>>,
    pub outcome: Outcome,
    pub message: String,
    pub site: Option<SiteId>,
    pub count: u64,
}

#[derive(Debug, Clone)]
pub struct Trace {
    pub runs: Vec<Run>,
    pub interleavings: u64,
    pub exhaustive: bool,
    pub how: String,
    pub bound_sites: Vec<SiteId>,
    pub functions: Vec<String>,
}

struct RawRun {
    threads: Vec<Vec<Event>>,
    end: End,
    count: u64,
}

/// Splitmix64: small, seeded, good enough to draw schedules.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n.max(1) as u64) as usize
    }
}

struct Explorer<'p> {
    context: Context<'p>,
    options: Options,
    base: Machine,
    runs: Vec<RawRun>,
    index: FxHashMap<u64, usize>,
    starts: Vec<String>,
}

/// Sets of dependencies that one trace may hold before it ends early.
const MAX_SETS: usize = 4_000_000;

impl Program {
    pub fn trace(&self, options: &Options) -> Trace {
        let mut explorer = Explorer {
            context: Context {
                program: self,
                limits: Limits {
                    loops: options.loops,
                    frames: 200,
                },
                spurious: options.spurious,
                deps: Deps::default(),
                footprint: Footprint::default(),
                variant: 0,
                steps: 0,
                events: 0,
            },
            options: options.clone(),
            base: Machine::new(self),
            runs: Vec::new(),
            index: FxHashMap::default(),
            starts: Vec::new(),
        };
        explorer.base.construct(&mut explorer.context);
        explorer.run()
    }
}

impl Explorer<'_> {
    fn run(mut self) -> Trace {
        let budget = self.options.interleavings.max(1);
        let mut random = Random(self.options.seed);
        let (count, all, how) = match self.every(budget, false) {
            Some(count) => (count, true, String::new()),
            None => {
                self.runs.clear();
                self.index.clear();
                let half = budget / 2;
                let mut how = String::new();
                let orders = match self.every(half, true) {
                    Some(count) => {
                        how.push_str(&format!("all {count} orders of whole operations"));
                        count
                    }
                    None => {
                        self.runs.clear();
                        self.index.clear();
                        let drawn = self.sample(half, true, &mut random);
                        how.push_str(&format!("{drawn} drawn orders of whole operations"));
                        drawn
                    }
                };
                let drawn = self.sample(budget - orders, false, &mut random);
                how.push_str(&format!(
                    " and {drawn} drawn interleavings, as there are more than {budget} in all"
                ));
                (orders + drawn, false, how)
            }
        };
        self.tell(count, all, how)
    }

    /// Depth-first over all decisions; with `whole`, only over those between operations. None
    /// when there are more than `budget` runs: each alternative left over is at least one more.
    fn every(&mut self, budget: u64, whole: bool) -> Option<u64> {
        loop {
            self.context.footprint.grown = false;
            self.runs.clear();
            self.index.clear();
            let mut count = 0;
            let mut work: Vec<(Machine, Option<Choice>)> = vec![(self.base.clone(), None)];
            while let Some((mut machine, mut next)) = work.pop() {
                let mut last = next.map(|c| c.thread);
                loop {
                    if let Some(choice) = next {
                        self.apply(&mut machine, choice);
                        last = Some(choice.thread);
                    }
                    let choices = self.choices(&mut machine, whole, last);
                    let Some((first, rest)) = choices.split_first() else {
                        break;
                    };
                    for choice in rest.iter().rev() {
                        work.push((machine.clone(), Some(*choice)));
                    }
                    if count + work.len() as u64 >= budget {
                        return None;
                    }
                    next = Some(*first);
                }
                count += 1;
                self.keep(machine);
            }
            if !self.context.footprint.grown {
                return Some(count);
            }
        }
    }

    fn sample(&mut self, budget: u64, whole: bool, random: &mut Random) -> u64 {
        for drawn in 0..budget {
            if self.context.deps.len() > MAX_SETS {
                return drawn;
            }
            let mut machine = self.base.clone();
            let mut last = None;
            loop {
                let choices = self.choices(&mut machine, whole, last);
                if choices.is_empty() {
                    break;
                }
                let choice = choices[random.below(choices.len())];
                self.apply(&mut machine, choice);
                last = Some(choice.thread);
            }
            self.keep(machine);
        }
        budget
    }

    fn apply(&mut self, machine: &mut Machine, choice: Choice) {
        if machine.end.is_none() {
            machine.mark_call(&self.context, choice.thread);
            machine.step(&mut self.context, choice);
        }
    }

    /// The decisions open now. Within an operation the thread that is in it goes on, if it can.
    fn choices(&mut self, machine: &mut Machine, whole: bool, last: Option<usize>) -> Vec<Choice> {
        if machine.end.is_some() {
            return Vec::new();
        }
        let mut choices = machine.settle(&mut self.context);
        if let (true, Some(last)) = (whole, last) {
            if machine.inside(&self.context, last) && choices.iter().any(|c| c.thread == last) {
                choices.retain(|c| c.thread == last);
            }
        }
        choices
    }

    fn keep(&mut self, mut machine: Machine) {
        let end = machine.finish(&self.context);
        let mut hasher = DefaultHasher::new();
        for thread in &machine.threads {
            thread.log.len().hash(&mut hasher);
            for e in thread.log.iter() {
                (e.site, e.kind, e.address, e.size, e.order, e.other).hash(&mut hasher);
            }
        }
        (end.outcome, end.site).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(index) = self.index.get(&key) {
            self.runs[*index].count += 1;
            return;
        }
        self.index.insert(key, self.runs.len());
        for thread in machine.threads.iter().skip(self.starts.len()) {
            let function = &self.context.program.functions[thread.start as usize];
            self.starts.push(function.name.clone());
        }
        self.runs.push(RawRun {
            threads: machine
                .threads
                .iter()
                .map(|t| t.log.iter().cloned().collect())
                .collect(),
            end,
            count: 1,
        });
    }

    /// Leaves out what only one thread uses, names locations, merges again.
    fn tell(self, count: u64, all: bool, how: String) -> Trace {
        let shared = shared_objects(&self.runs);
        let heap = heap_names(&self.runs);
        let mut runs: Vec<Run> = Vec::new();
        let mut index: FxHashMap<u64, usize> = FxHashMap::default();
        let mut bound_sites: Vec<SiteId> = Vec::new();
        let mut bounded = false;
        let mut names = Names {
            program: self.context.program,
            heap,
            known: FxHashMap::default(),
        };
        for raw in &self.runs {
            if raw.end.outcome == Outcome::Bound {
                bounded = true;
                if let Some(site) = raw.end.site {
                    if !bound_sites.contains(&site) {
                        bound_sites.push(site);
                    }
                }
            }
            let kept =
                |e: &Event| !self.options.shared_only || e.size == 0 || shared.contains(&e.object);
            let mut hasher = DefaultHasher::new();
            for events in &raw.threads {
                u32::MAX.hash(&mut hasher);
                for e in events.iter().filter(|e| kept(e)) {
                    (e.site, e.kind, e.address, e.size, e.order, e.other).hash(&mut hasher);
                }
            }
            (raw.end.outcome, raw.end.site).hash(&mut hasher);
            let key = hasher.finish();
            if let Some(index) = index.get(&key) {
                runs[*index].count += raw.count;
                continue;
            }
            index.insert(key, runs.len());
            let threads = raw
                .threads
                .iter()
                .map(|events| tell_thread(events, kept, &self.context.deps, &mut names))
                .collect();
            let mut message = raw.end.message.clone();
            if let (None, Some(place)) =
                (raw.end.site, self.context.program.places.get(&raw.end.dbg))
            {
                if !message.is_empty() && !place.is_empty() {
                    message.push_str(&format!(" at {place}"));
                }
            }
            runs.push(Run {
                threads,
                outcome: raw.end.outcome,
                message,
                site: raw.end.site,
                count: raw.count,
            });
        }
        bound_sites.sort_unstable();
        Trace {
            runs,
            interleavings: count,
            exhaustive: all && !bounded,
            how: match (all, bounded) {
                (true, true) => format!("all {count} interleavings, some cut by a bound"),
                _ => how,
            },
            bound_sites,
            functions: self.starts,
        }
    }
}

/// Objects that two threads use in some run.
fn shared_objects(runs: &[RawRun]) -> FxHashSet<u64> {
    let mut users: FxHashMap<u64, u64> = FxHashMap::default();
    for run in runs {
        for (t, events) in run.threads.iter().enumerate() {
            for e in events.iter().filter(|e| e.size > 0) {
                *users.entry(e.object).or_default() |= 1 << (t % 64);
            }
        }
    }
    let shared = |(object, threads): (u64, u64)| (threads.count_ones() > 1).then_some(object);
    users.into_iter().filter_map(shared).collect()
}

/// Heap objects numbered by the thread that allocated them, then by order.
fn heap_names(runs: &[RawRun]) -> FxHashMap<u64, usize> {
    let mut objects: Vec<u64> = Vec::new();
    for e in runs.iter().flat_map(|r| r.threads.iter().flatten()) {
        if e.named == Named::Heap {
            objects.push(e.object);
        }
    }
    objects.sort_unstable();
    objects.dedup();
    objects
        .into_iter()
        .enumerate()
        .map(|(k, o)| (o, k))
        .collect()
}

struct Names<'p> {
    program: &'p Program,
    heap: FxHashMap<u64, usize>,
    known: FxHashMap<(u64, u32, Named), String>,
}

impl Names<'_> {
    fn name(&mut self, e: &Event) -> String {
        let key = (e.address, e.size, e.named);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // a lock is its mutex: asked for as one byte it is named like any part
        let size = match e.kind {
            Kind::Lock | Kind::Unlock => 1,
            _ => u64::from(e.size),
        };
        let offset = e.address - e.object;
        let program = self.program;
        let name = match e.named {
            Named::Nothing => String::new(),
            Named::Global(k) => {
                let global = &program.globals[k as usize];
                let name = program
                    .shapes
                    .name(&global.name, global.shape, offset, size);
                name
            }
            Named::ThreadLocal(k) => {
                let global = &program.globals[k as usize];
                let name = program
                    .shapes
                    .name(&global.name, global.shape, offset, size);
                format!("{name}@{}", e.object >> 36 & 0xff)
            }
            Named::Local(k) => {
                let local = &program.locals[k as usize];
                let thread = e.object >> 36 & 0xff;
                let root = match (thread, local.name.as_str()) {
                    (0, "") => format!("main.local{k}"),
                    (0, name) => name.to_string(),
                    (t, "") => format!("thread{t}.local{k}"),
                    (t, name) => format!("{name}@{t}"),
                };
                program.shapes.name(&root, local.shape, offset, size)
            }
            Named::Heap => {
                let root = format!("heap{}", self.heap.get(&e.object).copied().unwrap_or(0));
                program.shapes.name(&root, None, offset, size)
            }
        };
        self.known.insert(key, name.clone());
        name
    }
}

fn tell_thread(
    events: &[Event],
    kept: impl Fn(&Event) -> bool,
    deps: &Deps,
    names: &mut Names,
) -> Vec<TracedEvent> {
    // where each event ends up; a read that is left out is replaced by what it read through
    let mut through: Vec<Result<u32, Vec<u32>>> = Vec::with_capacity(events.len());
    let mut out: Vec<TracedEvent> = Vec::new();
    for e in events {
        let resolve = |dep: u32| {
            let mut found: Vec<u32> = Vec::new();
            for index in deps.get(dep).iter() {
                match through.get(index as usize) {
                    Some(Ok(index)) => found.push(*index),
                    Some(Err(more)) => found.extend(more),
                    None => {}
                }
            }
            found.sort_unstable();
            found.dedup();
            found
        };
        let (addr, data) = (resolve(e.addr), resolve(e.data));
        if kept(e) {
            let ctrl = resolve(e.ctrl);
            through.push(Ok(out.len() as u32));
            out.push(TracedEvent {
                loc: names.name(e),
                event: e.clone(),
                addr,
                data,
                ctrl,
            });
        } else {
            let mut all = resolve(e.via);
            all.extend(addr);
            all.sort_unstable();
            all.dedup();
            through.push(Err(all));
        }
    }
    out
}
