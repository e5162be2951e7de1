//! Which registers decide the branches of a loop: a backward slice (Weiser, "Program slicing", ICSE
//! 1981) from the conditions of all branches inside it, of what is computed there.
use crate::ir::instruction::{Inst, Op, Register};
use crate::lower::registers::{register, visit};
use bit_set::BitSet;

/// Of the registers that are live at the header of a loop with these blocks, those on which its
/// branches depend. An iteration that leaves them and the thread's own memory unchanged is followed
/// by the same branches, unless a read returns another value.
pub fn deciding(
    code: &[Inst],
    ranges: &[(usize, usize)],
    body: &BitSet,
    live: &BitSet,
) -> Vec<Register> {
    let inside = || {
        let ranges = body.iter().map(|block| ranges[block]);
        ranges.flat_map(|(start, end)| &code[start..end])
    };
    let mut slice = BitSet::new();
    for inst in inside().filter(|inst| matches!(inst.op, Op::CondBr { .. } | Op::Switch { .. })) {
        read(inst, &mut slice);
    }
    let mut before = 0;
    while slice.count() != before {
        before = slice.count();
        for inst in inside() {
            let mut writes = false;
            visit(&inst.op, &mut |register, write| {
                writes |= write && slice.contains(register as usize);
            });
            if writes {
                read(inst, &mut slice);
            }
            for (dst, from) in inst.edges().iter().flat_map(|edge| &edge.moves) {
                if slice.contains(*dst as usize) {
                    slice.extend(register(*from).map(|register| register as usize));
                }
            }
        }
    }
    slice.intersection(live).map(|r| r as Register).collect()
}

fn read(inst: &Inst, into: &mut BitSet) {
    visit(&inst.op, &mut |register, write| {
        if !write {
            into.insert(register as usize);
        }
    });
}
