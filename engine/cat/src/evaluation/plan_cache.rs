//! What is worked out once per model and used for every graph: its plans, each typed for what
//! graphs give, and the schedules of these.
//!
//! Each is determined by its key and never changes once it is stored, so that a graph's answer
//! does not depend on the graphs before it. All of it goes with the model.
use super::input::Given;
use super::schedule::{self, Schedule};
use crate::plan::operation::{Op, OpId};
use crate::plan::operators::PlanResult;
use crate::plan::steps::Plan;
use crate::types::inference::infer;
use crate::types::typed::TypedPlan;
use crate::types::value_type::InputType;
use rustc_hash::FxHashMap;
use std::sync::{Arc, RwLock};

/// The plans of a model, by which variants are on.
#[derive(Default)]
pub struct PlanCache(RwLock<Vec<(Vec<bool>, Arc<CachedPlan>)>>);

impl PlanCache {
    /// The plan for these variants, which `make` lays out where it is not there yet.
    pub fn plan(
        &self,
        variants: Vec<bool>,
        make: impl FnOnce() -> PlanResult<Plan>,
    ) -> PlanResult<Arc<CachedPlan>> {
        let known = |plans: &[(Vec<bool>, Arc<CachedPlan>)]| {
            let mut plans = plans.iter();
            plans
                .find(|(key, _)| *key == variants)
                .map(|(_, plan)| plan.clone())
        };
        if let Some(plan) = self.0.read().ok().and_then(|plans| known(&plans)) {
            return Ok(plan);
        }
        let plan = Arc::new(CachedPlan::new(make()?));
        if let Ok(mut plans) = self.0.write() {
            if known(&plans).is_none() {
                plans.push((variants, plan.clone()));
            }
        }
        Ok(plan)
    }
}

/// A plan, and it typed for what graphs have given so far.
pub struct CachedPlan {
    pub plan: Arc<Plan>,
    /// The names that the plan asks a graph for, and the operations that they are.
    pub given: Vec<(OpId, String)>,
    typed: RwLock<Vec<(InputTypes, Relations, Arc<CachedTypes>)>>,
}

/// What a graph gives under each name that a plan asks for.
type InputTypes = Vec<Option<InputType>>;

/// The choices among listed values that are relations: where there is one value to choose.
pub type Relations = Vec<u32>;

impl CachedPlan {
    fn new(plan: Plan) -> CachedPlan {
        let name = |id: &OpId| match plan.operations.op(*id) {
            Op::Given(name) => Some((*id, plan.names.text(*name).to_owned())),
            _ => None,
        };
        CachedPlan {
            given: plan.given.iter().filter_map(name).collect(),
            plan: Arc::new(plan),
            typed: RwLock::default(),
        }
    }

    /// The plan typed for a graph that gives these sets and relations and leaves no choice but
    /// these relations; without them, with such as another graph like it left.
    pub fn typed(
        &self,
        given: &[Option<Given>],
        only: Option<&[u32]>,
    ) -> (Relations, Arc<CachedTypes>) {
        let is_it = |forms: &[Option<InputType>]| forms.iter().copied().eq(given.iter().map(form));
        let known = |all: &[(InputTypes, Relations, Arc<CachedTypes>)]| {
            let mut found = all.iter().rev();
            let fits = |relations: &[u32]| only.map_or(true, |only| only == relations);
            let found = found.find(|(forms, relations, _)| fits(relations) && is_it(forms));
            found.map(|(_, relations, typed)| (relations.clone(), typed.clone()))
        };
        if let Some(typed) = self.typed.read().ok().and_then(|all| known(&all)) {
            return typed;
        }
        let of_name = |name: &str| {
            let index = self.given.iter().position(|(_, given)| given == name)?;
            form(&given[index])
        };
        let relations = only.unwrap_or_default();
        let layout = Arc::new(CachedTypes {
            typed: Arc::new(infer(&self.plan, false, &of_name, relations)),
            schedules: RwLock::default(),
        });
        if let Ok(mut all) = self.typed.write() {
            if known(&all).is_none() {
                let forms = given.iter().map(form).collect();
                all.push((forms, relations.to_vec(), layout.clone()));
            }
        }
        (relations.to_vec(), layout)
    }
}

/// What a graph's names are, as plans are typed for.
fn form(given: &Option<Given>) -> Option<InputType> {
    given.as_ref().map(|given| match given {
        Given::Set(_) => InputType::Set,
        Given::Relation(_) => InputType::Relation,
    })
}

/// A typed plan, and its schedules by what is known of a graph, a bit per operation.
pub struct CachedTypes {
    pub typed: Arc<TypedPlan>,
    schedules: RwLock<FxHashMap<Box<[u64]>, Arc<Schedule>>>,
}

/// How many schedules are stored.
const MAX_SCHEDULES: usize = 5_000;

impl CachedTypes {
    /// The schedule of the search over graphs of which so much is known.
    pub fn schedule(&self, known: &[bool]) -> Arc<Schedule> {
        let mut key = vec![0u64; known.len().div_ceil(64)];
        for (id, known) in known.iter().enumerate() {
            key[id / 64] |= u64::from(*known) << (id % 64);
        }
        if let Ok(schedules) = self.schedules.read() {
            if let Some(schedules) = schedules.get(&key[..]) {
                return schedules.clone();
            }
        }
        let made = Arc::new(schedule::schedule(&self.typed, known));
        if let Ok(mut schedules) = self.schedules.write() {
            if schedules.len() >= MAX_SCHEDULES {
                schedules.clear();
            }
            schedules.insert(key.into(), made.clone());
        }
        made
    }
}
