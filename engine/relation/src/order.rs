//! Closures, cycles and orders.
use super::{rows, Relation, Set};

impl Relation {
    /// The transitive closure.
    pub fn closure(&self) -> Relation {
        let mut relation = self.clone();
        relation.close();
        relation
    }

    /// The reflexive transitive closure.
    pub fn reflexive_closure(&self) -> Relation {
        let mut relation = self.closure();
        relation.add_identity();
        relation
    }

    /// Makes the relation its own transitive closure.
    pub fn close(&mut self) {
        rows::close(self.stride, &mut self.rows);
    }

    /// Whether no event leads to itself.
    pub fn is_irreflexive(&self) -> bool {
        rows::is_irreflexive(self.stride, &self.rows)
    }

    /// Whether no path leads from an event to itself.
    pub fn is_acyclic(&self) -> bool {
        rows::is_acyclic(self.stride, &self.rows)
    }

    /// A shortest cycle, as the events on it, each leading to the next and the last to the
    /// first. Among the shortest, the one through the least event.
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let cycles = (0..self.len).filter_map(|start| self.cycle_through(start));
        cycles.min_by_key(Vec::len)
    }

    /// A shortest cycle through `start`, breadth first.
    pub fn cycle_through(&self, start: usize) -> Option<Vec<usize>> {
        let mut from = vec![usize::MAX; self.len];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(item) = queue.pop_front() {
            for next in self.successors(item) {
                if next == start {
                    let mut path = vec![item];
                    while path[path.len() - 1] != start {
                        path.push(from[path[path.len() - 1]]);
                    }
                    path.reverse();
                    return Some(path);
                }
                if from[next] == usize::MAX {
                    from[next] = item;
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Every total order of `items` that extends the pairs of this relation among them,
    /// as a strict order relation; none when those pairs have a cycle.
    pub fn linear_extensions(&self, items: &Set) -> LinearExtensions {
        LinearExtensions::new(self, items)
    }
}

/// An iterator over the linear extensions of a relation; see
/// [`Relation::linear_extensions`].
pub struct LinearExtensions {
    /// For each event, those that must precede it.
    before: Vec<Set>,
    items: Set,
    /// The order so far, and for each position the events that may still be placed there.
    chosen: Vec<usize>,
    options: Vec<Set>,
    started: bool,
}

impl LinearExtensions {
    fn new(base: &Relation, items: &Set) -> Self {
        let among = base.restrict_domain(items).restrict_range(items);
        let turned = among.inverse();
        LinearExtensions {
            before: (0..base.len()).map(|item| turned.image(item)).collect(),
            items: items.clone(),
            chosen: Vec::new(),
            options: Vec::new(),
            started: false,
        }
    }

    /// The events that may come next: those not placed whose predecessors are placed.
    fn next_options(&self) -> Set {
        let mut left = self.items.clone();
        for item in &self.chosen {
            left.remove(*item);
        }
        let free = left.iter().filter(|item| !self.before[*item].meets(&left));
        Set::of(left.len(), free)
    }

    fn order(&self) -> Relation {
        let mut relation = Relation::new(self.items.len());
        let mut after = Set::new(self.items.len());
        for item in self.chosen.iter().rev() {
            relation.insert_all(*item, &after);
            after.insert(*item);
        }
        relation
    }
}

impl Iterator for LinearExtensions {
    type Item = Relation;

    fn next(&mut self) -> Option<Relation> {
        let size = self.items.count();
        if !self.started {
            self.started = true;
            if size == 0 {
                return Some(Relation::new(self.items.len()));
            }
            self.options.push(self.next_options());
        } else {
            self.chosen.pop();
        }
        loop {
            let options = self.options.last_mut()?;
            let Some(item) = options.least() else {
                self.options.pop();
                self.chosen.pop();
                continue;
            };
            options.remove(item);
            self.chosen.push(item);
            if self.chosen.len() == size {
                return Some(self.order());
            }
            let next = self.next_options();
            self.options.push(next);
        }
    }
}
