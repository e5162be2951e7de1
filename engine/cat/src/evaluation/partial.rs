//! Partial candidates: whether a solution may extend what is known of rf and co.
use super::coherence_orders::OrderConstraints;
use super::prepared::{Prepared, SearchResult};
use super::schedule::Source;
use crate::error::CatError;
use crate::types::value_type::Type;
use crate::values::value::Value;
use relation::Relation;

impl Prepared {
    /// Whether a solution may extend this partial rf and coherence order: false only if an axiom
    /// fails that more pairs cannot repair. Without `co`, the part of the order that the model
    /// fixes is used.
    pub fn monotone_axioms_hold(
        &mut self,
        rf: &Relation,
        co: Option<&Relation>,
    ) -> Result<bool, CatError> {
        self.may_hold(rf, co).map_err(|error| *error)
    }

    /// Whether no check fails for good on a partial candidate.
    fn may_hold(&mut self, rf: &Relation, co: Option<&Relation>) -> SearchResult<bool> {
        if self.never.is_some() {
            return Ok(false);
        }
        self.begin_candidate(rf, None);
        let schedule = self.schedule.clone();
        for (operations, step, source) in &schedule.partial.bounds {
            self.compute(operations);
            let typed = self.typed.clone();
            let named = matches!(typed.plan.names.text(step.name), "co" | "mo");
            let index = self.choice_index(step.choice);
            let bound = match (co, source, &self.classes[index]) {
                (Some(co), ..) if named => co.clone(),
                (_, Some(Source::Orders { base, .. }), Some(classes)) => {
                    let base = self.relation(*base)?;
                    let mut bound = Relation::new(self.values.rows.n);
                    for class in &classes.0 {
                        bound.union_with(
                            &base.restrict_domain(class).restrict_range(class).closure(),
                        );
                    }
                    bound
                }
                _ => Relation::new(self.values.rows.n),
            };
            match typed.type_of(step.choice) {
                Type::Relation => {
                    let slot = typed.slot(step.choice);
                    self.values.rows.put_relation(slot, &bound);
                }
                _ => self.values.store.put(step.choice, Value::Relation(bound)),
            }
        }
        if let (Some((coherence, operations)), None) = (&schedule.partial.coherence, co) {
            self.compute(operations);
            let constraints = self.constraints(&schedule, coherence)?;
            match constraints {
                OrderConstraints::Impossible => return Ok(false),
                OrderConstraints::Orders(_) => return self.all_hold(&schedule.partial.others),
                OrderConstraints::Unknown => {}
            }
        }
        self.all_hold(&schedule.partial.checks)
    }
}
