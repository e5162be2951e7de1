//! Escape analysis: which local variables other code can access.
use crate::ir::instruction::Extern;
use crate::llvm::ast::{Block, Inst, InstKind, Value};
use crate::lower::call::IGNORED;
use crate::lower::cxx::meaning;
use crate::lower::function::Lower;
use std::collections::BTreeSet;

/// The values that an address is computed from or chosen between.
fn bases<'i, 'a>(inst: &'i Inst<'a>) -> Option<Vec<&'i Value<'a>>> {
    match &inst.kind {
        InstKind::Gep { base, .. } => Some(vec![&base.1]),
        InstKind::Phi { incoming, .. } => Some(incoming.iter().map(|i| &i.0).collect()),
        InstKind::Select { a, b, .. } => Some(vec![&a.1, b]),
        _ => None,
    }
}

/// Whether calls of a function are ignored, with their arguments.
fn is_ignored(name: &str) -> bool {
    IGNORED.contains(&name) || matches!(meaning(name, &[]), Some((Extern::Ignored(_), ..)))
}

impl<'m, 'a> Lower<'_, 'm, 'a> {
    /// An alloca whose address is only loaded from, stored to, indexed, compared, copied through or
    /// chosen among such addresses is private to the function: its accesses are no events and no
    /// scheduling points.
    pub fn escapes(&mut self, blocks: &[&'m Block<'a>]) {
        let insts = || blocks.iter().flat_map(|b| &b.insts);
        for inst in insts() {
            match (&inst.kind, inst.result) {
                (InstKind::Alloca { .. }, Some(name)) => {
                    self.roots.insert(name, Some(BTreeSet::from([name])));
                }
                (_, Some(name)) if bases(inst).is_some() => {
                    self.roots.insert(name, Some(BTreeSet::new()));
                }
                _ => {}
            }
        }
        // an index may precede its base in the order of blocks
        let mut changed = true;
        while changed {
            changed = false;
            for inst in insts() {
                if let (Some(bases), Some(name)) = (bases(inst), inst.result) {
                    let found = bases.into_iter().try_fold(BTreeSet::new(), |found, base| {
                        self.roots_of(base).map(|roots| &found | roots)
                    });
                    changed |= self.roots.get(name) != Some(&found);
                    self.roots.insert(name, found);
                }
            }
        }
        for inst in insts() {
            let mut leaks: Vec<&Value<'a>> = Vec::new();
            match inst.kind.called() {
                InstKind::Store { value, .. } | InstKind::Rmw { value, .. } => leaks.push(&value.1),
                InstKind::Cas {
                    expected, desired, ..
                } => leaks.extend([&expected.1, desired]),
                InstKind::Phi { .. } | InstKind::Select { .. } => {
                    let roots = inst.result.and_then(|name| self.roots.get(name));
                    if let Some(None) = roots {
                        leaks.extend(bases(inst).into_iter().flatten());
                    }
                }
                InstKind::Call { callee, args, .. } => {
                    let harmless = matches!(callee, Value::Global(name)
                        if name.starts_with("llvm.mem") || name.starts_with("llvm.lifetime")
                            || name.starts_with("llvm.dbg")
                            || ["memcpy", "memmove", "memset"].contains(name));
                    let ignored = matches!(callee, Value::Global(name) if is_ignored(name));
                    // memcpy returns its first argument
                    if !ignored && (!harmless || inst.result.is_some()) {
                        leaks.extend(args.iter().map(|a| &a.1));
                    }
                }
                InstKind::Ret(Some(value)) => leaks.push(&value.1),
                InstKind::Insert { value, .. } | InstKind::InsertElement { value, .. } => {
                    leaks.push(&value.1)
                }
                InstKind::Cast { value, .. } | InstKind::Freeze(value) => leaks.push(&value.1),
                InstKind::Bin { a, b, .. } => leaks.extend([&a.1, b]),
                _ => {}
            }
            for value in leaks {
                if let Some(roots) = self.roots_of(value) {
                    let roots = roots.clone();
                    self.escaped.extend(roots);
                }
            }
        }
        // what one instruction accesses is private in each case or in none
        let mut changed = true;
        while changed {
            changed = false;
            for roots in self.roots.values().flatten() {
                if roots.iter().any(|root| self.escaped.contains(root)) {
                    for root in roots {
                        changed |= self.escaped.insert(root);
                    }
                }
            }
        }
    }

    fn roots_of(&self, value: &Value<'a>) -> Option<&BTreeSet<&'a str>> {
        match value {
            Value::Local(name) => self.roots.get(name)?.as_ref(),
            _ => None,
        }
    }

    /// Whether this is the name of an alloca.
    pub fn is_local(&self, name: &'a str) -> bool {
        let roots = self.roots.get(name).and_then(Option::as_ref);
        roots.is_some_and(|roots| roots.len() == 1 && roots.contains(name))
    }

    pub fn private(&self, address: &Value<'a>) -> bool {
        let roots = self.roots_of(address);
        roots.is_some_and(|roots| !roots.is_empty() && roots.is_disjoint(&self.escaped))
    }
}
