//! Lowers one function: SSA names become registers, blocks become flat code.
use crate::error::{Error, ErrorKind, Result};
use crate::ir::instruction::Inst as Lowered;
use crate::ir::instruction::*;
use crate::ir::program::*;
use crate::ir::sites;
use crate::llvm::ast::{Block, Declared, Function, Inst, InstKind};
use crate::llvm::metadata::{is_system, Position};
use crate::lower::bounded_spins::Candidate;
use crate::lower::cfg::{ControlFlowGraph, LoopInfo, Usage};
use crate::lower::constants::Folded;
use crate::lower::deciding::deciding;
use crate::lower::liveness::usage;
use crate::lower::module::Lowering;
use crate::lower::partial::{alternatives, copied_loads, partial_loads, plain_loads};
use crate::lower::register_allocation::share_registers;
use crate::lower::relevance::{relevance, settle_random, Code, Relevance};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The registers of an SSA value: one per scalar.
#[derive(Clone, Copy)]
pub struct Registers {
    pub register: Register,
    pub count: u32,
}

pub struct Lower<'l, 'm, 'a> {
    pub l: &'l mut Lowering<'m, 'a>,
    pub(super) function: &'m Function<'a>,
    pub(super) values: FxHashMap<&'a str, Registers>,
    /// Values of types that are not supported, in code that need not run.
    pub(super) refused: FxHashSet<&'a str>,
    pub registers: u32,
    /// Names that hold addresses inside allocas, with the names of the allocas.
    /// None for names that may hold anything else.
    pub roots: FxHashMap<&'a str, Option<BTreeSet<&'a str>>>,
    pub escaped: BTreeSet<&'a str>,
    /// Loads of what need not be initialised.
    pub partial: FxHashSet<&'a str>,
    /// Comparisons that are only alternatives of selections.
    pub alternatives: FxHashSet<&'a str>,
    pub(super) blocks: FxHashMap<&'m str, usize>,
    pub folded: Folded<'m, 'a>,
    current: usize,
    pub code: Vec<crate::ir::instruction::Inst>,
    /// Source positions of this function at which an inlined call is.
    call_places: FxHashSet<(u32, u32)>,
}

pub fn lower_function(l: &mut Lowering, id: FuncId) -> Result<()> {
    let function = &l.module.functions[id as usize];
    let place = || l.module.metadata.place(function.dbg);
    let name = function.name;
    if let Err(error) = check_parameters(l, function) {
        if error.kind != ErrorKind::Unsupported {
            return Err(error.at(place));
        }
        refuse(l, id, error);
        return Ok(());
    }
    let names = function.blocks.iter().enumerate();
    let blocks = names.map(|(k, block)| (block.name.as_str(), k)).collect();
    let mut lower = Lower {
        folded: Folded::new(&l.module.types, function, &blocks)?,
        blocks,
        l,
        function,
        values: FxHashMap::default(),
        refused: FxHashSet::default(),
        registers: 0,
        roots: FxHashMap::default(),
        escaped: BTreeSet::new(),
        partial: FxHashSet::default(),
        alternatives: FxHashSet::default(),
        current: 0,
        code: Vec::new(),
        call_places: FxHashSet::default(),
    };
    lower.run(id).map_err(|e| {
        if e.place.is_empty() && e.kind == ErrorKind::Invalid {
            Error::invalid(format!("in {name}: {}", e.message))
        } else {
            e
        }
    })
}

/// Whether the parameters of a function are supported.
fn check_parameters(l: &Lowering, function: &Function) -> Result<()> {
    if function.vararg {
        let name = function.name;
        return Err(Error::unsupported(format!("the variadic function {name}")));
    }
    for (ty, _) in &function.params {
        for (_, scalar) in l.module.types.scalars(*ty)? {
            l.module.types.bits(scalar)?;
        }
    }
    Ok(())
}

/// Makes calling the function the error.
fn refuse(l: &mut Lowering, id: FuncId, error: Error) {
    let metadata = &l.module.metadata;
    let function = &l.module.functions[id as usize];
    let name = l.program.functions[id as usize].name.clone();
    let site = sites::site(metadata, function.dbg, &name, "call", Order::Na);
    l.program.sites.push(site);
    let site = l.program.sites.len() as SiteId - 1;
    let (message, construct) = (error.message, error.construct);
    l.program.functions[id as usize].code = vec![crate::ir::instruction::Inst {
        op: Op::Refused {
            message,
            site,
            construct,
        },
        dbg: 0,
        call: NO_CALL,
        unwind: None,
    }];
}

impl<'l, 'm, 'a> Lower<'l, 'm, 'a> {
    fn run(&mut self, id: FuncId) -> Result<()> {
        let function = self.function;
        let reached: Vec<usize> = self.folded.reached.iter().collect();
        for (ty, name) in &function.params {
            self.define(name, *ty)?;
        }
        let mut library = self.is_library();
        let live_blocks: Vec<&Block> = reached.iter().map(|b| &function.blocks[*b]).collect();
        for block in &live_blocks {
            for inst in &block.insts {
                let module = self.l.module;
                let defined = self
                    .result_type(inst)
                    .and_then(|ty| match (inst.result, ty) {
                        (Some(name), Some(ty)) => self.define(name, ty),
                        _ => Ok(()),
                    });
                match (defined, inst.result) {
                    (Ok(()), _) => {}
                    (Err(error), Some(name)) if error.kind == ErrorKind::Unsupported => {
                        self.refused.insert(name);
                    }
                    (Err(error), _) => {
                        return Err(error.at(|| module.metadata.place(inst.dbg)));
                    }
                }
                if let (Some(name), InstKind::Cas { expected, .. }) = (inst.result, &inst.kind) {
                    // the type {T, i1} of the result need not occur in the module
                    let count = 2 + u32::from(self.is_wide(expected.0));
                    let register = self.temporary(count);
                    self.values.insert(name, Registers { register, count });
                }
                for p in inst.dbg.map(|d| self.l.module.metadata.chain(d)).iter() {
                    if let Some((outer, inner)) = outermost(p) {
                        if library && !is_system(&outer.file) {
                            // a library function that calls user code is named after that code
                            library = false;
                            self.l.program.functions[id as usize]
                                .name
                                .clone_from(&outer.function);
                        }
                        if inner.iter().any(|p| !is_system(&p.file)) {
                            self.call_places.insert((outer.line, outer.column));
                        }
                    }
                }
            }
        }
        self.l.program.functions[id as usize].library = library;
        self.escapes(&live_blocks);
        self.partial = partial_loads(&live_blocks);
        let copied = copied_loads(&live_blocks, &self.l.module.types);
        self.partial.extend(copied);
        if self.is_rust() {
            // rustc copies values in parts, whether or not their variant has these parts
            self.partial.extend(plain_loads(&live_blocks));
        }
        self.alternatives = alternatives(&live_blocks);
        let lifetimes = self.block_scopes(&live_blocks, &reached);
        let mut starts = vec![0u32; function.blocks.len()];
        let mut ranges = vec![(0, 0); function.blocks.len()];
        for index in &reached {
            let block = &function.blocks[*index];
            self.current = *index;
            let start = self.code.len();
            starts[*index] = start as u32;
            for (at, inst) in block.insts.iter().enumerate() {
                self.lifetimes_at(&lifetimes, (*index, at), inst);
                let module = self.l.module;
                let before = self.code.len();
                match self.instruction(inst) {
                    Ok(()) => {}
                    Err(error) if error.kind == ErrorKind::Unsupported => {
                        self.code.truncate(before);
                        let site = self.site(inst, "call", Order::Na);
                        let undefined = &mut self.l.program.undefined;
                        let known = undefined.iter().any(|(what, _)| *what == error.undefined);
                        if !error.undefined.is_empty() && !known {
                            undefined.push((error.undefined, site));
                        }
                        let refused = Op::Refused {
                            message: error.message,
                            site,
                            construct: error.construct,
                        };
                        self.emit(inst, refused);
                    }
                    Err(error) => {
                        let place = || module.metadata.place(inst.dbg);
                        return Err(error.on_line(inst.line).at(place));
                    }
                }
            }
            let ended = self.code[start..].last().is_some_and(|i| {
                matches!(
                    i.op,
                    Op::Br(_)
                        | Op::CondBr { .. }
                        | Op::Switch { .. }
                        | Op::Ret(_)
                        | Op::Unreachable
                        | Op::Refused { .. }
                )
            });
            if !ended {
                return Err(Error::invalid("basic block without a terminator"));
            }
            ranges[*index] = (start, self.code.len());
        }
        self.finish(id, &reached, &starts, &ranges)
    }

    /// Whether the function is one of the C or C++ library's, or of Rust's std and what that is made
    /// of, which has no debug information in part.
    fn is_library(&self) -> bool {
        match self.function.dbg {
            Some(_) => self.l.module.metadata.is_library(self.function.dbg),
            None => self.is_rust(),
        }
    }

    /// Whether the function is written in Rust; as one without debug information is, if the module
    /// has some.
    fn is_rust(&self) -> bool {
        let metadata = &self.l.module.metadata;
        let node = self.function.dbg.and_then(|id| metadata.get(id));
        node.map_or(!metadata.nodes.is_empty(), |node| metadata.is_rust(node))
    }

    fn block(&self, name: &str) -> Result<usize> {
        match self.blocks.get(name) {
            Some(index) => Ok(*index),
            None => Err(Error::invalid(format!("undefined block %{name}"))),
        }
    }

    pub fn emit(&mut self, inst: &Inst<'a>, op: Op) {
        let mut call = SAME_CALL;
        if let (Some(dbg), false) = (inst.dbg, matches!(inst.kind, InstKind::Phi { .. })) {
            call = self.call(dbg);
            if !self.l.program.places.contains_key(&dbg) {
                let place = self.l.module.metadata.place(Some(dbg));
                self.l.program.places.insert(dbg, place);
            }
        }
        self.code.push(crate::ir::instruction::Inst {
            op,
            dbg: inst.dbg.unwrap_or(0),
            call,
            unwind: None,
        });
    }

    /// The outermost inlined call around a source position: the operation that its events belong
    /// to.
    fn call(&mut self, dbg: u32) -> u32 {
        let chain = self.l.module.metadata.chain(dbg);
        let Some((outer, inner)) = outermost(&chain) else {
            return SAME_CALL;
        };
        match inner.iter().rev().find(|p| !is_system(&p.file)) {
            Some(p) => {
                if let Some(known) = self.l.calls.get(&p.inlined_at) {
                    return *known;
                }
                let index = self.l.program.calls.len() as u32;
                self.l.program.calls.push(Call {
                    function: p.function.clone(),
                    location: p.inlined_at,
                });
                self.l.calls.insert(p.inlined_at, index);
                index
            }
            None if !inner.is_empty() => NO_CALL,
            // the inliner gives instructions without a position that of the call
            None if self.call_places.contains(&(outer.line, outer.column)) => SAME_CALL,
            None if outer.line == 0 => SAME_CALL,
            None => NO_CALL,
        }
    }

    pub fn site(&mut self, inst: &Inst<'a>, kind: &'static str, order: Order) -> SiteId {
        let name = &self.l.program.functions[self.l.functions[self.function.name] as usize].name;
        let site = sites::site(&self.l.module.metadata, inst.dbg, name, kind, order);
        self.l.program.sites.push(site);
        self.l.program.sites.len() as SiteId - 1
    }

    pub fn variable(&self, name: &str) -> Option<&'m Declared<'a>> {
        self.function.variables.iter().find(|v| v.name == name)
    }

    pub fn edge(&mut self, name: &str) -> Result<Edge> {
        let to = self.block(name)?;
        let function = self.function;
        let from = &function.blocks[self.current].name;
        let mut moves = Vec::new();
        for inst in &function.blocks[to].insts {
            let InstKind::Phi { ty, incoming } = &inst.kind else {
                break;
            };
            let Some((value, _)) = incoming.iter().find(|i| i.1 == from) else {
                return Err(Error::invalid(format!(
                    "phi in block %{name} has no value for its predecessor %{from}"
                )));
            };
            if inst.result.is_some_and(|name| {
                self.folded.constant(name).is_some() || self.refused.contains(name)
            }) {
                continue;
            }
            let place = self.result(inst);
            for (k, operand) in self.operands(*ty, value)?.into_iter().enumerate() {
                moves.push((place.register + k as u32, operand));
            }
        }
        Ok(Edge {
            to: to as u32,
            pc: 0,
            moves,
            header: None,
            back: false,
        })
    }

    /// Resolves edges and finds loops.
    fn finish(
        &mut self,
        id: FuncId,
        reached: &[usize],
        starts: &[u32],
        ranges: &[(usize, usize)],
    ) -> Result<()> {
        let n = self.function.blocks.len();
        let mut graph = ControlFlowGraph {
            edges: vec![Vec::new(); n],
            cold: vec![false; n],
        };
        for block in reached {
            let (start, end) = ranges[*block];
            let code = &mut self.code[start..end];
            let edges = code.iter_mut().rev().flat_map(|i| i.edges_mut());
            graph.edges[*block] = edges.map(|e| e.to as usize).collect();
            graph.cold[*block] = matches!(self.code[end - 1].op, Op::Unreachable);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for block in reached {
                let targets = &graph.edges[*block];
                if !graph.cold[*block] && !targets.is_empty() {
                    graph.cold[*block] = targets.iter().all(|t| graph.cold[*t]);
                    changed |= graph.cold[*block];
                }
            }
        }
        let loops = graph.loops();
        let joins = graph.joins(reached);
        let find = |code: &[Lowered]| {
            let code = Code {
                code,
                ranges,
                graph: &graph,
                reached,
                globals: &self.l.program.globals,
            };
            relevance(code, self.registers)
        };
        let mut relevant = find(&self.code);
        if settle_random(&mut self.code, &relevant) {
            relevant = find(&self.code);
        }
        let live = |relevant: Option<&Relevance>| {
            let mut usages = vec![Usage::default(); n];
            for block in reached {
                let (start, end) = ranges[*block];
                usages[*block] = usage(&self.code[start..end], start, relevant);
            }
            graph.live(&usages)
        };
        let idle = |info: &LoopInfo| {
            let mut insts = info.body.iter().flat_map(|b| ranges[b].0..ranges[b].1);
            !insts.any(|at| relevant.instructions.contains(at))
        };
        let (mut all, mut some) = (None, None);
        let mut found = Vec::new();
        for info in &loops {
            let idle = idle(info);
            let live = match idle {
                true => all.get_or_insert_with(|| live(None)),
                false => some.get_or_insert_with(|| live(Some(&relevant))),
            };
            let (start, end) = ranges[info.header];
            // the position of a loop is that of the branch that leaves it or returns to its header
            let dbg = self.code[start..end]
                .iter()
                .rev()
                .map(|i| i.dbg)
                .find(|d| *d != 0);
            let name = self.l.program.functions[id as usize].name.clone();
            let site = sites::site(&self.l.module.metadata, dbg, &name, "loop", Order::Na);
            self.l.program.sites.push(site);
            let candidate = Candidate {
                code: &self.code,
                ranges,
                info,
                live,
                relevant: &relevant,
            };
            found.push(Loop {
                site: self.l.program.sites.len() as SiteId - 1,
                live: live[info.header].iter().map(|r| r as Register).collect(),
                deciding: deciding(&self.code, ranges, &info.body, &live[info.header]),
                counter: candidate.counter().filter(|_| !idle),
                idle,
            });
        }
        let all = all.unwrap_or_else(|| live(None));
        for at in relevant.updates.iter() {
            if let Op::Load { access, .. } | Op::Store { access, .. } | Op::Rmw { access, .. } =
                &mut self.code[at].op
            {
                access.update = true;
            }
        }
        for at in relevant.idle.iter() {
            if let Op::Alloca { idle, .. } = &mut self.code[at].op {
                *idle = true;
            }
        }
        for block in reached {
            let end = ranges[*block].1;
            if selects_expected(&self.code, ranges, *block) {
                if let Op::CondBr { selects, .. } = &mut self.code[end - 1].op {
                    *selects = true;
                }
            }
            let inside = |l: &LoopInfo, b: usize| l.body.contains(b);
            let leaves: Vec<u32> = (0..loops.len())
                .filter(|k| inside(&loops[*k], *block))
                .filter(|k| {
                    let out = |t: &&usize| !inside(&loops[*k], **t) && !graph.cold[**t];
                    graph.edges[*block].iter().any(|t| out(&t))
                })
                .map(|k| k as u32)
                .collect();
            let warm = |t: &&usize| !graph.cold[**t];
            let meet = match joins[*block] {
                _ if graph.edges[*block].iter().filter(warm).count() < 2 => Join::Asserts,
                None => Join::End,
                Some(block) => Join::At(starts[block]),
            };
            let mut targets = graph.edges[*block].iter();
            let fails = targets.find_map(|target| match &self.code[ranges[*target].0].op {
                Op::Extern {
                    function: Extern::AssertFail,
                    site,
                    ..
                } => Some(*site),
                _ => None,
            });
            if let Op::CondBr { asserts, .. } = &mut self.code[end - 1].op {
                *asserts = fails;
            }
            match &mut self.code[end - 1].op {
                Op::CondBr { exits, join, .. } | Op::Switch { exits, join, .. } => {
                    *exits = leaves;
                    *join = meet;
                }
                _ => {}
            }
            let code = &mut self.code[ranges[*block].0..end];
            for edge in code.iter_mut().flat_map(|i| i.edges_mut()) {
                edge.pc = starts[edge.to as usize];
                let header = loops.iter().position(|l| l.header == edge.to as usize);
                edge.header = header.map(|k| k as u32);
                edge.back = header.is_some_and(|k| inside(&loops[k], *block));
            }
        }
        let function = &mut self.l.program.functions[id as usize];
        function.registers = self.registers;
        function.code = std::mem::take(&mut self.code);
        function.loops = found;
        share_registers(function, reached, ranges, &all);
        Ok(())
    }
}

/// Whether a block ends in the branch that clang adds to a compare-exchange: what was read is stored
/// over what was expected, or the two join in a phi, and nothing else is skipped.
fn selects_expected(code: &[Lowered], ranges: &[(usize, usize)], block: usize) -> bool {
    let (start, end) = ranges[block];
    let Op::CondBr {
        condition: Operand::Register(condition),
        then,
        otherwise,
        ..
    } = &code[end - 1].op
    else {
        return false;
    };
    let own = code[start..end].iter().map(|inst| &inst.op);
    let copied = own.clone().find_map(|op| match op {
        Op::Copy {
            dst,
            a: Operand::Register(from),
            ..
        } if *dst == *condition => Some(*from),
        _ => None,
    });
    let is_flag = |op: &Op| matches!(op, Op::Cas { flag, .. } if Some(*flag) == copied);
    let (start, end) = ranges[otherwise.to as usize];
    let Some((last, skipped)) = code[start..end].split_last() else {
        return false;
    };
    let stores = |inst: &Lowered| match &inst.op {
        Op::Store { access, .. } => access.order == Order::Na,
        Op::Copy { .. } | Op::Pack { .. } => true,
        _ => false,
    };
    own.clone().any(is_flag)
        && skipped.iter().all(stores)
        && matches!(&last.op, Op::Br(edge) if edge.to == then.to)
}

/// The outermost position in the user's code, and the positions inside it. A thread's start
/// function may be inlined into the library function that starts it.
fn outermost(chain: &[Position]) -> Option<(&Position, &[Position])> {
    let users = chain.iter().rposition(|p| !is_system(&p.file));
    chain[..users.map_or(chain.len(), |k| k + 1)].split_last()
}
