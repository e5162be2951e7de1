//! Registers that hold values one after the other: linear scan (Poletto and Sarkar, "Linear scan
//! register allocation", TOPLAS 21, 1999).
//!
//! LLVM's code gives each value a register of its own, and a function into which everything was inlined
//! has ten thousand; the state of a thread, of which the explorer stores thousands, has all of them. A
//! register is used again after the last use of its value in the order of the code. An instruction
//! never writes a register that it reads, so it may be executed in several steps.
use crate::ir::instruction::{Inst, Register};
use crate::ir::program::Function;
use crate::lower::registers::{parts, register, renumber, renumber_operand, visit};
use bit_set::BitSet;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// From where to where in the code a register holds a value that is needed.
#[derive(Clone, Copy)]
struct Interval {
    start: usize,
    end: usize,
}

/// Lets the values of a function share registers. `ranges` and `live` are those of its blocks, of which
/// these are `reached`, and the registers that are live at their starts; edges still name blocks.
pub fn share_registers(
    function: &mut Function,
    reached: &[usize],
    ranges: &[(usize, usize)],
    live: &[BitSet],
) {
    let intervals = intervals(function, reached, ranges, live);
    let numbers = numbers(function, &intervals);
    let number = |register: Register| numbers[register as usize];
    for inst in &mut function.code {
        renumber(&mut inst.op, number);
        for edge in inst.edges_mut() {
            for (dst, from) in &mut edge.moves {
                *dst = number(*dst);
                renumber_operand(from, number);
            }
        }
    }
    for info in &mut function.loops {
        let state = info.live.iter_mut().chain(&mut info.deciding);
        state.for_each(|register| *register = number(*register));
        if let Some(counter) = &mut info.counter {
            counter.register = number(counter.register);
            for test in &mut counter.tests {
                renumber_operand(&mut test.bound, number);
            }
        }
    }
    let most = numbers.iter().max().map_or(0, |most| most + 1);
    function.registers = most.max(function.params);
}

/// The interval of each register that is used.
fn intervals(
    function: &Function,
    reached: &[usize],
    ranges: &[(usize, usize)],
    live: &[BitSet],
) -> Vec<Option<Interval>> {
    let mut found: Vec<Option<Interval>> = vec![None; function.registers as usize];
    let mut extend = |register: Register, at: usize| {
        let interval = found[register as usize].get_or_insert(Interval { start: at, end: at });
        interval.start = interval.start.min(at);
        interval.end = interval.end.max(at);
    };
    for parameter in 0..function.params {
        extend(parameter, 0);
    }
    for block in reached {
        let (start, end) = ranges[*block];
        for held in &live[*block] {
            extend(held as Register, start);
        }
        for at in start..end {
            let inst = &function.code[at];
            visit(&inst.op, &mut |register, _| extend(register, at));
            for edge in inst.edges() {
                for (dst, from) in &edge.moves {
                    extend(*dst, at);
                    if let Some(from) = register(*from) {
                        extend(from, at);
                    }
                }
                for held in &live[edge.to as usize] {
                    extend(held as Register, at);
                    // and to the end of the block, if it is left in the middle
                    extend(held as Register, end - 1);
                }
            }
        }
    }
    found
}

/// The number that each register gets.
fn numbers(function: &Function, intervals: &[Option<Interval>]) -> Vec<Register> {
    let groups = groups(&function.code);
    let mut order: Vec<(Interval, Register)> = intervals
        .iter()
        .zip(0..)
        .filter_map(|(interval, register)| Some(((*interval)?, register)))
        .collect();
    // the parameters are the first registers
    order.sort_by_key(|(interval, register)| {
        let later = *register >= function.params;
        (later, interval.start, *register)
    });
    let mut numbers: Vec<Option<Register>> = vec![None; intervals.len()];
    let mut used = 0;
    let mut held: BinaryHeap<Reverse<(usize, Register)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<Register>> = BinaryHeap::new();
    for (interval, register) in order {
        if numbers[register as usize].is_some() {
            continue;
        }
        while let Some(Reverse((end, number))) = held.peek().copied() {
            if end >= interval.start {
                break;
            }
            held.pop();
            free.push(Reverse(number));
        }
        let (first, count) = groups.get(&register).copied().unwrap_or((register, 1));
        for register in first..first + count {
            let number = match free.pop() {
                Some(Reverse(number)) if count == 1 => number,
                other => {
                    free.extend(other);
                    used += 1;
                    used - 1
                }
            };
            numbers[register as usize] = Some(number);
            let end = intervals[register as usize].map_or(interval.end, |other| other.end);
            held.push(Reverse((end, number)));
        }
    }
    numbers.into_iter().map(Option::unwrap_or_default).collect()
}

/// The registers that an instruction writes as consecutive ones: the first of them, and how many.
fn groups(code: &[Inst]) -> FxHashMap<Register, (Register, u32)> {
    let mut found = FxHashMap::default();
    for inst in code {
        for (first, count) in parts(&inst.op).1 {
            if count > 1 {
                found.extend((*first..*first + count).map(|register| (register, (*first, count))));
            }
        }
    }
    found
}
