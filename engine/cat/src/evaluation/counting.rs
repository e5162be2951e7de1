//! Solutions counted by the last writes of their coherence orders, instead of enumerated.
use super::coherence_orders::{OrderConstraints, TooMany};
use super::input::{Solution, Visit};
use super::prepared::{Prepared, SearchResult};
use super::schedule::{Choice, Schedule, Source};
use crate::analysis::coherence_axioms::CoherenceAxioms;
use crate::error::CatError;
use crate::plan::operation::{Op, OpId};
use relation::Set;
use smallvec::{smallvec, SmallVec};
use std::ops::ControlFlow;

/// Last writes, and the number of orders that end with them.
type CountedWrites = (SmallVec<[usize; 4]>, u64);

impl Prepared {
    /// What the coherence axioms imply for the last choice.
    pub(super) fn constraints(
        &self,
        schedule: &Schedule,
        coherence: &CoherenceAxioms,
    ) -> SearchResult<OrderConstraints> {
        let choice = schedule
            .stages
            .iter()
            .rev()
            .find_map(|stage| stage.choice.as_ref());
        let Some(Choice {
            step,
            source: Source::Orders { base, .. },
            ..
        }) = choice
        else {
            return Ok(OrderConstraints::Unknown);
        };
        let Some(classes) = &self.classes[self.choice_index(step.choice)] else {
            return Ok(OrderConstraints::Unknown);
        };
        let (typed, rows) = (&self.typed, &self.values.rows);
        let base = self.relation(*base)?;
        let is_rf = |id: &&OpId| *typed.plan.operations.op(**id) == Op::ReadsFrom;
        let rf = match typed.candidates.iter().find(is_rf) {
            Some(id) => rows.relation(typed.slot(*id)),
            None => &[],
        };
        Ok(coherence.constraints(typed, &self.values, rf, base.rows(), &classes.0))
    }

    /// Visits the orders of the last choice grouped by their observed last writes; none if they
    /// must be enumerated.
    pub(super) fn count(
        &mut self,
        schedule: &Schedule,
        observed: &Set,
        visit: &mut Visit,
    ) -> SearchResult<Option<ControlFlow<()>>> {
        let Some(coherence) = &schedule.coherence else {
            return Ok(None);
        };
        let classes = match self.constraints(schedule, coherence)? {
            OrderConstraints::Unknown => return Ok(None),
            OrderConstraints::Impossible => return Ok(Some(ControlFlow::Continue(()))),
            OrderConstraints::Orders(classes) => classes,
        };
        // The last writes so far, with their counts.
        let mut choices: SmallVec<[CountedWrites; 2]> = smallvec![(SmallVec::new(), 1)];
        for blocks in &classes {
            let ends = blocks.ends(&mut || self.spend())?;
            let ends = ends
                .iter()
                .zip(&blocks.last)
                .filter(|(count, _)| **count > 0);
            let mut counted: SmallVec<[(Option<usize>, u64); 2]> = SmallVec::new();
            for (count, last) in ends {
                let last = observed.contains(*last).then_some(*last);
                match counted.iter_mut().find(|(known, _)| *known == last) {
                    Some((_, sum)) => *sum = sum.checked_add(*count).ok_or(TooMany)?,
                    None => counted.push((last, *count)),
                }
            }
            if blocks.last.is_empty() {
                continue;
            }
            let mut longer = SmallVec::new();
            for (lasts, count) in &choices {
                for (last, more) in &counted {
                    self.spend()?;
                    let mut lasts = lasts.clone();
                    lasts.extend(*last);
                    longer.push((lasts, count.checked_mul(*more).ok_or(TooMany)?));
                }
            }
            choices = longer;
        }
        let (flags, undefined) = self.flags_raised(schedule)?;
        for (lasts, count) in &choices {
            let solution = Solution {
                co: None,
                choices: &[],
                flags: &flags,
                undefined,
                count: *count,
                last_writes: Some(lasts),
            };
            if visit(&solution).is_break() {
                return Ok(Some(ControlFlow::Break(())));
            }
        }
        Ok(Some(ControlFlow::Continue(())))
    }
}

impl From<TooMany> for Box<CatError> {
    fn from(_: TooMany) -> Self {
        let mut error = CatError::placeless("more executions than can be counted", "");
        error.limit = true;
        Box::new(error)
    }
}
