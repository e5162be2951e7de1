//! Which registers a block reads and writes, and which an instruction finds live.
use crate::ir::instruction::{Edge, Inst, Op, Register};
use crate::ir::program::Function;
use crate::lower::cfg::Usage;
use crate::lower::registers::{register, visit};
use crate::lower::relevance::Relevance;
use bit_set::BitSet;

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

/// Before each instruction of a function, the registers on which depends what it does from there on.
pub struct Liveness {
    pub live: Vec<Vec<Register>>,
    /// Without those on which only what it returns depends.
    pub used_inside: Vec<Vec<Register>>,
}

impl Liveness {
    pub fn of(function: &Function) -> Liveness {
        Liveness {
            live: live_before(function, true),
            used_inside: live_before(function, false),
        }
    }
}

/// `returned`: whether what the function returns matters.
fn live_before(function: &Function, returned: bool) -> Vec<Vec<Register>> {
    let code = &function.code;
    let mut live = vec![BitSet::new(); code.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, inst) in code.iter().enumerate().rev() {
            let ends = inst.op.is_branch() || matches!(inst.op, Op::Ret(_) | Op::Unreachable);
            let mut now = match ends {
                true => BitSet::new(),
                false => live[at + 1].clone(),
            };
            for edge in inst.edges() {
                let after = &live[edge.pc as usize];
                let mut through = after.clone();
                for (written, _) in &edge.moves {
                    through.remove(*written as usize);
                }
                let moves = edge.moves.iter();
                let moves = moves.filter(|(written, _)| after.contains(*written as usize));
                let read = moves.filter_map(|(_, from)| register(*from));
                through.extend(read.map(|read| read as usize));
                now.union_with(&through);
            }
            visit(&inst.op, &mut |register, write| {
                if write {
                    now.remove(register as usize);
                }
            });
            if returned || !matches!(inst.op, Op::Ret(_)) {
                visit(&inst.op, &mut |register, write| {
                    if !write {
                        now.insert(register as usize);
                    }
                });
            }
            if now != live[at] {
                live[at] = now;
                changed = true;
            }
        }
    }
    let numbers = |set: &BitSet| set.iter().map(|register| register as Register).collect();
    live.iter().map(numbers).collect()
}
