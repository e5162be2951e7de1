//! Loops that look at shared memory a limited number of times: the register that counts, and the
//! branches that leave the loop on it.
//!
//! ```text
//! for (spins = 100; spins != 0; spins--)
//!     if (load(lock) == FREE) return TRUE;
//! ```
//!
//! Each iteration of such a loop leaves it, or returns to its header with nothing changed but the
//! counter, and what it has read: nothing is written inside, except by a compare-exchange whose success
//! ends the loop, other registers are carried from one iteration to the next only to be used behind the
//! loop, and the counter decides nothing but when the loop is left, and is not used behind it.
//!
//! **What is left out.** After a round in vain, in which the thread has one event, a read, and everything but
//! the counter is as before, the explorer continues with the counter of the last round
//! ([`Counter::after_rounds`]). Why no behaviour is lost or added is argued in docs/reductions.md,
//! `bounded-spins`.
use crate::ir::instruction::{BinOp, Edge, Inst, Op, Operand, Register};
use crate::ir::program::{Counter, CounterTest};
use crate::lower::cfg::LoopInfo;
use crate::lower::exchanges::Paths;
use crate::lower::registers::{register, visit};
use crate::lower::relevance::{has_effect, Relevance};
use bit_set::BitSet;

fn is_in(operand: Operand, registers: &BitSet) -> bool {
    register(operand).is_some_and(|register| registers.contains(register as usize))
}

/// A loop, and what is known of its function.
pub struct Candidate<'c> {
    pub code: &'c [Inst],
    pub ranges: &'c [(usize, usize)],
    pub info: &'c LoopInfo,
    /// The registers that are live at the start of each block, as far as they are relevant.
    pub live: &'c [BitSet],
    pub relevant: &'c Relevance,
}

impl Candidate<'_> {
    pub fn counter(&self) -> Option<Counter> {
        let (counter, carried) = self.carried()?;
        let stepped = self.where_it_stays(carried)?;
        let (at, step, bits) = self.step(counter, stepped)?;
        let mut tests = Vec::new();
        let counts = BitSet::from_iter([counter, stepped, carried].map(|each| each as usize));
        // and what is computed of the two
        let mut counted = counts.clone();
        for other in self.inside().filter(|other| *other != at) {
            let op = &self.code[other].op;
            if has_effect(op) && !matches!(op, Op::Load { .. }) && !self.is_attempt(other) {
                return None;
            }
            if self.reads(other, &counts) {
                tests.extend(self.tests(op, (counter, stepped), &mut counted)?);
            }
        }
        let kept = self.edges().all(|edge| self.keeps(edge, &counted));
        (kept && !tests.is_empty()).then_some(Counter {
            register: counter,
            step,
            bits,
            tests,
        })
    }

    /// Whether an instruction is a compare-exchange of what the loop reads, which ends it by success.
    fn is_attempt(&self, at: usize) -> bool {
        let Op::Cas { address, .. } = self.code[at].op else {
            return false;
        };
        let reads_other = |at: usize| matches!(self.code[at].op, Op::Load { address: other, .. } if other != address);
        self.stays(address)
            && !self.inside().any(reads_other)
            && self.paths(false).leave_on_success(at)
    }

    fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.info.body.iter()
    }

    /// The instructions of the loop that are relevant, by their places.
    fn inside(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.blocks().flat_map(|block| {
            let (start, end) = self.ranges[block];
            start..end
        });
        all.filter(|at| self.relevant.instructions.contains(*at))
    }

    /// The edges out of the loop's blocks.
    fn edges(&self) -> impl Iterator<Item = &Edge> + '_ {
        let ranges = self.blocks().map(|block| self.ranges[block]);
        let code = ranges.flat_map(|(start, end)| &self.code[start..end]);
        code.flat_map(Inst::edges)
    }

    fn is_relevant(&self, register: Register) -> bool {
        self.relevant.registers.contains(register as usize)
    }

    /// The register that counts, and the one whose value it gets with each iteration. What else an
    /// iteration changes holds what it has read.
    fn carried(&self) -> Option<(Register, Register)> {
        let mut found = None;
        let header = self.info.header;
        for edge in self.edges().filter(|edge| edge.to as usize == header) {
            let live = |dst: Register| self.live[header].contains(dst as usize);
            let moves = edge
                .moves
                .iter()
                .filter(|(dst, from)| live(*dst) && *from != Operand::Register(*dst));
            let counts = moves.filter(|(dst, from)| !self.holds_read(*dst, *from));
            let counts: Vec<_> = counts.collect();
            let [(dst, Operand::Register(from))] = counts[..] else {
                return None;
            };
            if found.is_some_and(|other| other != (*dst, *from)) {
                return None;
            }
            found = Some((*dst, *from));
        }
        found
    }

    /// The register whose value a register has where the loop is not left: itself, or what it gets
    /// from each edge but those by which the loop is left, as in `load(x) && --i > 0`.
    fn where_it_stays(&self, joined: Register) -> Option<Register> {
        let mut found = None;
        for edge in self.edges().filter(|edge| self.continues(edge)) {
            let moved = edge.moves.iter().find(|(dst, _)| *dst == joined);
            match moved {
                Some((_, Operand::Register(from))) if !self.leaves(edge) => {
                    if found.is_some_and(|other| other != *from) {
                        return None;
                    }
                    found = Some(*from);
                }
                Some(_) if !self.leaves(edge) => return None,
                _ => {}
            }
        }
        Some(found.unwrap_or(joined))
    }

    /// Whether a register gets what the only access of the loop has read, and a branch depends on that: at
    /// once, where the loop makes no other use of it, or before the next iteration reads.
    fn holds_read(&self, dst: Register, from: Operand) -> bool {
        let reads = |at: &usize| matches!(self.code[*at].op, Op::Load { .. } | Op::Cas { .. });
        let loads: Vec<usize> = self.inside().filter(reads).collect();
        let [at] = loads[..] else {
            return false;
        };
        let Op::Load { dst: read, .. } = self.code[at].op else {
            return false;
        };
        let computed = self.computed_of(dst);
        from == Operand::Register(read)
            && match self.inside().any(|at| self.reads(at, &computed)) {
                true => self.decides_next(at, &computed),
                false => computed.iter().eq([dst as usize]) && self.decides(at, read),
            }
    }

    /// A register, and those that an iteration computes of it.
    fn computed_of(&self, first: Register) -> BitSet {
        let mut computed = BitSet::new();
        let mut found = vec![first as usize];
        while found.iter().any(|each| !computed.contains(*each)) {
            computed.extend(found.drain(..));
            for at in self.inside().filter(|at| self.reads(*at, &computed)) {
                visit(&self.code[at].op, &mut |register, write| {
                    found.extend(write.then_some(register as usize));
                });
            }
            let inside = self.edges().filter(|edge| self.continues(edge));
            let moved = inside.flat_map(|edge| &edge.moves);
            let moved = moved.filter(|(_, from)| is_in(*from, &computed));
            found.extend(moved.map(|(dst, _)| *dst as usize));
        }
        computed
    }

    /// Whether a branch of an iteration depends on what was computed of the last one's read, which the
    /// iteration does not use once it has read itself.
    fn decides_next(&self, load: usize, computed: &BitSet) -> bool {
        let contains =
            |block: &usize| (self.ranges[*block].0..self.ranges[*block].1).contains(&load);
        let mut left: Vec<usize> = self.blocks().filter(contains).collect();
        let end = left.first().map_or(load, |block| self.ranges[*block].1);
        let mut later: BitSet = (load..end).collect();
        while let Some(block) = left.pop() {
            let edges = self.code[self.ranges[block].1 - 1].edges();
            for edge in edges.into_iter().filter(|edge| self.continues(edge)) {
                let (start, end) = self.ranges[edge.to as usize];
                if later.insert(start) {
                    later.extend(start..end);
                    left.push(edge.to as usize);
                }
            }
        }
        let carries = |edge: &Edge| {
            let mut moves = edge.moves.iter();
            moves.any(|(dst, from)| is_in(*from, computed) && *from != Operand::Register(*dst))
        };
        let ends = self.blocks().map(|block| self.ranges[block].1 - 1);
        let mut edges = ends.flat_map(|end| {
            self.code[end]
                .edges()
                .into_iter()
                .map(move |edge| (end, edge))
        });
        let decides = |at: usize| match self.code[at].op {
            Op::CondBr { condition, .. } => is_in(condition, computed),
            _ => false,
        };
        self.inside().any(decides)
            && !self
                .inside()
                .any(|at| later.contains(at) && self.reads(at, computed))
            && !edges.any(|(end, edge)| {
                let again = edge.to as usize == self.info.header;
                (again || later.contains(end) && self.continues(edge)) && carries(edge)
            })
    }

    /// Whether the block of a load ends with a branch on a comparison of what was read.
    fn decides(&self, load: usize, read: Register) -> bool {
        let ranges = self.blocks().map(|block| self.ranges[block]);
        let mut around = ranges.filter(|(start, end)| (*start..*end).contains(&load));
        let Some((_, end)) = around.next() else {
            return false;
        };
        let Op::CondBr {
            condition: Operand::Register(condition),
            ..
        } = self.code[end - 1].op
        else {
            return false;
        };
        let compares = |inst: &Inst| match inst.op {
            Op::Compare { dst, a, b, .. } => {
                dst == condition && [a, b].contains(&Operand::Register(read))
            }
            _ => false,
        };
        self.code[load..end].iter().any(compares)
    }

    /// The instruction that computes `stepped` from `counter`, what it adds, and its width in bits.
    fn step(&self, counter: Register, stepped: Register) -> Option<(usize, u64, u32)> {
        let mut by = self.inside().filter(|at| {
            let mut writes = false;
            visit(&self.code[*at].op, &mut |register, write| {
                writes |= write && register == stepped;
            });
            writes
        });
        let at = by.next()?;
        match (&self.code[at].op, by.next()) {
            (
                Op::Bin {
                    op: op @ (BinOp::Add | BinOp::Sub),
                    bits,
                    a: Operand::Register(a),
                    b: Operand::Const(b),
                    ..
                },
                None,
            ) if *a == counter => {
                let step = match op {
                    BinOp::Sub => b.wrapping_neg(),
                    _ => *b,
                };
                Some((at, step, *bits))
            }
            _ => None,
        }
    }

    fn reads(&self, at: usize, registers: &BitSet) -> bool {
        let mut reads = false;
        visit(&self.code[at].op, &mut |register, write| {
            reads |= !write && registers.contains(register as usize);
        });
        reads
    }

    /// A comparison of the counter with something that stays the same in the loop, for each branch that
    /// depends on it. What is computed of it is added to `counted`.
    fn tests(
        &self,
        op: &Op,
        counter: (Register, Register),
        counted: &mut BitSet,
    ) -> Option<Vec<CounterTest>> {
        let Op::Compare {
            predicate,
            bits,
            dst,
            a,
            b,
            ..
        } = *op
        else {
            return None;
        };
        let side = |operand: Operand| match operand {
            Operand::Register(r) if r == counter.0 => Some(false),
            Operand::Register(r) if r == counter.1 => Some(true),
            _ => None,
        };
        let (stepped, bound, reversed) = match (side(a), side(b)) {
            (Some(stepped), None) => (stepped, b, false),
            (None, Some(stepped)) => (stepped, a, true),
            _ => return None,
        };
        if !self.stays(bound) {
            return None;
        }
        let test = |holds| CounterTest {
            predicate,
            bits,
            stepped,
            bound,
            reversed,
            holds,
        };
        let outcomes = self.outcomes(dst, counted)?;
        Some(outcomes.into_iter().map(test).collect())
    }

    /// The values of a condition without which the loop is left, one for each branch that depends on it.
    fn outcomes(&self, condition: Register, counted: &mut BitSet) -> Option<Vec<bool>> {
        counted.insert(condition as usize);
        let this = Operand::Register(condition);
        let of_this = BitSet::from_iter([condition as usize]);
        let mut outcomes = Vec::new();
        for by in self.inside().filter(|by| self.reads(*by, &of_this)) {
            let (dst, needed) = match self.code[by].op {
                Op::CondBr {
                    ref then,
                    ref otherwise,
                    ..
                } => {
                    outcomes.push(match (self.leaves(then), self.leaves(otherwise)) {
                        (false, true) => true,
                        (true, false) => false,
                        _ => return None,
                    });
                    continue;
                }
                // a || b and a && b, with and without evaluating b
                Op::Select { dst, a, b, .. } if a == Operand::Const(1) && b != a => (dst, false),
                Op::Select { dst, a, b, .. } if b == Operand::Const(0) && b != a => (dst, true),
                Op::Bin {
                    op: BinOp::Or,
                    bits: 1,
                    dst,
                    a,
                    b,
                } if a != b => (dst, false),
                Op::Bin {
                    op: BinOp::And,
                    bits: 1,
                    dst,
                    a,
                    b,
                } if a != b => (dst, true),
                Op::Bin {
                    op: BinOp::Xor,
                    bits: 1,
                    dst,
                    a,
                    b: Operand::Const(1),
                } if a == this => {
                    let others = self.outcomes(dst, counted)?;
                    outcomes.extend(others.into_iter().map(|holds| !holds));
                    continue;
                }
                _ => return None,
            };
            let others = self.outcomes(dst, counted)?;
            if others.iter().any(|holds| *holds != needed) {
                return None;
            }
            outcomes.extend(others);
        }
        // a && b, where b is evaluated in a block of its own
        for edge in self.edges().filter(|edge| self.continues(edge)) {
            for (dst, _) in edge.moves.iter().filter(|(_, from)| *from == this) {
                if counted.contains(*dst as usize) {
                    return None;
                }
                outcomes.extend(self.outcomes(*dst, counted)?);
            }
        }
        Some(outcomes)
    }

    /// Whether an edge leads to another block of the same iteration.
    fn continues(&self, edge: &Edge) -> bool {
        let to = edge.to as usize;
        to != self.info.header && self.info.body.contains(to)
    }

    /// Whether an operand has the same value in all iterations: it is not computed in the loop, or
    /// is an offset from, or a copy of, what has.
    fn stays(&self, operand: Operand) -> bool {
        let Operand::Register(wanted) = operand else {
            return true;
        };
        let stays = |inst: &Inst| {
            let mut written = false;
            visit(&inst.op, &mut |register, write| {
                written |= write && register == wanted;
            });
            match &inst.op {
                _ if !written => true,
                Op::Gep { base, scaled, .. } => scaled.is_empty() && self.stays(*base),
                Op::Copy { a, .. } => self.stays(*a),
                _ => false,
            }
        };
        let moves = |edge: &Edge| edge.moves.iter().any(|(dst, _)| *dst == wanted);
        let mut ranges = self.blocks().map(|block| self.ranges[block]);
        ranges.all(|(start, end)| self.code[start..end].iter().all(stays))
            && !self.edges().any(moves)
    }

    /// Whether an edge leads out of the loop, with no effect inside it: at once, or by branches on
    /// constants that it carries.
    fn leaves(&self, edge: &Edge) -> bool {
        self.paths(true).leave_by(edge)
    }

    fn paths(&self, silent: bool) -> Paths<'_> {
        Paths {
            code: self.code,
            ranges: self.ranges,
            info: self.info,
            silent,
        }
    }

    /// Whether what is counted is neither carried along an edge, except to the next iteration or to a
    /// branch on it, nor used behind the loop.
    fn keeps(&self, edge: &Edge, counted: &BitSet) -> bool {
        let to = edge.to as usize;
        let mut carried = edge
            .moves
            .iter()
            .filter(|(dst, from)| self.is_relevant(*dst) && is_in(*from, counted));
        match self.continues(edge) {
            true => carried.all(|(dst, _)| counted.contains(*dst as usize)),
            false => {
                to == self.info.header
                    || carried.next().is_none() && self.live[to].is_disjoint(counted)
            }
        }
    }
}
