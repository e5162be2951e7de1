//! Which registers a block reads and writes.
use crate::ir::instruction::{Edge, Inst, Op};
use crate::lower::cfg::Usage;
use crate::lower::registers::{register, visit};
use crate::lower::relevance::Relevance;

/// The registers that a block reads and writes, for liveness. Instructions and registers that are
/// not `relevant` are left out; without it none are.
pub fn usage(code: &[Inst], start: usize, relevant: Option<&Relevance>) -> Usage {
    let mut out = Usage::default();
    let matters = |r: usize| relevant.is_none_or(|found| found.registers.contains(r));
    for (k, inst) in code.iter().enumerate() {
        if relevant.is_some_and(|found| !found.instructions.contains(start + k)) {
            continue;
        }
        visit(&inst.op, &mut |register, write| {
            let register = register as usize;
            if write {
                out.defs.insert(register);
            } else if !out.defs.contains(register) && matters(register) {
                out.uses.insert(register);
            }
        });
    }
    let mut edge = |edge: &Edge| {
        let writes = edge.moves.iter().map(|m| m.0).collect();
        let moves = edge.moves.iter().filter(|m| matters(m.0 as usize));
        let reads = moves.filter_map(|m| register(m.1)).collect();
        out.moves.push((writes, reads));
    };
    // in the order of `Inst::edges_mut`, the last instruction first
    for inst in code.iter().rev() {
        match &inst.op {
            Op::Br(to) => edge(to),
            Op::CondBr {
                then, otherwise, ..
            } => {
                edge(then);
                edge(otherwise);
            }
            Op::Switch { cases, default, .. } => {
                cases.iter().for_each(|c| edge(&c.1));
                edge(default);
            }
            _ => {}
        }
        inst.unwind.iter().for_each(|to| edge(to));
    }
    out
}
