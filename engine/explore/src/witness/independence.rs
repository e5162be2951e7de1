//! Whether a property of a thread in an execution is independent of what some of its reads read:
//! that an event occurs, or that the thread does not write to a location again.
//!
//! The thread is run again. The other reads are answered as in the execution; the reads in question
//! with every value that their location has in the execution, and with some that it may have in
//! another, as what is written may depend on what is read. An event that occurs unchanged in all
//! these runs does not depend on these reads, whether or not a branch does. Reads and the event are
//! identified by their site and by how often the thread has been there.
use crate::graph::execution_graph::{EventId, Graph};
use crate::source::{Action, Answer, Initial, Location, Next, Source};
use crate::threads::source::{ProgramSource, ProgramThread};
use program::ir::SiteId;
use std::collections::{BTreeMap, BTreeSet};

/// How many steps threads may run per execution; when they are used up, everything counts as a
/// dependency.
pub const STEPS: usize = 20_000;

/// A thread of an execution, and the property in question.
pub struct Query<'a> {
    source: &'a ProgramSource<'a>,
    graph: &'a Graph,
    thread_events: &'a [EventId],
    what: &'a Property<'a>,
    beginning: ProgramThread,
    /// The thread's events, by their site and how often the thread was there before.
    events: BTreeMap<(SiteId, usize), EventId>,
    /// What happens spuriously, and is in question too.
    spurious: BTreeSet<EventId>,
}

/// A property of a thread.
pub enum Property<'a> {
    /// The event of this number occurs; or, if the number is that of the end, the thread ends like
    /// this.
    Comes(usize, &'a Next),
    /// Nothing is written to the location except what is written in the execution.
    Leaves(Location),
}

/// How often a thread has been at each site.
type Visits = BTreeMap<SiteId, usize>;

impl<'a> Query<'a> {
    /// `thread_events` are the thread's events, `beginning` its state before them.
    pub fn new(
        source: &'a ProgramSource<'a>,
        graph: &'a Graph,
        thread_events: &'a [EventId],
        what: &'a Property<'a>,
        beginning: ProgramThread,
    ) -> Query<'a> {
        let mut visits = Visits::new();
        let place = |id: &EventId| {
            let site = graph.event(*id).site;
            ((site, visit(&mut visits, site)), *id)
        };
        Query {
            source,
            graph,
            thread_events,
            what,
            beginning,
            events: thread_events.iter().map(place).collect(),
            spurious: BTreeSet::new(),
        }
    }

    pub fn with_spurious(self, spurious: BTreeSet<EventId>) -> Query<'a> {
        Query { spurious, ..self }
    }

    /// Whether the property holds in all runs in which only the answers of the events in `required` are
    /// fixed; false if `steps` are used up first.
    pub fn holds(&self, required: &BTreeSet<EventId>, steps: &mut usize) -> bool {
        let mut runs = vec![(self.beginning.clone(), Visits::new())];
        while let Some((mut now, mut visits)) = runs.pop() {
            loop {
                if *steps == 0 {
                    return false;
                }
                *steps -= 1;
                let label = match (self.source.next(&mut now), self.what) {
                    (Next::Event(label), _) => label,
                    (Next::Unsupported { .. } | Next::Refuted, _) => return false,
                    (_, Property::Leaves(_)) => break,
                    (end, Property::Comes(number, it))
                        if *number == self.thread_events.len() && end == **it =>
                    {
                        break
                    }
                    _ => return false,
                };
                let place = (label.site, visit(&mut visits, label.site));
                let there = self.events.get(&place).copied();
                let same = there.filter(|id| self.graph.event(*id).action == label.action);
                match *self.what {
                    Property::Comes(number, _)
                        if there.is_some() && there == self.thread_events.get(number).copied() =>
                    {
                        if same.is_some() {
                            break;
                        }
                        return false;
                    }
                    Property::Leaves(location)
                        if same.is_none() && label.action.writes(location) =>
                    {
                        return false
                    }
                    _ => {}
                }
                let settled = |id: &EventId| {
                    let open = self.graph.event(*id).is_read() || self.spurious.contains(id);
                    !open || required.contains(id)
                };
                let answers = match same.filter(settled) {
                    Some(id) => vec![self.graph.answer(id, self.source.tracks_dependencies())],
                    None => match self.answers(label.action) {
                        Some(answers) => answers,
                        None => return false,
                    },
                };
                if !label.action.has_answer() {
                    continue;
                }
                let Some((last, others)) = answers.split_last() else {
                    return false;
                };
                for other in others {
                    let mut other_run = now.clone();
                    self.source.answer(&mut other_run, *other);
                    runs.push((other_run, visits.clone()));
                }
                self.source.answer(&mut now, *last);
            }
        }
        true
    }

    /// Possible answers to an event that is not in the execution, or whose answer is in question;
    /// none if they are unknown.
    fn answers(&self, action: Action) -> Option<Vec<Answer>> {
        match action {
            Action::Read { at, .. } => Some(self.values(at).into_iter().map(Answer::new).collect()),
            Action::Choose { alternatives } => {
                Some((0..alternatives.into()).map(Answer::new).collect())
            }
            Action::Compare { outcome } => {
                Some(vec![Answer::new(outcome.unwrap_or_default().into())])
            }
            Action::Write { .. } | Action::Fence { .. } => Some(Vec::new()),
            _ => None,
        }
    }

    /// The values that a location has in the execution, and some that it may have in another: 0, 1
    /// and the greatest.
    fn values(&self, at: Location) -> Vec<u64> {
        let graph = self.graph;
        let place = graph.locations.iter().position(|place| place.at == at);
        let initial = match place {
            Some(place) => graph.locations[place].initial,
            None => self.source.initial(at),
        };
        let mut values = BTreeSet::from([0, 1, u64::MAX >> (64 - 8 * at.size.clamp(1, 8))]);
        if let Initial::Value(value) = initial {
            values.insert(value);
        }
        if let Some(place) = place {
            let location = place as u32;
            values.extend(graph.writes(location).map(|w| graph.value_of(location, w)));
        }
        values.into_iter().collect()
    }
}

/// How often the thread was at the site before; counts this visit.
fn visit(visits: &mut Visits, site: SiteId) -> usize {
    let count = visits.entry(site).or_default();
    *count += 1;
    *count - 1
}
