//! Which instructions and registers of a function can affect what it does: aggressive dead code
//! elimination (Cytron, Ferrante, Rosen, Wegman, Zadeck, "Efficiently computing static single
//! assignment form and the control dependence graph", TOPLAS 1991, section 7.1), in which a pause
//! is no effect. Nothing is removed: the rest is left out of the state of a loop, so that a loop
//! that counts how often it has looked, or looks less often each time, is found to wait.
//!
//! What an instruction computes may be assumed to end: a loop without effects is relevant to
//! nothing after it. Whether such a loop ends is decided from all of its registers.
use crate::error::Construct;
use crate::ir::instruction::{BinOp, Extern, Inst, Op, Operand, Register};
use crate::ir::program::Global;
use crate::lower::cfg::ControlFlowGraph;
use crate::lower::registers::{register, visit};
use bit_set::BitSet;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A function's code: block `b` is `code[ranges[b].0..ranges[b].1]`.
pub struct Code<'c> {
    pub code: &'c [Inst],
    pub ranges: &'c [(usize, usize)],
    pub graph: &'c ControlFlowGraph,
    /// The blocks that exist.
    pub reached: &'c [usize],
    pub globals: &'c [Global],
}

#[derive(Default)]
pub struct Relevance {
    pub instructions: BitSet,
    pub registers: BitSet,
    /// Reads on whose value nothing depends but what is written to the same location, and the
    /// writes of these values.
    pub updates: BitSet,
    /// Local variables in memory on whose contents nothing depends.
    pub idle: BitSet,
}

enum Definition {
    By(usize),
    /// A phi move on an edge that leaves the block.
    Moved(usize, Operand),
}

struct Marking<'c> {
    all: Code<'c>,
    definitions: Vec<Vec<Definition>>,
    block_of: Vec<usize>,
    /// For each block, the blocks whose terminators decide whether it runs.
    controls: Vec<Vec<usize>>,
    blocks: BitSet,
    found: Relevance,
    work: Vec<Register>,
    /// The stores to each local variable that only loads and stores access, by its `Alloca`; none
    /// if its contents are relevant.
    locals: FxHashMap<usize, Option<Vec<usize>>>,
    /// The local variables that each register holds an address in; none if it may hold anything
    /// else.
    pointers: Vec<Option<BTreeSet<usize>>>,
}

pub fn relevance(all: Code, registers: u32) -> Relevance {
    let mut definitions: Vec<Vec<Definition>> = Vec::new();
    definitions.resize_with(registers as usize, Vec::new);
    let mut block_of = vec![0; all.code.len()];
    for block in all.reached {
        let (start, end) = all.ranges[*block];
        block_of[start..end].fill(*block);
        for at in start..end {
            visit(&all.code[at].op, &mut |register, write| {
                if write {
                    definitions[register as usize].push(Definition::By(at));
                }
            });
            for edge in all.code[at].edges() {
                for (dst, operand) in &edge.moves {
                    definitions[*dst as usize].push(Definition::Moved(*block, *operand));
                }
            }
        }
    }
    let (controls, endless) = all.graph.control_dependences(all.reached);
    let mut marking = Marking {
        all,
        definitions,
        block_of,
        controls,
        blocks: BitSet::new(),
        found: Relevance::default(),
        work: Vec::new(),
        locals: FxHashMap::default(),
        pointers: Vec::new(),
    };
    marking.pointers();
    marking.locals();
    let mut stores = Vec::new();
    for at in 0..marking.all.code.len() {
        let op = &marking.all.code[at].op;
        let accessed = match op {
            Op::Load { address, .. } | Op::Store { address, .. } => Some(*address),
            Op::Extern {
                function: Extern::Memset,
                args,
                ..
            } => args.first().copied(),
            Op::Extern {
                function: Extern::Memcpy,
                args,
                ..
            } if marking.is_own(args.get(1)) => args.first().copied(),
            _ => None,
        };
        if accessed.is_some_and(|address| !marking.locals_at(address).is_empty()) {
            continue;
        }
        if let Op::Store { address, .. } = op {
            // the value is relevant unless it updates the location
            let address = *address;
            stores.push(at);
            marking.effect(at);
            marking.operand(address);
        } else if has_effect(op) || (op.is_branch() && endless.contains(marking.block_of[at])) {
            marking.instruction(at);
        }
    }
    marking.settle();
    // optimistic: a store stops being an update when something else needs its value
    let mut updates: Vec<(usize, Vec<usize>)> = Vec::new();
    for at in stores {
        match marking.update(at) {
            Some(reads) => updates.push((at, reads)),
            None => marking.instruction(at),
        }
        marking.settle();
    }
    loop {
        let before = updates.len();
        updates.retain(|(at, _)| {
            let updates = marking.update(*at).is_some();
            if !updates {
                marking.instruction(*at);
                marking.settle();
            }
            updates
        });
        if updates.len() == before {
            break;
        }
    }
    for (at, stores) in &marking.locals {
        if stores.is_some() {
            marking.found.idle.insert(*at);
        }
    }
    for (at, reads) in updates {
        marking.found.updates.insert(at);
        marking.found.updates.extend(reads);
    }
    for (at, inst) in marking.all.code.iter().enumerate() {
        if let Op::Rmw { dst, .. } = inst.op {
            if !marking.found.registers.contains(dst as usize) {
                marking.found.updates.insert(at);
            }
        }
    }
    marking.found
}

/// Whether an instruction does more than compute its result: accesses memory, may fail, ends the
/// function, calls another.
pub fn has_effect(op: &Op) -> bool {
    use BinOp::{Sdiv, Srem, Udiv, Urem};
    match op {
        Op::Bin { op, b, .. } => {
            matches!(op, Udiv | Sdiv | Urem | Srem)
                && !matches!(b, Operand::Const(divisor) if *divisor != 0)
        }
        Op::Extern { function, .. } => !matches!(function, Extern::Ignored(_) | Extern::Random),
        Op::Fence { signal, .. } => !signal,
        Op::Br(_)
        | Op::CondBr { .. }
        | Op::Switch { .. }
        | Op::Compare { .. }
        | Op::Convert { .. }
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::Unary { .. }
        | Op::Overflow { .. }
        | Op::Sext { .. }
        | Op::Copy { .. }
        | Op::Select { .. }
        | Op::Gep { .. }
        | Op::ThreadLocal { .. } => false,
        _ => true,
    }
}

impl Marking<'_> {
    fn operand(&mut self, operand: Operand) {
        if let Operand::Register(register) = operand {
            if self.found.registers.insert(register as usize) {
                self.work.push(register);
            }
        }
    }

    /// Finds the registers that hold addresses at constant offsets in local variables.
    fn pointers(&mut self) {
        let code = self.all.code;
        self.pointers = vec![Some(BTreeSet::new()); self.definitions.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (register, definitions) in self.definitions.iter().enumerate() {
                let mut found = match definitions.is_empty() {
                    true => None,
                    false => Some(BTreeSet::new()),
                };
                for definition in definitions {
                    let of = |operand: &Operand| match operand {
                        Operand::Register(register) => self.pointers[*register as usize].clone(),
                        _ => None,
                    };
                    let more = match definition {
                        Definition::Moved(_, operand) => of(operand),
                        Definition::By(at) => match &code[*at].op {
                            Op::Alloca {
                                private: true,
                                count: None,
                                ..
                            } => Some(BTreeSet::from([*at])),
                            Op::Gep { base, scaled, .. } if scaled.is_empty() => of(base),
                            Op::Select { a, b, .. } => of(a).zip(of(b)).map(|(a, b)| &a | &b),
                            _ => None,
                        },
                    };
                    found = found.zip(more).map(|(found, more)| &found | &more);
                }
                changed |= self.pointers[register] != found;
                self.pointers[register] = found;
            }
        }
    }

    /// Finds the local variables that only loads and stores at constant offsets access, and tests for
    /// null.
    fn locals(&mut self) {
        let code = self.all.code;
        for at in self.pointers.iter().flatten().flatten() {
            self.locals.insert(*at, Some(Vec::new()));
        }
        for (at, inst) in code.iter().enumerate() {
            let addresses = match &inst.op {
                Op::Load { address, .. } => vec![*address],
                Op::Store { address, .. } => {
                    self.add_store(*address, at);
                    vec![*address]
                }
                Op::Gep { base, scaled, .. } if scaled.is_empty() => vec![*base],
                // whether there is a variable says nothing of its contents
                Op::Compare {
                    a,
                    b: Operand::Const(0),
                    ..
                } => vec![*a],
                // initialises it
                Op::Extern {
                    function: Extern::Memset,
                    args,
                    ..
                } if args.get(1) != args.first() => {
                    let to = args.first().copied();
                    to.into_iter().for_each(|to| self.add_store(to, at));
                    to.into_iter().collect()
                }
                Op::Extern {
                    function: Extern::Memcpy,
                    args,
                    ..
                } => {
                    let to = args.first().copied();
                    to.into_iter().for_each(|to| self.add_store(to, at));
                    args.iter().take(2).copied().collect()
                }
                _ => Vec::new(),
            };
            if let Op::Extern {
                function: Extern::Ignored(_),
                ..
            } = inst.op
            {
                continue; // whatever its arguments are
            }
            let mut other = Vec::new();
            let is_pointer = |register: Register| self.pointers[register as usize].is_some();
            match inst.op {
                Op::Select { dst, .. } if is_pointer(dst) => {}
                _ => visit(&inst.op, &mut |register, write| {
                    if !write && !addresses.contains(&Operand::Register(register)) {
                        other.push(register);
                    }
                }),
            }
            let moved = inst.edges().into_iter().flat_map(|edge| &edge.moves);
            let moved = moved.filter(|(dst, _)| !is_pointer(*dst));
            other.extend(moved.filter_map(|m| register(m.1)));
            for register in other {
                for local in self.pointers[register as usize].iter().flatten() {
                    self.locals.remove(local);
                }
            }
        }
        // what one instruction accesses is known in each case or in none
        let mut before = usize::MAX;
        while self.locals.len() < before {
            before = self.locals.len();
            for pointed in self.pointers.iter().flatten() {
                if pointed.iter().any(|local| !self.locals.contains_key(local)) {
                    self.locals.retain(|local, _| !pointed.contains(local));
                }
            }
        }
    }

    fn add_store(&mut self, address: Operand, at: usize) {
        for local in self.locals_at(address) {
            if let Some(Some(stores)) = self.locals.get_mut(&local) {
                stores.push(at);
            }
        }
    }

    /// Whether this is the address of a variable that does not change, or of a local variable that
    /// only loads and stores access.
    fn is_own(&self, address: Option<&Operand>) -> bool {
        match address {
            Some(Operand::Const(address)) => {
                let mut globals = self.all.globals.iter();
                globals.any(|global| global.constant && global.address == *address)
            }
            Some(register) => !self.locals_at(*register).is_empty(),
            None => false,
        }
    }

    /// The local variables that an address may be in, if only loads and stores access them.
    fn locals_at(&self, address: Operand) -> Vec<usize> {
        let Operand::Register(register) = address else {
            return Vec::new();
        };
        let pointed = self.pointers[register as usize].iter().flatten();
        let known = pointed.filter(|local| self.locals.contains_key(local));
        known.copied().collect()
    }

    /// The instruction is relevant, and so is what it reads.
    fn instruction(&mut self, at: usize) {
        self.effect(at);
        let read = match &self.all.code[at].op {
            Op::Load { address, .. } => Some(*address),
            Op::Extern {
                function: Extern::Memcpy,
                args,
                ..
            } => args.get(1).copied(),
            _ => None,
        };
        if let Some(address) = read {
            for local in self.locals_at(address) {
                let stores = self.locals.get_mut(&local).and_then(Option::take);
                for store in stores.unwrap_or_default() {
                    self.instruction(store);
                }
            }
        }
        let mut reads = Vec::new();
        visit(&self.all.code[at].op, &mut |register, write| {
            if !write {
                reads.push(register);
            }
        });
        for register in reads {
            self.operand(Operand::Register(register));
        }
    }

    /// The instruction is relevant, and so is whether it runs.
    fn effect(&mut self, at: usize) {
        if self.found.instructions.insert(at) {
            self.block(self.block_of[at]);
        }
    }

    fn block(&mut self, block: usize) {
        if !self.blocks.insert(block) {
            return;
        }
        for by in self.controls[block].clone() {
            self.instruction(self.all.ranges[by].1 - 1);
        }
    }

    /// Marks what the marked registers are computed from.
    fn settle(&mut self) {
        while let Some(register) = self.work.pop() {
            let definitions = std::mem::take(&mut self.definitions[register as usize]);
            for definition in &definitions {
                match definition {
                    Definition::By(at) => self.instruction(*at),
                    Definition::Moved(block, operand) => {
                        self.block(*block);
                        self.operand(*operand);
                    }
                }
            }
            self.definitions[register as usize] = definitions;
        }
    }

    /// The instruction that defines a register, if there is only one.
    fn definition(&self, register: Register) -> Option<usize> {
        match self.definitions[register as usize][..] {
            [Definition::By(at)] => Some(at),
            _ => None,
        }
    }

    /// Whether two operands are the same address.
    fn same(&self, a: Operand, b: Operand) -> bool {
        let (Operand::Register(one), Operand::Register(other)) = (a, b) else {
            return a == b;
        };
        let gep = |register| {
            let at = self.definition(register)?;
            match &self.all.code[at].op {
                Op::Gep {
                    base,
                    offset,
                    scaled,
                    ..
                } => Some((*base, *offset, scaled)),
                _ => None,
            }
        };
        let own = |register| match self.all.code[self.definition(register)?].op {
            Op::ThreadLocal { global, .. } => Some(global),
            _ => None,
        };
        one == other
            || own(one).is_some() && own(one) == own(other)
            || match (gep(one), gep(other)) {
                (Some((base, offset, scaled)), Some((other, at, by))) => {
                    offset == at && scaled == by && self.same(base, other)
                }
                _ => false,
            }
    }

    /// If the value of a store is computed from nothing but constants and reads of the same
    /// address, which nothing else needs: these reads.
    fn update(&self, store: usize) -> Option<Vec<usize>> {
        let Op::Store {
            value,
            address,
            access,
        } = &self.all.code[store].op
        else {
            return None;
        };
        let Operand::Register(value) = *value else {
            return None;
        };
        let mut reads = Vec::new();
        let mut work = vec![value];
        while let Some(register) = work.pop() {
            if self.found.registers.contains(register as usize) {
                return None;
            }
            let at = self.definition(register)?;
            match &self.all.code[at].op {
                Op::Load {
                    address: from,
                    access: read,
                    ..
                } => {
                    if !self.same(*address, *from) || read.size != access.size {
                        return None;
                    }
                    reads.push(at);
                }
                op @ (Op::Bin { .. } | Op::Unary { .. } | Op::Sext { .. } | Op::Copy { .. }) => {
                    visit(op, &mut |register, write| {
                        if !write {
                            work.push(register);
                        }
                    });
                }
                _ => return None,
            }
        }
        (!reads.is_empty()).then_some(reads)
    }
}

/// Decides what each number of [`Extern::Random`] is ([`random`](super::random)); returns whether some are
/// chosen.
pub fn settle_random(code: &mut [Inst], relevant: &Relevance) -> bool {
    let mut chosen = false;
    for inst in code {
        let Op::Extern {
            function: function @ Extern::Random,
            args,
            dst,
            site,
            ..
        } = &mut inst.op
        else {
            continue;
        };
        match dst.is_some_and(|dst| relevant.registers.contains(dst as usize)) {
            false => *function = Extern::Ignored(0),
            true if args.is_empty() => {
                let message = "using more of a random number than a remainder is not supported";
                inst.op = Op::Refused {
                    message: message.to_string(),
                    site: *site,
                    construct: Construct::RandomNumber,
                };
            }
            true => {
                *function = Extern::Choose;
                chosen = true;
            }
        }
    }
    chosen
}
