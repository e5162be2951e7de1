//! Escape analysis: which local variables other code can access.
use crate::llvm::ast::{Block, InstKind, Value};
use crate::lower::call::IGNORED;
use crate::lower::function::Lower;

impl<'m, 'a> Lower<'_, 'm, 'a> {
    /// An alloca whose address is only loaded from, stored to, indexed, compared or copied through
    /// is private to the function: its accesses are no events and no scheduling points.
    pub fn escapes(&mut self, blocks: &[&'m Block<'a>]) {
        let insts = || blocks.iter().flat_map(|b| &b.insts);
        for inst in insts() {
            if let (InstKind::Alloca { .. }, Some(name)) = (&inst.kind, inst.result) {
                self.roots.insert(name, name);
            }
        }
        // an index may precede its base in the order of blocks
        let mut changed = true;
        while changed {
            changed = false;
            for inst in insts() {
                if let (InstKind::Gep { base, .. }, Some(name)) = (&inst.kind, inst.result) {
                    if let Some(root) = self.root(&base.1) {
                        changed |= self.roots.insert(name, root).is_none();
                    }
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
                InstKind::Phi { incoming, .. } => leaks.extend(incoming.iter().map(|i| &i.0)),
                InstKind::Select { a, b, .. } => leaks.extend([&a.1, b]),
                InstKind::Call { callee, args, .. } => {
                    let harmless = matches!(callee, Value::Global(name)
                        if name.starts_with("llvm.mem") || name.starts_with("llvm.lifetime")
                            || name.starts_with("llvm.dbg")
                            || ["memcpy", "memmove", "memset"].contains(name));
                    let ignored = matches!(callee, Value::Global(name) if IGNORED.contains(name));
                    // memcpy returns its first argument
                    if !ignored && (!harmless || inst.result.is_some()) {
                        leaks.extend(args.iter().map(|a| &a.1));
                    }
                }
                InstKind::Ret(Some(value)) => leaks.push(&value.1),
                InstKind::Insert { value, .. } => leaks.push(&value.1),
                InstKind::Cast { value, .. } | InstKind::Freeze(value) => leaks.push(&value.1),
                InstKind::Bin { a, b, .. } => leaks.extend([&a.1, b]),
                _ => {}
            }
            for value in leaks {
                if let Some(root) = self.root(value) {
                    self.escaped.insert(root);
                }
            }
        }
    }

    fn root(&self, value: &Value<'a>) -> Option<&'a str> {
        match value {
            Value::Local(name) => self.roots.get(name).copied(),
            _ => None,
        }
    }

    pub fn private(&self, address: &Value<'a>) -> bool {
        self.root(address)
            .is_some_and(|root| !self.escaped.contains(root))
    }
}
