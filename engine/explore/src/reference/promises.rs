//! Graphs in which a read reads from a write that is added after it: those of models that allow cycles
//! of po and rf, and forbid cycles of dependencies and rf (IMM, and the models of machines); and of the
//! Linux kernel's, which allows some of the latter.
//!
//! There, no order of adding events need extend po ∪ rf. So the threads take turns, and a read reads
//! from a write that is there, or is promised a value: its write is added later, by a thread whose turn
//! it is then. The new write is the source of any of the reads that were promised its value. A graph is
//! kept if no promise is left and the model allows it. Any order of turns finds all graphs, since a thread
//! continues in every way in which it does in a larger graph. Here it is the turn of a thread that may
//! write what the first promise says, so that one in vain comes to light early; else of the first thread.
//! Since whose turn it is follows from the graph, and each alternative fixes one source or one place in
//! coherence order, each graph is built once. On the way, the model is asked about the graph in which the
//! reads that have only a promise read from nothing; what it forbids there is dropped if it forbids every
//! graph with more events at the ends of threads.

use super::explorer::Explorer;
use super::node::Node;
use crate::exploration::ExploreError;
use crate::graph::execution_graph::EventId;
use crate::source::{Action, Answer, EventLabel, Initial, ThreadId};

impl Explorer<'_> {
    /// Extends a graph by the event of the thread whose turn it is, in every way, or finds out what it
    /// shows. A thread that may wait for ever at the header of its loop does so, or does not.
    pub fn extend_in_turn(&mut self, mut node: Node) -> Result<(), ExploreError> {
        let exists = |label: &EventLabel| match label.action {
            Action::Read { at, .. } | Action::Write { at, .. } => {
                self.initial(&node.graph, at) != Initial::Outside
            }
            _ => true,
        };
        let next = node
            .certain(exists)
            .or_else(|| node.in_turn(exists, &self.keepers(&node)));
        let mut promised = node.promised.iter();
        if promised.any(|(read, _)| !self.may_be_kept(&node, *read)) {
            return Ok(());
        }
        if let Some((thread, label)) = next {
            let state = node.threads[thread].as_ref();
            if state.is_some_and(|state| state.round.is_some()) {
                let mut stays = node.clone();
                stays.staying.push(thread);
                self.open.push(stays);
            }
            return self.add(&node, thread, &label);
        }
        if !node.promised.is_empty() || !self.checker.is_consistent(&node.graph)? {
            return Ok(());
        }
        node.graph.close_prefixes();
        self.report_hangs(&node);
        match node.staying.is_empty() {
            true => self.conclude(&node),
            false => Ok(()),
        }
    }

    /// Whether a write may be added that has the value that a read was promised.
    fn may_be_kept(&self, node: &Node, read: EventId) -> bool {
        let promised = node.answer(read);
        let mut later = self.written_later(node, read);
        later.any(|(answer, _)| answer == promised)
    }

    /// The threads that may write what the first promise says.
    fn keepers(&self, node: &Node) -> Vec<ThreadId> {
        let Some((first, promised)) = node.promised.first() else {
            return Vec::new();
        };
        let written = self.written_later(node, *first);
        let kept = written.filter(|(answer, _)| answer == promised);
        kept.map(|(_, by)| by).collect()
    }

    /// Whether a thread may write this in a consistent graph. What is written when all others were joined
    /// is read by none, and not among the values.
    pub fn may_write(&self, node: &Node, thread: ThreadId, label: &EventLabel) -> bool {
        let (Some(values), Some(at)) = (&self.values, label.action.at()) else {
            return true;
        };
        let value = label.action.written().value;
        values.may_write(thread, at, value) || node.has_joined_all(thread)
    }

    /// The values that other threads may still write for a read, each with a thread that may.
    fn written_later<'s>(
        &'s self,
        node: &'s Node,
        read: EventId,
    ) -> impl Iterator<Item = (Answer, ThreadId)> + 's {
        let event = node.graph.event(read);
        let before = (event.thread, event.po_predecessor);
        let at = event.at().into_iter();
        let known = at.flat_map(|at| self.values.iter().map(move |values| (at, values)));
        known.flat_map(move |(at, values)| values.later(node, at, before))
    }

    /// Lets a read be promised each value that may be written later.
    pub fn promise(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
    ) -> Result<(), ExploreError> {
        let Some(values) = &self.values else {
            return Ok(());
        };
        let at = node.graph.locations[location as usize].at;
        let last = node.graph.threads[thread].last;
        let mut promises: Vec<Answer> = Vec::new();
        for (answer, _) in values.later(node, at, (thread, last)) {
            if !promises.contains(&answer) {
                promises.push(answer);
            }
        }
        for answer in promises {
            let mut with = node.clone();
            let id = self.push(&mut with.graph, thread, label, location);
            with.graph.promise(id, answer.value);
            with.promised.push((id, answer));
            self.proceed(with, id)?;
        }
        Ok(())
    }
}
