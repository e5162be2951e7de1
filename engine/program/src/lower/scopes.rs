//! Where the lifetimes of local variables in blocks begin and end, by their debug information: of
//! those that clang does not mark with intrinsics, since a jump may bypass the declaration. The
//! lifetime of any other has ended where this would end it.
//!
//! A variable lives from its declaration to the first instruction, on any path, that is outside its
//! block. Destructors of a block's variables, and functions of `__attribute__((cleanup))`, have the
//! position of its closing brace, which belongs to the block around it: they still are of the block.
//! Temporary objects have no declaration.
use crate::ir::instruction::{Op, Order};
use crate::ir::sites;
use crate::llvm::ast::{Block, Declared, Inst, InstKind, Value};
use crate::llvm::metadata::Metadata;
use crate::lower::function::Lower;
use rustc_hash::{FxHashMap, FxHashSet};

/// A block, by its `DILexicalBlock`, of a function that was inlined at a `DILocation` (0: it was
/// not).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Scope {
    block: u32,
    inlined_at: u32,
}

/// A source position: scope, line, column, and where its function was inlined.
type Place = (u32, u64, u64, u32);

#[derive(PartialEq)]
enum Position {
    Inside,
    Outside,
    /// As the instruction before it.
    Unknown,
}

/// Blocks and indices of instructions, with the variables whose lifetimes begin or end before them.
#[derive(Default)]
pub struct Lifetimes<'m, 'a> {
    changes: FxHashMap<(usize, usize), Vec<(bool, &'m Declared<'a>)>>,
}

const MAX_DEPTH: usize = 256;

fn place(metadata: &Metadata, location: u32) -> Option<Place> {
    let node = metadata.get(location)?;
    let scope = node.node("scope")?;
    let at = node.node("inlinedAt").unwrap_or(0);
    Some((scope, node.int("line"), node.int("column"), at))
}

impl Scope {
    fn contains(self, metadata: &Metadata, scope: u32) -> bool {
        let mut next = Some(scope);
        for _ in 0..MAX_DEPTH {
            match next {
                Some(id) if id == self.block => return true,
                Some(id) => next = metadata.get(id).and_then(|node| node.node("scope")),
                None => return false,
            }
        }
        false
    }

    fn position(self, metadata: &Metadata, closing: &FxHashSet<Place>, dbg: u32) -> Position {
        let mut location = dbg;
        for _ in 0..MAX_DEPTH {
            let Some(found) = place(metadata, location) else {
                return Position::Unknown;
            };
            let (scope, line, _, at) = found;
            if at == self.inlined_at {
                let around = metadata.get(self.block).and_then(|node| node.node("scope"));
                let closes = around == Some(scope) && closing.contains(&found);
                return match self.contains(metadata, scope) {
                    true => Position::Inside,
                    false if line == 0 || closes => Position::Unknown,
                    false => Position::Outside,
                };
            }
            if at == 0 {
                break;
            }
            location = at;
        }
        match metadata.get(dbg).map(|node| node.int("line")) {
            None | Some(0) => Position::Unknown,
            _ => Position::Outside,
        }
    }
}

/// Whether a function may be one that is called where a block ends.
fn is_cleanup(metadata: &Metadata, subprogram: u32) -> bool {
    let Some(node) = metadata.get(subprogram) else {
        return false;
    };
    if node.kind != "DISubprogram" {
        return node
            .node("scope")
            .is_some_and(|scope| is_cleanup(metadata, scope));
    }
    if !node.text("linkageName").is_empty() {
        return node.text("name").starts_with('~');
    }
    let types = node
        .node("type")
        .and_then(|id| metadata.get(id)?.node("types"));
    let parameters = types.and_then(|id| metadata.get(id));
    parameters.is_some_and(|types| types.fields.len() == 2)
}

/// Whether a mangled name is a destructor's: `D0`, `D1` or `D2` ends a nested name, or ABI tags follow.
fn is_destructor(name: &str) -> bool {
    let ends = |at: &[u8]| match at {
        [b'D', b'0'..=b'2', b'E', ..] => true,
        [b'D', b'0'..=b'2', b'B', length, ..] => length.is_ascii_digit(),
        _ => false,
    };
    let name = name.as_bytes();
    name.starts_with(b"_Z") && (0..name.len()).any(|at| ends(&name[at..]))
}

/// The positions that may be closing braces of blocks at which something is called.
fn closing<'m, 'a: 'm>(
    metadata: &Metadata,
    insts: impl Iterator<Item = &'m Inst<'a>>,
) -> FxHashSet<Place> {
    let mut found = FxHashSet::default();
    for inst in insts {
        let Some(mut location) = inst.dbg else {
            continue;
        };
        if let InstKind::Call {
            callee: Value::Global(name),
            ..
        } = inst.kind.called()
        {
            if is_destructor(name) {
                found.extend(place(metadata, location));
            }
        }
        for _ in 0..MAX_DEPTH {
            match place(metadata, location) {
                Some((scope, _, _, at)) if at != 0 => {
                    if is_cleanup(metadata, scope) {
                        found.extend(place(metadata, at));
                    }
                    location = at;
                }
                _ => break,
            }
        }
    }
    found
}

impl<'m, 'a> Lower<'_, 'm, 'a> {
    /// The lifetimes of local variables that are declared in blocks and that other code can access.
    pub fn block_scopes(&self, blocks: &[&'m Block<'a>], reached: &[usize]) -> Lifetimes<'m, 'a> {
        let metadata = &self.l.module.metadata;
        let variables = &self.function.variables;
        let mut scopes: FxHashMap<Scope, Vec<&'m Declared<'a>>> = FxHashMap::default();
        for declared in variables {
            let name = declared.name;
            let is_local = self.is_local(name) && self.escaped.contains(name);
            let others = variables.iter().filter(|other| other.name == name);
            let block = metadata
                .get(declared.variable)
                .and_then(|node| node.node("scope"));
            let is_block = |id: &u32| {
                metadata
                    .get(*id)
                    .is_some_and(|node| node.kind == "DILexicalBlock")
            };
            let (true, 1, Some(block)) = (is_local, others.count(), block.filter(is_block)) else {
                continue;
            };
            let Some((_, _, _, inlined_at)) = declared.location.and_then(|id| place(metadata, id))
            else {
                continue;
            };
            scopes
                .entry(Scope { block, inlined_at })
                .or_default()
                .push(declared);
        }
        let mut found = Lifetimes::default();
        if scopes.is_empty() {
            return found;
        }
        let closing = closing(metadata, blocks.iter().flat_map(|block| &block.insts));
        for (scope, variables) in scopes {
            let ends = self.ends(scope, &closing, reached);
            for variable in variables {
                let begin = (variable.block, variable.inst);
                found
                    .changes
                    .entry(begin)
                    .or_default()
                    .push((true, variable));
                for end in &ends {
                    found
                        .changes
                        .entry(*end)
                        .or_default()
                        .push((false, variable));
                }
            }
        }
        for changes in found.changes.values_mut() {
            changes.sort_by_key(|(begins, variable)| (*begins, variable.block, variable.inst));
        }
        found
    }

    /// The first instructions after a scope.
    fn ends(
        &self,
        scope: Scope,
        closing: &FxHashSet<Place>,
        reached: &[usize],
    ) -> Vec<(usize, usize)> {
        let metadata = &self.l.module.metadata;
        let blocks = &self.function.blocks;
        let position = |inst: &Inst| match (inst.dbg, &inst.kind) {
            (None, _) | (_, InstKind::Phi { .. }) => Position::Unknown,
            (Some(dbg), _) => scope.position(metadata, closing, dbg),
        };
        let mut positions: FxHashMap<usize, Vec<Position>> = FxHashMap::default();
        for block in reached {
            let insts = blocks[*block].insts.iter();
            positions.insert(*block, insts.map(position).collect());
        }
        let leaves_inside = |block: usize, entered: bool| {
            let known = positions[&block].iter().rev();
            let last = known.filter(|position| **position != Position::Unknown);
            last.map(|position| *position == Position::Inside)
                .next()
                .unwrap_or(entered)
        };
        let mut entered: FxHashSet<usize> = FxHashSet::default();
        let mut changed = true;
        while changed {
            changed = false;
            for block in reached {
                if !leaves_inside(*block, entered.contains(block)) {
                    continue;
                }
                let last = blocks[*block].insts.last();
                for target in last
                    .map(|inst| self.folded.targets(inst))
                    .unwrap_or_default()
                {
                    let to = self.blocks.get(target);
                    changed |= to.is_some_and(|to| entered.insert(*to));
                }
            }
        }
        let mut ends = Vec::new();
        for block in reached {
            let mut inside = entered.contains(block);
            for (at, position) in positions[block].iter().enumerate() {
                match position {
                    Position::Inside => inside = true,
                    Position::Outside if inside => {
                        ends.push((*block, at));
                        inside = false;
                    }
                    _ => {}
                }
            }
        }
        ends
    }

    /// Emits what begins and ends before an instruction.
    pub fn lifetimes_at(
        &mut self,
        lifetimes: &Lifetimes<'m, 'a>,
        at: (usize, usize),
        inst: &Inst<'a>,
    ) {
        for (begins, declared) in lifetimes.changes.get(&at).into_iter().flatten() {
            let Some(place) = self.values.get(declared.name).copied() else {
                continue;
            };
            let op = Op::Lifetime {
                begins: *begins,
                local: place.register,
                site: self.declaration(declared),
            };
            self.emit(inst, op);
        }
    }

    /// The site of a variable's declaration.
    pub fn declaration(&mut self, declared: &Declared<'a>) -> u32 {
        let name = &self.l.program.functions[self.l.functions[self.function.name] as usize].name;
        let metadata = &self.l.module.metadata;
        let site = sites::site(metadata, declared.location, name, "call", Order::Na);
        self.l.program.sites.push(site);
        self.l.program.sites.len() as u32 - 1
    }
}
