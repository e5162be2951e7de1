//! Explores a program, again and again until it is known which objects its threads share.
use crate::consistency::uses::Uses;
use crate::exploration::{Acyclic, ExecutionEnd, Exploration, ExploreError, Extent, Options};
use crate::history::Specification;
use crate::reductions::{Reduction, Reductions};
use crate::search::findings::name_misuses;
use crate::search::run::{explore_under, CheckedModel};
use crate::search::EndedExecution;
use crate::source::*;
use crate::threads::retries::Retries;
use crate::threads::source::ProgramSource;
use cat::Model;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

impl ProgramSource<'_> {
    /// Explores the program, repeatedly until it is known which objects its threads share. What was
    /// left open before more is learned of that belongs to another search: everything is explored
    /// then.
    pub fn explore(
        &mut self,
        model: &Model,
        options: &Options,
    ) -> Result<Exploration, ExploreError> {
        let mut found = self.explore_part(model, options)?;
        name_misuses(self.program, &mut found.violations);
        Ok(found)
    }

    /// As [`explore`](Self::explore), of an exploration that others are added to: races are not named
    /// after what they misuse ([`name_misuses`]) yet.
    pub(super) fn explore_part(
        &mut self,
        model: &Model,
        options: &Options,
    ) -> Result<Exploration, ExploreError> {
        self.explore_each(model, options, |_, _| {}, || {})
    }

    /// As [`explore`](Self::explore), and what main returns in how many executions in which every
    /// thread ends.
    pub fn results(
        &mut self,
        model: &Model,
        options: &Options,
    ) -> Result<(Exploration, BTreeMap<u64, u64>), ExploreError> {
        let results = Mutex::new(BTreeMap::new());
        let locked = || results.lock().unwrap_or_else(PoisonError::into_inner);
        let each = |execution: &EndedExecution<ProgramSource>, end| {
            let main = execution.threads().find(|(thread, _)| *thread == 0);
            if let (ExecutionEnd::Complete, Some((_, Next::Done(result)))) = (end, main) {
                *locked().entry(*result).or_default() += 1;
            }
        };
        let mut found = self.explore_each(model, options, each, || locked().clear())?;
        name_misuses(self.program, &mut found.violations);
        let results = std::mem::take(&mut *locked());
        Ok((found, results))
    }

    /// As [`explore`](Self::explore), and the histories of operation calls in executions in which
    /// every thread ends; none if those of one do not return one after
    /// the other.
    pub fn histories(
        &mut self,
        model: &Model,
        options: &Options,
    ) -> Result<(Exploration, Option<Specification>), ExploreError> {
        let histories = Mutex::new(Some(Specification::default()));
        let locked = || histories.lock().unwrap_or_else(PoisonError::into_inner);
        let each = |execution: &EndedExecution<ProgramSource>, end| {
            if end == ExecutionEnd::Complete {
                let mut histories = locked();
                if !histories
                    .as_mut()
                    .is_some_and(|all| all.add(execution.graph))
                {
                    *histories = None;
                }
            }
        };
        let restart = || *locked() = Some(Specification::default());
        let found = self.explore_each(model, options, each, restart)?;
        let histories = std::mem::take(&mut *locked());
        Ok((found, histories))
    }

    /// Which of the reductions of a search were used by the threads too.
    fn used(&self, ordered: bool, reductions: Reductions) -> Reductions {
        let used = [
            (Reduction::Arrivals, ordered),
            (Reduction::Waits, self.waits_in_place),
            (Reduction::BoundedSpins, self.settings.looks_once),
            (Reduction::Retries, self.retries != Retries::All),
            (Reduction::UndoneRounds, self.settings.undoes),
        ];
        used.into_iter().fold(reductions, |some, (each, on)| {
            some.with(each, on && some.has(each))
        })
    }

    /// Sets which reductions the threads use. Returns whether threads arrive at barriers in a fixed order.
    fn set_up(&mut self, model: &CheckedModel, options: &Options) -> Result<bool, ExploreError> {
        let on = |reduction| options.reductions.has(reduction);
        let in_parts = self.has_parts();
        let checker = &model.checker;
        let ordered = !in_parts
            && self.has_barriers
            && on(Reduction::Arrivals)
            && model.orders_by_barriers()?;
        self.sharing.all_arrivals = !ordered;
        self.sharing.flags_races = checker.may_flag();
        self.sharing.ordering = model.ordering_accesses()?;
        // without a round, fewer calls may precede one another
        self.compares_calls = options.specification.is_some();
        self.settings.mixed_sizes = model.takes_mixed_sizes(options);
        self.settings.asymmetric_fences = model.defines_asymmetric_fences();
        self.settings.branches = model.branches;
        self.settings.kernel_version = model.kernel_version;
        self.settings.fails_once = options.fails_once;
        // of a user's own model nobody else states that a graph holds without a read
        let own = options.acyclic.is_none() && !checker.is_kernel();
        self.settings.every_round = own && !checker.allows_fewer_reads;
        let stated = options.acyclic.is_some() && checker.coherent && !checker.is_kernel();
        let in_smaller = checker.allows_fewer_reads && !self.compares_calls && !in_parts;
        self.settings.relaxed_order = !checker.may_flag() || self.program.has_fences();
        self.settings.looks_once = on(Reduction::BoundedSpins) && stated && in_smaller;
        let every = self.compares_calls || !model.allows_fewer_reads() || in_parts;
        self.waits_in_place = !every && on(Reduction::Waits);
        self.retries = match on(Reduction::Retries) && !every {
            false => Retries::All,
            true if checker.knows_failures() => Retries::OfSameKind,
            true => Retries::OfAnyKind,
        };
        self.settings.updates_continue = !self.program.updates() || model.updates_continue()?;
        let adds = self.program.adds_and_subtracts() && self.settings.updates_continue;
        let trusts = !checker.knows_failures() && checker.coherent;
        // a thread that has joined others reads no number that one of their rounds has added
        let undoes = on(Reduction::UndoneRounds) && !every;
        self.settings.undoes = undoes && adds && trusts && model.orders_by_barriers()?;
        Ok(ordered)
    }

    /// Calls `each` with every execution and how it ends, `restart` before they are explored again.
    fn explore_each(
        &mut self,
        model: &Model,
        options: &Options,
        each: impl Fn(&EndedExecution<ProgramSource>, ExecutionEnd) + Sync,
        restart: impl Fn(),
    ) -> Result<Exploration, ExploreError> {
        let start = Instant::now();
        self.reduce(options.reductions);
        let uses = Uses::of(self.program);
        let text = model;
        let model = CheckedModel::of(model, options.acyclic, uses)?;
        self.track_dependencies(
            model.acyclic == Acyclic::Dependencies,
            model.checker.is_kernel(),
        );
        let mut options = options.clone();
        let before = options.limits.counted.load(Relaxed);
        let most = options.limits.time;
        loop {
            options.limits.time = most.saturating_sub(start.elapsed());
            if self.has_parts() {
                let of_twins = [Reduction::Symmetry, Reduction::Elements];
                options.reductions = options.reductions.without(of_twins);
            }
            let ordered = self.set_up(&model, &options)?;
            let found = explore_under(&*self, (text, &model), &options, &each);
            if found.as_ref().is_ok_and(|found| found.limit.is_none()) {
                self.sharing.look_at_writes();
            }
            let resumes = matches!(options.extent, Extent::Open(_));
            let other_tree = matches!(found, Err(ExploreError::OtherTree));
            if !self.sharing.has_changed() && !other_tree {
                let mut found = found?;
                found.seconds = start.elapsed().as_secs_f64();
                found.threads = self.sharing.threads() - 1;
                found.loop_bound = self.limits.loops;
                found.resumed = resumes;
                found.reductions = self.used(ordered, found.reductions);
                found.mixed_sizes = self.sharing.mixed();
                found.not_asserted = self.program.other_assertions(&self.sharing.asserted());
                return Ok(found);
            }
            restart();
            // what was estimated is the size of another search too
            *options.limits.estimate() = None;
            let counted = if resumes { 0 } else { before };
            options.limits.counted.store(counted, Relaxed);
            if resumes {
                options.extent = Extent::All;
            }
            self.settle();
        }
    }
}
