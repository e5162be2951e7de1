//! The sets and relations of a typed plan on one graph as rows of bits, and the execution of
//! instructions on them.
use crate::plan::operation::OpId;
use crate::syntax::ast::Claim;
use crate::types::instruction::{
    Instruction, Slot, ALL_EVENTS, ALL_PAIRS, IDENTITY, NO_EVENTS, NO_PAIRS,
};
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;
use relation::rows;
use relation::{Relation, Set};

/// The values of slots. The bits of a slot that is marked as empty are meaningless.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub n: usize,
    pub stride: usize,
    /// The rows of all sets, and of all relations, slot after slot.
    sets: Vec<u64>,
    relations: Vec<u64>,
    /// Whether a slot is marked as empty.
    no_events: Vec<bool>,
    no_pairs: Vec<bool>,
}

impl Rows {
    /// Prepares for a graph of `n` events in which everything given is empty. Other slots may have
    /// values of previous graphs; each is computed before it is read.
    pub fn begin(&mut self, typed: &TypedPlan, n: usize) {
        if (self.n, self.no_events.len()) != (n, typed.sets) || self.stride == 0 {
            self.lay_out(typed, n);
        }
        for taken in &typed.inputs {
            match taken.ty {
                Type::Set => self.set_mut(taken.slot).fill(0),
                _ => self.relation_mut(taken.slot).fill(0),
            }
        }
    }

    /// Places the slots for graphs of `n` events, in the memory of graphs of another size, which is
    /// not cleared, and sets the constants.
    fn lay_out(&mut self, typed: &TypedPlan, n: usize) {
        (self.n, self.stride) = (n, rows::stride(n));
        let (sets, relations) = (typed.sets * self.stride, typed.relations * n * self.stride);
        self.sets.resize(sets.max(self.sets.len()), 0);
        self.relations
            .resize(relations.max(self.relations.len()), 0);
        self.no_events.clear();
        self.no_events.resize(typed.sets, true);
        self.no_pairs.clear();
        self.no_pairs.resize(typed.relations, true);
        self.set_mut(NO_EVENTS).fill(0);
        self.relation_mut(NO_PAIRS).fill(0);
        self.no_events[NO_EVENTS as usize] = true;
        self.no_pairs[NO_PAIRS as usize] = true;
        rows::full_set(n, self.set_mut(ALL_EVENTS));
        rows::full(n, self.relation_mut(ALL_PAIRS));
        let stride = self.stride;
        let identity = self.relation_mut(IDENTITY);
        identity.fill(0);
        rows::add_identity(stride, identity);
    }

    pub fn set(&self, slot: Slot) -> &[u64] {
        &self.sets[slot as usize * self.stride..][..self.stride]
    }

    /// The first 64 events of a set, as bits.
    pub fn word(&self, slot: Slot) -> u64 {
        match self.no_events[slot as usize] {
            true => 0,
            false => self.set(slot)[0],
        }
    }

    /// The set in a slot, for writing.
    pub fn set_mut(&mut self, slot: Slot) -> &mut [u64] {
        self.no_events[slot as usize] = false;
        &mut self.sets[slot as usize * self.stride..][..self.stride]
    }

    pub fn relation(&self, slot: Slot) -> &[u64] {
        let size = self.n * self.stride;
        &self.relations[slot as usize * size..][..size]
    }

    /// The relation in a slot, for writing.
    pub fn relation_mut(&mut self, slot: Slot) -> &mut [u64] {
        let size = self.n * self.stride;
        self.no_pairs[slot as usize] = false;
        &mut self.relations[slot as usize * size..][..size]
    }

    pub fn has_no_pairs(&self, slot: Slot) -> bool {
        self.no_pairs[slot as usize]
    }

    pub fn put_set(&mut self, slot: Slot, set: &Set) {
        set.write(self.set_mut(slot));
        self.no_events[slot as usize] = set.is_empty();
    }

    pub fn put_relation(&mut self, slot: Slot, relation: &Relation) {
        self.relation_mut(slot).copy_from_slice(relation.rows());
        self.no_pairs[slot as usize] = relation.is_empty();
    }

    /// Adds the pairs from `from` to every event of `to`.
    pub fn insert_all(&mut self, slot: Slot, from: usize, to: &Set) {
        let stride = self.stride;
        let row = &mut self.relation_mut(slot)[from * stride..][..stride];
        to.add_to(row);
    }

    /// Removes the pairs from `from` to every event of `to`.
    pub fn remove_all(&mut self, slot: Slot, from: usize, to: &Set) {
        let stride = self.stride;
        let row = &mut self.relation_mut(slot)[from * stride..][..stride];
        to.take_from(row);
    }

    /// Removes the mark of emptiness.
    pub fn open(&mut self, ty: Type, slot: Slot) {
        match ty {
            Type::Set => self.no_events[slot as usize] = false,
            Type::Relation => self.no_pairs[slot as usize] = false,
            _ => {}
        }
    }

    /// Whether an instruction yields the empty value because of operands that are marked as empty;
    /// marks its slot then.
    pub fn yields_empty(&mut self, typed: &TypedPlan, id: OpId) -> bool {
        let nothing = typed.instructions[id as usize]
            .yields_empty(&|slot| self.no_events[slot as usize], &|slot| {
                self.no_pairs[slot as usize]
            });
        if nothing {
            let slot = typed.slots[id as usize] as usize;
            match typed.types[id as usize] {
                Type::Set => self.no_events[slot] = true,
                _ => self.no_pairs[slot] = true,
            }
        }
        nothing
    }

    /// Marks the empty ones among the slots of what is given.
    pub fn given(&mut self, typed: &TypedPlan) {
        for taken in &typed.inputs {
            let slot = taken.slot as usize;
            match taken.ty {
                Type::Set => self.no_events[slot] = !rows::some(self.set(taken.slot)),
                _ => self.no_pairs[slot] = !rows::some(self.relation(taken.slot)),
            }
        }
    }

    pub fn to_set(&self, slot: Slot) -> Set {
        match self.no_events[slot as usize] {
            true => Set::new(self.n),
            false => Set::from_words(self.n, self.set(slot)),
        }
    }

    pub fn to_relation(&self, slot: Slot) -> Relation {
        match self.no_pairs[slot as usize] {
            true => Relation::new(self.n),
            false => Relation::from_rows(self.n, self.relation(slot)),
        }
    }

    /// Whether the sequence of two relations is irreflexive.
    pub fn is_sequence_irreflexive(&self, (a, b): (Slot, Slot)) -> bool {
        self.no_pairs[a as usize]
            || self.no_pairs[b as usize]
            || rows::is_sequence_irreflexive(self.stride, self.relation(a), self.relation(b))
    }

    /// Whether a claim holds for a relation; for a set, whether it is empty.
    pub fn holds(&self, claim: Claim, ty: Type, slot: Slot) -> bool {
        if ty == Type::Set {
            return self.no_events[slot as usize] || !rows::some(self.set(slot));
        }
        if self.no_pairs[slot as usize] {
            return true;
        }
        let relation = self.relation(slot);
        match claim {
            Claim::Acyclic => rows::is_acyclic(self.stride, relation),
            Claim::Irreflexive => rows::is_irreflexive(self.stride, relation),
            Claim::Empty => !rows::some(relation),
        }
    }

    /// Executes the instruction of an operation.
    pub fn run(&mut self, typed: &TypedPlan, id: OpId) {
        match &typed.instructions[id as usize] {
            Instruction::None | Instruction::OnValues | Instruction::Item => {}
            Instruction::Fix(group) => self.fixpoint(typed, *group),
            instr => match typed.types[id as usize] {
                Type::Set => self.run_set(instr, typed.slots[id as usize]),
                _ => self.run_relation(instr, typed.slots[id as usize]),
            },
        }
    }

    fn run_set(&mut self, instr: &Instruction, slot: Slot) {
        let stride = self.stride;
        let (before, out) = self.sets.split_at_mut(slot as usize * stride);
        let out = &mut out[..stride];
        let set = |slot: Slot| &before[slot as usize * stride..][..stride];
        let empty = |slot: Slot| self.no_events[slot as usize];
        let (n, size) = (self.n, self.n * stride);
        let relation = |slot: Slot| &self.relations[slot as usize * size..][..size];
        let any = match instr {
            Instruction::SetUnion(items) => {
                out.fill(0);
                let mut any = false;
                for item in items.iter().filter(|item| !empty(**item)) {
                    rows::unite(set(*item), out);
                    any = true;
                }
                any
            }
            Instruction::SetIntersection(a, b) => {
                !empty(*a) && !empty(*b) && rows::intersection(set(*a), set(*b), out)
            }
            Instruction::SetDifference(a, b) => match (empty(*a), empty(*b)) {
                (true, _) => false,
                (false, true) => {
                    out.copy_from_slice(set(*a));
                    true
                }
                (false, false) => rows::difference(set(*a), set(*b), out),
            },
            Instruction::SetComplement(a) => {
                let a = if empty(*a) { 0 } else { *a };
                rows::complement(n, stride, set(a), out)
            }
            Instruction::Domain(a) if !self.no_pairs[*a as usize] => {
                rows::domain(stride, relation(*a), out);
                true
            }
            Instruction::Range(a) if !self.no_pairs[*a as usize] => {
                rows::range(stride, relation(*a), out);
                true
            }
            _ => false,
        };
        self.no_events[slot as usize] = !any;
    }

    fn run_relation(&mut self, instr: &Instruction, slot: Slot) {
        let (stride, size) = (self.stride, self.n * self.stride);
        let (before, out) = self.relations.split_at_mut(slot as usize * size);
        let out = &mut out[..size];
        let relation = |slot: Slot| &before[slot as usize * size..][..size];
        let empty = |slot: Slot| self.no_pairs[slot as usize];
        let set = |slot: Slot| &self.sets[slot as usize * stride..][..stride];
        let no_events = |slot: Slot| self.no_events[slot as usize];
        let any = match instr {
            Instruction::Union(items) => {
                let mut live = items.iter().filter(|item| !empty(**item));
                match live.next() {
                    None => false,
                    Some(first) => {
                        out.copy_from_slice(relation(*first));
                        live.for_each(|item| rows::unite(relation(*item), out));
                        true
                    }
                }
            }
            Instruction::Intersection(a, b) => {
                !empty(*a) && !empty(*b) && rows::intersection(relation(*a), relation(*b), out)
            }
            Instruction::Difference(a, b) => match (empty(*a), empty(*b)) {
                (true, _) => false,
                (false, true) => {
                    out.copy_from_slice(relation(*a));
                    true
                }
                (false, false) => rows::difference(relation(*a), relation(*b), out),
            },
            Instruction::Complement(a) => {
                let a = if empty(*a) { 0 } else { *a };
                rows::complement(self.n, stride, relation(a), out)
            }
            Instruction::Product(a, b) => {
                !no_events(*a) && !no_events(*b) && rows::product(stride, set(*a), set(*b), out)
            }
            Instruction::Sequence(a, b, transitive) => {
                let sequence = match transitive {
                    true => rows::sequence_with_transitive,
                    false => rows::sequence,
                };
                !empty(*a) && !empty(*b) && sequence(stride, relation(*a), relation(*b), out)
            }
            Instruction::Restrict(from, inner, to) => {
                let mut sides = from.iter().chain(to);
                !empty(*inner)
                    && !sides.any(|side| no_events(*side))
                    && rows::restrict(stride, from.map(set), relation(*inner), to.map(set), out)
            }
            Instruction::Identity(a) => !no_events(*a) && rows::identity(stride, set(*a), out),
            Instruction::Inverse(a) | Instruction::Plus(a) if empty(*a) => false,
            Instruction::Inverse(a) => {
                rows::inverse(stride, relation(*a), out);
                true
            }
            Instruction::Plus(a) => {
                out.copy_from_slice(relation(*a));
                rows::close(stride, out);
                true
            }
            Instruction::Star(a) | Instruction::Optional(a) => {
                if empty(*a) {
                    out.fill(0);
                } else {
                    out.copy_from_slice(relation(*a));
                    if matches!(instr, Instruction::Star(_)) {
                        rows::close(stride, out);
                    }
                }
                rows::add_identity(stride, out);
                true
            }
            _ => false,
        };
        self.no_pairs[slot as usize] = !any;
    }

    /// Computes the names of a `let rec` as a least fixpoint: from the empty value, each name from
    /// the latest values of the others, until none changes. Inference ensures that they only grow.
    fn fixpoint(&mut self, typed: &TypedPlan, group: u32) {
        let group = &typed.plan.operations.groups[group as usize];
        for variable in &group.variables {
            match typed.type_of(*variable) {
                Type::Set => self.no_events[typed.slot(*variable) as usize] = true,
                Type::Relation => self.no_pairs[typed.slot(*variable) as usize] = true,
                _ => {}
            }
        }
        loop {
            let mut stable = true;
            for (index, variable) in group.variables.iter().enumerate() {
                for inner in &group.inner[index] {
                    self.run(typed, *inner);
                }
                let (from, to) = (group.bodies[index], typed.slot(*variable));
                stable &= match typed.type_of(*variable) {
                    Type::Set => self.keep_set(typed.slot(from), to),
                    Type::Relation => self.keep_relation(typed.slot(from), to),
                    _ => true,
                };
            }
            if stable {
                return;
            }
        }
    }

    /// Copies a set to the slot of its previous value; returns whether it is unchanged.
    fn keep_set(&mut self, from: Slot, to: Slot) -> bool {
        if self.no_events[from as usize] || from == to {
            return true;
        }
        let start = from as usize * self.stride;
        let same = !self.no_events[to as usize] && self.set(from) == self.set(to);
        let to_start = to as usize * self.stride;
        self.sets.copy_within(start..start + self.stride, to_start);
        self.no_events[to as usize] = false;
        same
    }

    /// Copies a relation to the slot of its previous value; returns whether it is unchanged.
    fn keep_relation(&mut self, from: Slot, to: Slot) -> bool {
        if self.no_pairs[from as usize] || from == to {
            return true;
        }
        let size = self.n * self.stride;
        let start = from as usize * size;
        let same = !self.no_pairs[to as usize] && self.relation(from) == self.relation(to);
        self.relations
            .copy_within(start..start + size, to as usize * size);
        self.no_pairs[to as usize] = false;
        same
    }
}
