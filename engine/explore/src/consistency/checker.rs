//! Decides whether a cat model allows an execution graph, and what it flags.

use crate::consistency::extents::{self, UNREAD};
use crate::consistency::rows::{Rows, DEPENDENCIES, HAS_INDEX, RMW, SAME_INDEX};
use crate::consistency::sets::{ASYMMETRIC, EMPTY, KERNEL_EMPTY, KERNEL_SETS, SETS};
use crate::consistency::stale_access::{OrderedWrite, StaleAccess};
use crate::consistency::tag::{self, Tags};
use crate::consistency::uses::Uses;
use crate::consistency::view::View;
use crate::exploration::{Acyclic, ExploreError};
use crate::graph::execution_graph::{EventId, Graph};
use crate::source::{Action, Fault, FaultKind};
use cat::{CatError, Complete, Consistency, Flags, Model, LKMMV2, MIXED};
use program::ir::Order;
use rustc_hash::FxHashMap;

/// The relations that a graph defines, by herd7's names; the coherence order has two. A
/// read-modify-write is one event, so no read is paired with a write, unless reads are postponed.
const RELATIONS: [&str; 9] = ["po", "rf", "co", "mo", "loc", "int", "ext", "sm", "si"];
const NO_PAIRS: [&str; 2] = [RMW, "amo"];

/// Relations that herd7 derives from dependencies, which no exploration defines.
const DERIVED: [&str; 2] = ["depend", "control"];

/// What a model reports of a consistent graph: a race with its two unordered accesses, or a flag with
/// a pair of events that it is about.
pub struct Flagged {
    pub fault: Fault,
    pub pair: Option<(EventId, EventId)>,
}

/// The flag that means a data race, as the Linux kernel's model names it. The models of C and C++
/// have an `undefined_unless` instead.
const RACE: &str = "data-race";

#[derive(Clone)]
pub struct ConsistencyChecker {
    consistency: Consistency,
    view: View,
    rows: Rows,
    /// How many graphs were checked.
    pub checks: u64,
    /// Whether the model states coherence per location, so that candidates that violate it need no
    /// check.
    pub coherent: bool,
    /// Whether one of the model's axioms implies that po | rf has no cycle.
    pub shows_porf_acyclic: bool,
    /// Whether a write that releases follows the events before it, as if it depended on them.
    pub releases_last: bool,
    /// Whether the model is extensible: a consistent graph stays consistent when a po-maximal event
    /// is added that reads from, or is, the co-maximal write.
    pub extensible: bool,
    /// Whether a part of a consistent graph is consistent in which a read that nothing needs reads from an
    /// earlier write: where the thread has none of the location before it, and anywhere.
    pub allows_earlier_source: [bool; 2],
    /// Whether the graph also stays consistent with any event that is on no cycle
    /// ([`Graph::is_on_cycle`]).
    pub only_cycles: bool,
    /// Whether an execution without one of its reads is consistent if the execution is, and what the
    /// model flags of the other events stays flagged.
    pub allows_fewer_reads: bool,
    /// Whether the model may flag graphs whose accesses are all atomic; other graphs.
    flags_on_atomics: bool,
    flags: bool,
    /// Whether the model forbids them, for those checked so far.
    stale: FxHashMap<StaleAccess, bool>,
}

impl ConsistencyChecker {
    /// Fails if the model allows executions that exploration does not find. `uses`: what graphs may
    /// contain.
    pub fn new(
        model: &Model,
        acyclic: Option<Acyclic>,
        uses: Uses,
    ) -> Result<ConsistencyChecker, ExploreError> {
        ConsistencyChecker::compiled(model, acyclic, uses, false)
    }

    /// This one, for graphs whose accesses may have parts ([`EventLabel::continues`]). Coherence is
    /// that of each part; what else is known of the model holds for whole accesses, unless the model
    /// says what holds for them.
    ///
    /// [`EventLabel::continues`]: crate::source::EventLabel::continues
    pub fn in_parts(
        &self,
        model: &Model,
        acyclic: Acyclic,
        uses: Uses,
    ) -> Result<ConsistencyChecker, ExploreError> {
        let parts = ConsistencyChecker::compiled(model, Some(acyclic), uses, true)?;
        Ok(ConsistencyChecker {
            coherent: self.coherent,
            shows_porf_acyclic: self.shows_porf_acyclic,
            releases_last: self.releases_last,
            extensible: false,
            allows_earlier_source: [false; 2],
            only_cycles: false,
            allows_fewer_reads: false,
            ..parts
        })
    }

    fn compiled(
        model: &Model,
        acyclic: Option<Acyclic>,
        uses: Uses,
        in_parts: bool,
    ) -> Result<ConsistencyChecker, ExploreError> {
        let by_dependencies = acyclic == Some(Acyclic::Dependencies);
        let taken = model.takes(&|_| false)?;
        let is_taken = |name: &&&str| taken.iter().any(|taken| taken == **name);
        let untracked = match by_dependencies {
            true => DERIVED.iter().find(is_taken),
            false => DEPENDENCIES.iter().chain(&DERIVED).find(is_taken),
        };
        if let Some(name) = untracked {
            return Err(ExploreError::Unsuitable(format!(
                "{} orders events by dependencies ({name}), which exploration does not track; use \
                 sc, tso or rc20",
                model.name
            )));
        }
        let kernel = is_kernel(&taken);
        if let (false, Some(tag)) = (kernel, model.tags().first()) {
            return Err(ExploreError::Unsuitable(format!(
                "{} has annotations ({tag}), and is not the Linux kernel's model, whose annotations \
                 programs can have by <weakspot/kernel.h>",
                model.name
            )));
        }
        let in_halves = by_dependencies && (kernel || model.splits_rmw()?);
        let mut all_sets = SETS.to_vec();
        if kernel {
            all_sets.extend(KERNEL_SETS);
        }
        let sets: Vec<&str> = all_sets.iter().map(|(name, _)| *name).collect();
        let mut relations = RELATIONS.to_vec();
        if by_dependencies {
            relations.extend(DEPENDENCIES);
        }
        let mut empty = EMPTY.to_vec();
        empty.extend(NO_PAIRS);
        if kernel {
            relations.extend([HAS_INDEX, SAME_INDEX]);
            empty.extend(KERNEL_EMPTY);
            empty.retain(|name| !sets.contains(name));
            empty.extend(uses.empty_in_kernel());
        }
        if !uses.asymmetric_fences {
            empty.extend(ASYMMETRIC);
        }
        if in_halves {
            relations.push(RMW);
            empty.retain(|name| *name != RMW);
        }
        let own = in_parts && model.knows_mixed_sizes();
        let consistency = model.consistency(
            &|variant| own && variant == MIXED,
            &Complete {
                sets: &sets,
                relations: &relations,
                empty: &empty,
                in_parts: in_parts && !own,
            },
        )?;
        if acyclic.is_none() && !consistency.shows_porf_acyclic() {
            return Err(ExploreError::Unsuitable(format!(
                "{} may allow executions in which po | rf has a cycle, which exploration does \
                 not find: a model that excludes them has an axiom `acyclic po | rf`",
                model.name
            )));
        }
        let takes_set = |index: &usize| consistency.takes_set(*index);
        let takes_relation = |index: &usize| consistency.takes_relation(*index);
        let only_cycles = consistency.forbids_cycles_alone();
        let mut view = View::default();
        view.in_halves = in_halves;
        view.kernel = kernel;
        view.locks = uses.locks;
        view.as_written = model.is_on(LKMMV2);
        view.leaves_out_unread = !kernel && consistency.ignores(&extents::of_any, UNREAD);
        Ok(ConsistencyChecker {
            rows: Rows::new(
                (0..sets.len())
                    .filter(takes_set)
                    .map(|index| (index, all_sets[index].1)),
                (0..relations.len())
                    .filter(takes_relation)
                    .map(|index| (index, relations[index])),
            ),
            coherent: consistency.states_coherence(),
            shows_porf_acyclic: consistency.shows_porf_acyclic(),
            releases_last: !by_dependencies,
            extensible: only_cycles || consistency.keeps_maximal(),
            allows_earlier_source: [false; 2],
            only_cycles,
            allows_fewer_reads: consistency.holds_in_smaller()
                && consistency.raises_no_flags(&extents::of_atomics),
            flags_on_atomics: !consistency.raises_no_flags(&extents::of_atomics),
            flags: consistency.has_flags(),
            consistency,
            view,
            checks: 0,
            stale: FxHashMap::default(),
        })
    }

    /// Says whether a write that releases needs everything before it.
    pub fn set_releases_last(&mut self, releases_last: bool) {
        self.releases_last = releases_last;
        self.allows_earlier_source = [false, true].map(|forwarded| {
            let consistency = &self.consistency;
            // a read-modify-write that is one event is no read alone; the kernel's sets are others
            let applies = self.in_halves() && !self.is_kernel();
            applies && consistency.allows_earlier_source(releases_last, forwarded)
        });
    }

    pub fn is_consistent(&mut self, graph: &Graph) -> Result<bool, CatError> {
        self.checks += 1;
        let in_whole = cfg!(debug_assertions).then(|| self.allows_whole(graph));
        self.show(graph, &[]);
        let consistent = self.consistency.consistent()?;
        debug_assert!(
            in_whole.is_none_or(|whole| whole == consistent),
            "the model was read as one that ignores unread initial writes"
        );
        Ok(consistent)
    }

    /// Whether the model allows a graph with all its initial writes.
    fn allows_whole(&mut self, graph: &Graph) -> bool {
        let leaves_out = std::mem::replace(&mut self.view.leaves_out_unread, false);
        self.show(graph, &[]);
        self.view.leaves_out_unread = leaves_out;
        matches!(self.consistency.consistent(), Ok(true))
    }

    /// Whether the model distinguishes the read of a compare-exchange that fails from a load.
    pub fn knows_failures(&self) -> bool {
        self.takes_set_of(tag::CASF)
    }

    /// Whether the model says what asymmetric fences order: it has sets of light and of heavy ones, or
    /// no fence means anything to it.
    pub fn defines_asymmetric_fences(&self) -> bool {
        !self.takes_set_of(tag::FENCE)
            || self.takes_set_of(tag::LIGHT) && self.takes_set_of(tag::HEAVY)
    }

    fn takes_set_of(&self, tag: Tags) -> bool {
        let is_taken = |(index, (_, tags)): (usize, &(&str, Tags))| {
            tags & tag != 0 && self.consistency.takes_set(index)
        };
        SETS.iter().enumerate().any(is_taken)
    }

    /// Whether the read and the write of a read-modify-write are two events of the model.
    pub fn in_halves(&self) -> bool {
        self.view.in_halves
    }

    /// Whether the model is the Linux kernel's.
    pub fn is_kernel(&self) -> bool {
        self.view.kernel
    }

    /// Whether every graph is inconsistent that contains the last one checked, which is.
    pub fn fails_in_larger(&self) -> bool {
        self.consistency.fails_in_larger()
    }

    /// Whether every graph is inconsistent that adds events to the ends of threads of the last one checked,
    /// which is. Reads may read from them that were promised a value.
    pub fn fails_with_later_events(&self) -> bool {
        self.consistency.fails_with_later_events()
    }

    /// Whether no consistent graph contains a read that reads from `source`, which precedes in coherence
    /// order a write that is ordered before the read.
    pub fn forbids_source(
        &mut self,
        graph: &Graph,
        read: EventId,
        source: EventId,
        ordered: OrderedWrite,
    ) -> Result<bool, CatError> {
        match StaleAccess::read((&self.view, graph), read, source, ordered) {
            Some(stale) => self.forbids(stale),
            None => Ok(false),
        }
    }

    /// Whether no consistent graph contains a write that precedes in coherence order one that is ordered
    /// before it.
    pub fn forbids_before(
        &mut self,
        graph: &Graph,
        write: EventId,
        ordered: OrderedWrite,
    ) -> Result<bool, CatError> {
        self.forbids(StaleAccess::write((&self.view, graph), write, ordered))
    }

    /// Whether no consistent graph contains these events.
    pub fn forbids(&mut self, stale: StaleAccess) -> Result<bool, CatError> {
        if let Some(known) = self.stale.get(&stale) {
            return Ok(*known);
        }
        stale.show(&mut self.view);
        self.rows.fill(&mut self.consistency, &self.view);
        let forbidden = !self.consistency.consistent()? && self.consistency.fails_in_larger();
        self.stale.insert(stale, forbidden);
        Ok(forbidden)
    }

    /// Whether a graph is consistent, and whether the model flags it then.
    pub fn judges(&mut self, show: impl FnOnce(&mut View)) -> Result<(bool, bool), CatError> {
        show(&mut self.view);
        self.rows.fill(&mut self.consistency, &self.view);
        let consistent = self.consistency.consistent()?;
        let flagged = consistent && self.consistency.flags()? != Flags::default();
        Ok((consistent, flagged))
    }

    /// Whether the model flags some graphs: undefined behaviour, races.
    pub fn may_flag(&self) -> bool {
        self.flags
    }

    /// What the model flags; none if the graph is inconsistent. `known_consistent`: the graph is
    /// known to be consistent.
    pub fn flags(
        &mut self,
        graph: &Graph,
        known_consistent: bool,
    ) -> Result<Option<Flags>, CatError> {
        let may_flag = match has_plain(graph) {
            true => self.flags,
            false => self.flags_on_atomics,
        };
        if !known_consistent || may_flag {
            self.checks += 1;
            self.show(graph, &[]);
        }
        if !known_consistent && !self.consistency.consistent()? {
            return Ok(None);
        }
        match may_flag {
            true => self.consistency.flags().map(Some),
            false => {
                debug_assert!(
                    self.flags_nothing(graph),
                    "the model was classified as flagging nothing"
                );
                Ok(Some(Flags::default()))
            }
        }
    }

    fn flags_nothing(&mut self, graph: &Graph) -> bool {
        self.show(graph, &[]);
        matches!(self.consistency.flags(), Ok(flags) if flags == Flags::default())
    }

    /// What the model flags when each of these allocations and frees counts as a plain write to its
    /// location: an access that is not ordered with it is then a race.
    pub fn flags_on_lifetimes(
        &mut self,
        graph: &Graph,
        lifetimes: &[(EventId, u32)],
    ) -> Result<Flags, CatError> {
        self.checks += 1;
        self.show(graph, lifetimes);
        self.consistency.flags()
    }

    /// Whether the graph is consistent when each of these allocations and frees counts as a plain write, the
    /// first or the last of its location.
    pub fn allows_lifetimes(
        &mut self,
        graph: &Graph,
        lifetimes: &[(EventId, u32)],
    ) -> Result<bool, CatError> {
        self.checks += 1;
        self.show(graph, lifetimes);
        self.consistency.consistent()
    }

    /// Whether the model orders two events, one way or the other: it does if plain writes of one
    /// location at these events are no race. The model flags no race of the graph.
    pub fn orders(
        &mut self,
        graph: &Graph,
        one: EventId,
        other: EventId,
    ) -> Result<bool, CatError> {
        let hidden = graph.locations.len() as u32;
        let flags = self.flags_on_lifetimes(graph, &[(one, hidden), (other, hidden)])?;
        Ok(self.race(graph, &flags).is_none())
    }

    /// The race that the model reports for the last graph checked.
    pub fn race(&self, graph: &Graph, flags: &Flags) -> Option<Flagged> {
        let raised = flags.raised.iter().find(|flag| flag.name == RACE);
        let pair = flags.conflict.or_else(|| raised.and_then(|flag| flag.pair));
        let mut names = flags.undefined_by.clone();
        names.extend(raised.map(|flag| flag.name.clone()));
        let found = self.flagged(graph, FaultKind::Race, names.join(", "), pair);
        (!names.is_empty()).then_some(found)
    }

    /// The other flags that the model raises on the last graph checked.
    pub fn own_flags(&self, graph: &Graph, flags: &Flags) -> Vec<Flagged> {
        let own = flags.raised.iter().filter(|flag| flag.name != RACE);
        own.map(|flag| {
            let message = format!("flag {} is raised", flag.name);
            self.flagged(graph, FaultKind::Flag, message, flag.pair)
        })
        .collect()
    }

    fn flagged(
        &self,
        graph: &Graph,
        kind: FaultKind,
        message: String,
        pair: Option<(usize, usize)>,
    ) -> Flagged {
        let id = |shown: usize| self.view.id(shown);
        let pair = pair.and_then(|(one, other)| Some((id(one)?, id(other)?)));
        Flagged {
            fault: Fault::new(
                kind,
                message,
                pair.map(|(one, other)| graph.event(one.max(other)).site),
            ),
            pair,
        }
    }

    /// Hands the graph over to the model.
    fn show(&mut self, graph: &Graph, lifetimes: &[(EventId, u32)]) {
        self.view.fill(graph, lifetimes);
        self.rows.fill(&mut self.consistency, &self.view);
        self.rows
            .add_dependencies(&mut self.consistency, &self.view, &graph.dependencies);
    }
}

/// Whether a model that takes these sets is the Linux kernel's.
fn is_kernel(taken: &[String]) -> bool {
    let mut sets = ["Once", "Mb", "Rcu-lock"].iter(); // newer versions derive `Mb` from `MB`
    sets.all(|set| taken.iter().any(|name| name.eq_ignore_ascii_case(set)))
}

fn has_plain(graph: &Graph) -> bool {
    let mut events = graph.events.iter();
    events.any(|event| match event.action {
        Action::Read { order, .. } | Action::Write { order, .. } => order == Order::Na,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consistency::stale_access::SyncEdge;

    fn checker(text: &str) -> ConsistencyChecker {
        let model = Model::parse(text, "test.cat", &|_| None);
        let model = model.unwrap_or_else(|error| panic!("{error}"));
        ConsistencyChecker::new(&model, Some(Acyclic::ProgramOrder), Uses::NONE)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn models_that_only_say_something_of_plain_accesses_are_not_asked_about_others() {
        let hb = "let hb = (po | IW * (_ \\ IW) | rf)+\n";
        let race = "let race = (loc & ext & (W * M | M * W) \\ (A * A)) \\ (hb | hb^-1)\n";
        for (claim, of_atomics) in [
            ("undefined_unless empty race as data-race", false),
            ("flag ~empty race as data-race", false),
            // initial writes are not ordered in this one
            ("flag ~empty race \\ (po | po^-1) as hasty", false),
            ("flag ~empty race | (IW * W & loc) as early", true),
            ("flag ~empty [SC] as strong", true),
            ("flag ~empty [CASF] as failing", true),
            ("flag empty race as quiet", true),
            ("flag ~acyclic rf | po as odd", true),
            (
                "undefined_unless irreflexive [IW]; co; [IW] as twice",
                false,
            ),
        ] {
            let checker = checker(&format!("{hb}{race}{claim}"));
            assert!(checker.flags, "{claim}");
            assert_eq!(checker.flags_on_atomics, of_atomics, "{claim}");
        }
    }

    #[test]
    fn unread_initial_writes_are_left_out_where_the_model_says_the_same_without_them() {
        let race = "let hb = (po | IW * (_ \\ IW) | rf)+\nlet race = loc & ext & (W * M | M * W)";
        for (claim, leaves_out) in [
            ("acyclic po | rf | co | rf^-1; co", true),
            ("undefined_unless empty race \\ (hb | hb^-1)", true),
            // an initial write is unordered with those that follow it
            ("undefined_unless empty race \\ (po | po^-1)", false),
            // it is on the way between others, or leads back to itself
            ("irreflexive co^-1; co; po", false),
            ("irreflexive (co | co^-1)+; po", false),
            ("acyclic [domain(co^-1)]; rf | po", false),
            ("irreflexive [IW]; loc", false),
            ("acyclic co | co^-1", false),
            // it is counted itself
            ("flag ~empty IW", false),
            ("flag ~empty [IW]; co", false),
            ("acyclic [range([IW]; co)]; rf | po", false),
        ] {
            let checker = checker(&format!(
                "with co from linearisations(W, 0)\n{race}\n{claim} as one"
            ));
            assert_eq!(checker.view.leaves_out_unread, leaves_out, "{claim}");
        }
    }

    #[test]
    fn a_write_that_a_join_makes_stale_is_forbidden_where_more_events_do_not_help() {
        let relaxed = tag::RLX | tag::ATOMIC;
        let fr = "let fr = rf^-1; co\n";
        for (axiom, forbidden) in [
            ("acyclic po | rf | co | fr", true),
            ("irreflexive (po | rf)+; (co | fr)", true),
            ("acyclic po & loc | rf | co | fr", false),
            // so does the graph, but not one with events between these
            ("acyclic (po | rf | co | fr) \\ (po; po)", false),
        ] {
            let text = format!("with co from linearisations(W, 0)\n{fr}{axiom} as one");
            let mut checker = checker(&text);
            for kind in [tag::READ, tag::WRITE] {
                let sources = [None, Some(tag::WRITE | relaxed)];
                for source in sources
                    .into_iter()
                    .filter(|s| kind == tag::READ || s.is_none())
                {
                    let stale = StaleAccess {
                        write: tag::WRITE | relaxed,
                        hop: SyncEdge::THREAD,
                        access: kind | relaxed,
                        source,
                        earlier: source.is_some(),
                    };
                    let found = checker
                        .forbids(stale)
                        .unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(found, forbidden, "{axiom}: {kind} {source:?}");
                }
            }
        }
    }
}
