//! The control flow graph of a function: its loops, and the registers live at their headers.
use bit_set::BitSet;

/// Blocks are numbered; `edges[b]` are the targets of block `b`'s terminator.
pub struct ControlFlowGraph {
    pub edges: Vec<Vec<usize>>,
    /// Blocks from which every path ends in `unreachable`, as after a failed assertion.
    pub cold: Vec<bool>,
}

pub struct LoopInfo {
    pub header: usize,
    pub body: BitSet,
}

/// How a block uses registers, for liveness.
#[derive(Default, Clone)]
pub struct Usage {
    /// Read before any write in the block.
    pub uses: BitSet,
    pub defs: BitSet,
    /// For each edge, the registers that its phi moves write, and those they read.
    pub moves: Vec<(Vec<u32>, Vec<u32>)>,
}

impl ControlFlowGraph {
    /// The natural loops: a header is the target of a back edge of the depth-first search.
    pub fn loops(&self) -> Vec<LoopInfo> {
        let n = self.edges.len();
        // 0 new, 1 on the path, 2 done
        let mut state = vec![0u8; n];
        let mut back: Vec<(usize, usize)> = Vec::new();
        let mut stack = vec![(0usize, 0usize)];
        if n == 0 {
            return Vec::new();
        }
        state[0] = 1;
        while let Some((block, k)) = stack.pop() {
            match self.edges[block].get(k) {
                Some(&to) => {
                    stack.push((block, k + 1));
                    match state[to] {
                        0 => {
                            state[to] = 1;
                            stack.push((to, 0));
                        }
                        1 => back.push((block, to)),
                        _ => {}
                    }
                }
                None => state[block] = 2,
            }
        }
        let mut preds = vec![Vec::new(); n];
        for (from, targets) in self.edges.iter().enumerate() {
            for to in targets {
                preds[*to].push(from);
            }
        }
        let mut loops: Vec<LoopInfo> = Vec::new();
        for (from, header) in back {
            let index = match loops.iter().position(|l| l.header == header) {
                Some(index) => index,
                None => {
                    let mut body = BitSet::new();
                    body.insert(header);
                    loops.push(LoopInfo { header, body });
                    loops.len() - 1
                }
            };
            let body = &mut loops[index].body;
            let mut work = vec![from];
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(&preds[block]);
                }
            }
        }
        loops
    }

    /// Registers live on entry to each block, after the phis.
    pub fn live(&self, usage: &[Usage]) -> Vec<BitSet> {
        let n = self.edges.len();
        let mut live = vec![BitSet::new(); n];
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..n).rev() {
                let mut now = BitSet::new();
                for (k, to) in self.edges[block].iter().enumerate() {
                    let mut through = live[*to].clone();
                    if let Some((writes, reads)) = usage[block].moves.get(k) {
                        for register in writes {
                            through.remove(*register as usize);
                        }
                        through.extend(reads.iter().map(|register| *register as usize));
                    }
                    now.union_with(&through);
                }
                now.difference_with(&usage[block].defs);
                now.union_with(&usage[block].uses);
                if now != live[block] {
                    live[block] = now;
                    changed = true;
                }
            }
        }
        live
    }

    /// For each block, the blocks that it is control dependent on (Ferrante, Ottenstein, Warren, "The
    /// program dependence graph and its use in optimization", TOPLAS 1987); and the blocks from which
    /// no path leaves the function.
    pub fn control_dependences(&self, reached: &[usize]) -> (Vec<Vec<usize>>, BitSet) {
        let n = self.edges.len();
        let mut ends: BitSet = reached
            .iter()
            .copied()
            .filter(|block| self.edges[*block].is_empty())
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for block in reached.iter().rev() {
                if !ends.contains(*block) && self.edges[*block].iter().any(|to| ends.contains(*to))
                {
                    changed |= ends.insert(*block);
                }
            }
        }
        let endless: BitSet = reached
            .iter()
            .copied()
            .filter(|block| !ends.contains(*block))
            .collect();
        // block n is the end; every endless block may go there
        let successors = |block: usize| {
            let mut to = self.edges[block].clone();
            if to.is_empty() || endless.contains(block) {
                to.push(n);
            }
            to
        };
        let all: BitSet = reached.iter().copied().chain([n]).collect();
        let mut after: Vec<BitSet> = vec![all; n + 1];
        after[n] = BitSet::from_iter([n]);
        let mut changed = true;
        while changed {
            changed = false;
            for block in reached.iter().rev() {
                let mut to = successors(*block).into_iter();
                let mut now = to.next().map_or_else(BitSet::new, |b| after[b].clone());
                for other in to {
                    now.intersect_with(&after[other]);
                }
                now.insert(*block);
                if now != after[*block] {
                    after[*block] = now;
                    changed = true;
                }
            }
        }
        let mut controls = vec![Vec::new(); n];
        for by in reached {
            let to = successors(*by);
            if to.len() < 2 {
                continue;
            }
            for block in reached {
                let runs = to.iter().any(|t| after[*t].contains(*block));
                let always = after[*by].contains(*block) && block != by;
                if runs && !always {
                    controls[*block].push(*by);
                }
            }
        }
        (controls, endless)
    }

    /// For each block, its immediate post-dominator, where code that ends in `unreachable` is left out;
    /// none where paths meet at the end of the function alone.
    pub fn joins(&self, reached: &[usize]) -> Vec<Option<usize>> {
        let n = self.edges.len();
        let warm = |block: usize| {
            let targets = self.edges[block].iter().copied();
            targets.filter(|to| !self.cold[*to])
        };
        // block n is the end
        let all: BitSet = reached.iter().copied().chain([n]).collect();
        let mut after: Vec<BitSet> = vec![all; n];
        let mut changed = true;
        while changed {
            changed = false;
            for block in reached.iter().rev() {
                let now = warm(*block).map(|to| after[to].clone());
                let now = now.reduce(|mut all, one| {
                    all.intersect_with(&one);
                    all
                });
                let mut now = now.unwrap_or_else(|| BitSet::from_iter([n]));
                now.insert(*block);
                if now != after[*block] {
                    after[*block] = now;
                    changed = true;
                }
            }
        }
        let nearest = |block: usize| {
            let others = after[block]
                .iter()
                .filter(|other| ![block, n].contains(other));
            others.max_by_key(|other| after[*other].count())
        };
        (0..n).map(nearest).collect()
    }
}
