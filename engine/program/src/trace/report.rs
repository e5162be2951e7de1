//! Makes the trace of raw runs: accesses of objects that only one thread uses are removed,
//! locations get names, dependencies become indices, and runs that have become equal are merged.
use crate::interpreter::event::{Event, EventKind};
use crate::ir::instruction::SiteId;
use crate::ir::program::Program;
use crate::memory::object::Named;
use crate::memory::value::Deps;
use crate::trace::run::{sequence_key, RawRun, Run, TracedEvent};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

pub struct TraceBuilder<'p> {
    shared_only: bool,
    shared: FxHashSet<u64>,
    names: LocationNames<'p>,
}

impl<'p> TraceBuilder<'p> {
    pub fn new(program: &'p Program, runs: &[RawRun], shared_only: bool) -> TraceBuilder<'p> {
        TraceBuilder {
            shared_only,
            shared: shared_objects(runs),
            names: LocationNames::new(
                program,
                runs.iter()
                    .flat_map(|r| r.threads.iter().flatten())
                    .map(|e| (e.object, e.named)),
            ),
        }
    }

    pub fn runs(&mut self, raw: &[RawRun], deps: &Deps) -> Vec<Run> {
        let (shared_only, shared) = (self.shared_only, &self.shared);
        let selected = |e: &Event| !shared_only || e.size == 0 || shared.contains(&e.object);
        let mut runs: Vec<Run> = Vec::new();
        let mut index: FxHashMap<u64, usize> = FxHashMap::default();
        for raw in raw {
            let logs = raw.threads.iter();
            let key = sequence_key(logs.map(|l| l.iter().filter(|e| selected(e))), &raw.end);
            if let Some(index) = index.get(&key) {
                runs[*index].count += raw.count;
                continue;
            }
            index.insert(key, runs.len());
            let mut message = raw.end.message.clone();
            let place = self.names.program.places.get(&raw.end.dbg);
            if let (None, Some(place), false) = (raw.end.site, place, message.is_empty()) {
                message.push_str(&format!(" at {place}"));
            }
            let names = &mut self.names;
            runs.push(Run {
                threads: raw
                    .threads
                    .iter()
                    .map(|events| thread_events(events, selected, deps, names))
                    .collect(),
                outcome: raw.end.outcome,
                message,
                site: raw.end.site,
                count: raw.count,
            });
        }
        runs
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

/// Names of locations, as in the source.
pub struct LocationNames<'p> {
    program: &'p Program,
    /// The names of heap objects, by their addresses.
    heap: FxHashMap<u64, String>,
    known: FxHashMap<(u64, u32, Named), String>,
}

impl<'p> LocationNames<'p> {
    /// `objects`: the base addresses of all objects to be named. A heap object is named after its
    /// type, or after the line that allocates it; if several have the same name, they are numbered
    /// by the allocating thread, then by allocation.
    pub fn new(
        program: &'p Program,
        objects: impl Iterator<Item = (u64, Named)>,
    ) -> LocationNames<'p> {
        let mut named: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for (base, object) in objects {
            if let Named::Heap(site, _) = object {
                let bases = named.entry(heap_name(program, site)).or_default();
                bases.insert(base);
            }
        }
        let mut heap = FxHashMap::default();
        for (name, bases) in named {
            let alone = bases.len() == 1;
            for (k, base) in bases.into_iter().enumerate() {
                let numbered = match alone {
                    true => name.clone(),
                    false => format!("{name}#{}", k + 1),
                };
                heap.insert(base, numbered);
            }
        }
        LocationNames {
            program,
            heap,
            known: FxHashMap::default(),
        }
    }

    fn name(&mut self, e: &Event) -> String {
        let key = (e.address, e.size, e.named);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // a lock is named after its mutex: as one byte it is named like any member
        let size = match e.kind {
            EventKind::Lock | EventKind::Unlock => 1,
            _ => u64::from(e.size),
        };
        let name = self.of(e.named, e.object, e.address - e.object, size);
        self.known.insert(key, name.clone());
        name
    }

    /// The name of `size` bytes at `offset` of the object that begins at `object`.
    pub fn of(&self, named: Named, object: u64, offset: u64, size: u64) -> String {
        let program = self.program;
        match named {
            Named::Nothing => String::new(),
            Named::Global(k) => {
                let global = &program.globals[k as usize];
                program
                    .shapes
                    .name(&global.name, global.shape, offset, size)
            }
            Named::ThreadLocal(k) => {
                let global = &program.globals[k as usize];
                let root = format!("{}@{}", global.name, object >> 36 & 0xff);
                program.shapes.name(&root, global.shape, offset, size)
            }
            Named::Local(k) => {
                let local = &program.locals[k as usize];
                let thread = object >> 36 & 0xff;
                let root = match (thread, local.name.as_str()) {
                    (0, "") => format!("main.local{k}"),
                    (0, name) => name.to_string(),
                    (t, "") => format!("thread{t}.local{k}"),
                    (t, name) => format!("{name}@{t}"),
                };
                program.shapes.name(&root, local.shape, offset, size)
            }
            Named::Heap(site, bytes) => {
                let root = match self.heap.get(&object) {
                    Some(name) => name.clone(),
                    None => heap_name(program, site),
                };
                match program.allocations.get(&site) {
                    Some(of) if of.items(bytes) > 1 => {
                        let item = format!("{root}[{}]", offset / of.size);
                        let shape = Some(of.shape);
                        program.shapes.name(&item, shape, offset % of.size, size)
                    }
                    of => {
                        let shape = of.map(|of| of.shape);
                        program.shapes.name(&root, shape, offset, size)
                    }
                }
            }
        }
    }
}

/// `node`, the type of an object that the call at that site allocates; `heap(queue.c:12)` if the
/// type is not known or is one of a library.
fn heap_name(program: &Program, site: SiteId) -> String {
    match program.allocations.get(&site) {
        Some(of) if !of.name.is_empty() => of.name.clone(),
        _ => {
            let site = &program.sites[site as usize];
            match site.line {
                0 => "heap".to_string(), // malloc was called through a pointer
                line => format!("heap({}:{line})", site.file),
            }
        }
    }
}

fn thread_events(
    events: &[Event],
    selected: impl Fn(&Event) -> bool,
    deps: &Deps,
    names: &mut LocationNames,
) -> Vec<TracedEvent> {
    // the new index of each event, or the dependencies that replace a removed read
    let mut through: Vec<Result<u32, Vec<u32>>> = Vec::with_capacity(events.len());
    let mut out: Vec<TracedEvent> = Vec::new();
    for e in events {
        let resolve = |dep: u32| {
            let mut found: Vec<u32> = Vec::new();
            for index in &deps.get(dep) {
                match through.get(index) {
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
        if selected(e) {
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
