//! Threads that may be exchanged although they get different arguments: `&node[i]`, or `i`.
//!
//! An exchange of two threads is taken to exchange locations too, and values in these: what one
//! thread writes corresponds to what the other writes that has got corresponding answers. That this
//! is an automorphism of the program is checked, not proved beforehand. For every state that a thread
//! reaches, and every exchange, the thread that it is exchanged with gets the corresponding answers,
//! and its next event has to be the corresponding one: the same instruction of the source, the same
//! memory order and dependencies, at the location, and with the value, that corresponds. What
//! corresponds to what is learned from these events, and may contradict itself nowhere; a location
//! that no event names is of no interest. The initial values of corresponding locations correspond.
//! Threads that are not exchanged, main among them, correspond to themselves: if main reads
//! `node[0].x` and no other element, the location would have to correspond to itself. What main returns
//! leaves the program, and is the same. So whatever
//! treats threads or elements differently is found where it shows, in an ordering comparison, in
//! arithmetic, in a constant index, in initial values: a thread does something else. Nothing needs to
//! be known of how a value is computed: a number packed into a lock's word corresponds to the number
//! that the other thread packs into it.
//!
//! Transpositions of neighbours suffice, if the check is of all states that they lead to, again and
//! again: each exchange is a product of these, and maps each state that was checked to one that was
//! checked too. What a product that exchanges no thread makes of locations and values is then the
//! identity, by induction over the events of an execution.
//!
//! If all states in an execution pass, and all that they correspond to, then the execution with some
//! threads exchanged is one of the program, with the same program order, dependencies, reads-from and
//! coherence order, and with corresponding locations: consistent under any model, and with an error
//! of the same kind and at the same place. Conversely, let an execution be left out, as one that
//! exchanges threads in an execution before it. Of its prefixes take the longest that corresponds to
//! something that is explored. The states of the latter are checked, so the next event corresponds to
//! one that is explored as well. An asymmetry is found before it is relied on.
//!
//! Each worker checks the states in its own cache, which are all those of the execution that it stands
//! at. What corresponds to what is common to all workers.
//!
//! Main creates these threads one directly after the other, before its first event that gets an
//! answer. What is done until then, such as giving elements their values, is in the initial memory or
//! happens before all that they do.
//!
//! The reduction is that of [`postponed::symmetry`](super::postponed); exchanging data along with
//! processes is the scalarset of Ip and Dill, "Better verification through symmetry", 1996.

use crate::exchanges::{Exchange, Pair};
use crate::search::thread_states::{Node, ThreadStates, Transition};
use crate::source::{Action, Answer, EventLabel, Initial, Location, Next, Source, ThreadId};
use rustc_hash::FxHashMap;

impl<S: Source> ThreadStates<'_, S> {
    /// Finds the threads that may be exchanged, unless that was done since the cache was cleared. Main
    /// has at most so many events until it has created them.
    pub fn prepare(&mut self, events: usize) {
        if self.prepared {
            return;
        }
        self.prepared = true;
        let mut node = self.main();
        let mut nodes = vec![node];
        // the threads that are created one directly after the other, and what creates them
        let mut classes: Vec<Vec<(ThreadId, Node)>> = vec![Vec::new()];
        for _ in 0..events {
            let Next::Event(label) = self.next(node) else {
                break;
            };
            match label.action {
                Action::Create { thread } => {
                    let like = |class: &&mut Vec<(ThreadId, Node)>| {
                        class.first().is_none_or(|(first, creator)| {
                            let (one, two) = (self.thread(*creator), self.thread(node));
                            self.source.exchangeable((one, *first), (two, thread))
                        })
                    };
                    match classes.last_mut().filter(like) {
                        Some(class) => class.push((thread, node)),
                        None => classes.push(vec![(thread, node)]),
                    }
                }
                action if action.has_answer() => break,
                _ => classes.push(Vec::new()),
            }
            node = self.reach(node, Transition::Answered(Answer::default()));
            nodes.push(node);
        }
        classes.retain(|class| {
            let equal = |pair: &[(ThreadId, Node)]| {
                let [one, other] = [pair[0], pair[1]].map(|(thread, at)| (self.thread(at), thread));
                self.source.are_symmetric(one, other)
            };
            !class.windows(2).all(equal)
        });
        let pairs = classes.iter().flat_map(|class| class.windows(2));
        let pairs: Vec<_> = pairs.map(|pair| [pair[0].0, pair[1].0]).collect();
        if !self.exchanges.set(&pairs) {
            // another worker has found that threads differ, and the exploration starts again
            self.distinguished = true;
            return;
        }
        if classes.is_empty() {
            return;
        }
        let mut starts: FxHashMap<ThreadId, Node> = FxHashMap::default();
        for class in &classes {
            for (thread, creator) in class {
                let start = self.reach(*creator, Transition::Created(*thread));
                starts.insert(*thread, start);
                self.classes.insert(*thread, class[0].0);
            }
        }
        let count = self.exchanges.each().len();
        for node in nodes {
            self.images.insert(node, vec![node; count].into());
        }
        let main: Vec<Node> = self.images.keys().copied().collect();
        for (thread, start) in &starts {
            let images = self.exchanges.each().iter();
            let images = images.map(|exchange| starts[&exchange.thread(*thread)]);
            self.images.insert(*start, images.collect());
        }
        for node in main.into_iter().chain(starts.values().copied()) {
            if let Err(thread) = self.compare(node) {
                return self.distinguish(thread);
            }
        }
    }

    fn distinguish(&mut self, thread: ThreadId) {
        self.distinguished = true;
        self.source.distinguish(thread);
    }

    /// Checks a state, and all that exchanges lead to from it.
    pub fn check(&mut self, node: Node) {
        if self.images.is_empty() || self.distinguished {
            return;
        }
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.images.contains_key(&node) {
                continue;
            }
            let compared = self.images_of(node).and_then(|images| {
                open.extend(&images);
                self.images.insert(node, images.into());
                self.compare(node)
            });
            if let Err(thread) = compared {
                return self.distinguish(thread);
            }
        }
    }

    /// The states that exchanges lead to from a state. Fails with a thread that is exchanged if the
    /// answers that correspond to its are not known.
    fn images_of(&mut self, node: Node) -> Result<Vec<Node>, ThreadId> {
        let Some((before, transition)) = self.origin(node) else {
            return Ok(vec![node; self.exchanges.each().len()]);
        };
        let previous = self.images[&before].clone();
        let mut images = Vec::with_capacity(previous.len());
        let exchanges = self.exchanges.clone();
        for (exchange, from) in exchanges.each().iter().zip(&previous) {
            let answer = match (transition, self.next(before)) {
                (Transition::Answered(answer), Next::Event(label)) => match label.action {
                    Action::Read { at, .. } => exchange.value(at, answer.value),
                    Action::Join { thread } => exchange.value(self.result_of(thread), answer.value),
                    _ => Some(answer.value),
                }
                .map(|value| Transition::Answered(Answer { value, ..answer })),
                (other, _) => Some(other),
            };
            let transition = answer.ok_or(exchange.one())?;
            images.push(self.reach(*from, transition));
        }
        Ok(images)
    }

    fn result_of(&self, thread: ThreadId) -> Location {
        Location::of_result(self.classes.get(&thread).copied().unwrap_or(thread))
    }

    /// Compares what follows a state with what follows those that exchanges lead to. Fails with a
    /// thread of an exchange for which they do not correspond.
    fn compare(&mut self, node: Node) -> Result<(), ThreadId> {
        let (images, exchanges) = (self.images[&node].clone(), self.exchanges.clone());
        for (exchange, image) in exchanges.each().iter().zip(&images) {
            if !self.agrees(exchange, node, *image) {
                return Err(exchange.one());
            }
        }
        Ok(())
    }

    fn agrees(&mut self, exchange: &Exchange, node: Node, image: Node) -> bool {
        match (self.next(node), self.next(image)) {
            (Next::Event(label), Next::Event(other)) => {
                let (label, other) = (*label, *other);
                label.site == other.site
                    && label.dependencies == other.dependencies
                    && self.agree(exchange, &label, &other)
            }
            (Next::Done(result), Next::Done(other)) => {
                let (result, other) = (*result, *other);
                let thread = self.thread_of(node);
                if thread == 0 {
                    return result == other; // of the process
                }
                let at = self.result_of(thread);
                exchange.pair_values((at, result), (at, other))
            }
            (Next::Truncated { .. }, Next::Truncated { .. }) => true,
            (next, other) => next == other,
        }
    }

    /// Whether two events of the same instruction, which have the same memory order, correspond.
    fn agree(&mut self, exchange: &Exchange, label: &EventLabel, other: &EventLabel) -> bool {
        match (label.action, other.action) {
            (Action::Read { at, .. }, Action::Read { at: image, .. }) => {
                self.locations_agree(exchange, at, image)
            }
            (
                Action::Write {
                    at,
                    value,
                    undefined,
                    ..
                },
                Action::Write {
                    at: image,
                    value: other_value,
                    undefined: bytes,
                    ..
                },
            ) => {
                undefined == bytes
                    && self.locations_agree(exchange, at, image)
                    && exchange.pair_values((at, value), (image, other_value))
            }
            (Action::Free { base }, Action::Free { base: image }) => {
                // what is in no initial memory is exchanged with nothing
                let size = self.source.extent(base);
                base == image && size.is_none_or(|size| self.exchanges.free(base..base + size))
            }
            (one, other) => one == other,
        }
    }

    fn locations_agree(&mut self, exchange: &Exchange, at: Location, image: Location) -> bool {
        match exchange.pair(at, image) {
            Pair::Known => true,
            Pair::Other => false,
            Pair::New => {
                let (one, other) = (self.initial(at), self.initial(image));
                let agree = match (one, other) {
                    (Initial::Value(_), Initial::Value(_)) => true,
                    (Initial::Outside, Initial::Outside) => at == image,
                    (one, other) => one == other,
                };
                let values = [one, other].map(|initial| initial.answer().value);
                agree
                    && self.exchanges.are_freed_together(at, image)
                    && exchange.pair_values((at, values[0]), (image, values[1]))
            }
        }
    }

    /// The thread that a state is of.
    fn thread_of(&self, node: Node) -> ThreadId {
        let mut at = node;
        loop {
            match self.origin(at) {
                Some((_, Transition::Created(thread))) => return thread,
                Some((before, _)) => at = before,
                None => return 0,
            }
        }
    }
}
