//! Statements → a plan: the entry point of planning.
use super::compact::compact;
use super::environment::{Env, Procedure, StaticValue};
use super::expressions::{ExpressionPlanner, DEEP, SHALLOW, TOO_DEEP};
use super::fault::Fault;
use super::final_writes::needs_finals;
use super::operation::{Op, OpId, Operations};
use super::operators::PlanResult;
use super::parts::Grain;
use super::steps::{roots, CheckStep, ChoiceStep, Plan, Step};
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::syntax::names::{SourcePosition, Symbol};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deeply files, procedures and blocks may nest.
const MAX_DEPTH: usize = 100;
/// How many statements may be executed, those of included files and procedures counted each time.
const MAX_STATEMENTS: usize = 20_000;

struct Planner<'m> {
    expressions: ExpressionPlanner<'m>,
    steps: Vec<Step>,
    enums: HashMap<Symbol, Vec<Symbol>>,
    choices: Vec<ChoiceStep>,
    depth: usize,
    statements: usize,
}

/// The size of the large stack.
const STACK: usize = 256 << 20;

/// Plans the statements of the prelude and of a model; on a thread with a large stack if
/// expressions nest deeply. `in_parts`: for graphs whose accesses may consist of several events.
pub fn plan(
    files: &Files,
    blocks: &[&Block],
    variants: &dyn Fn(&str) -> bool,
    in_parts: bool,
) -> PlanResult<Plan> {
    let on = |name: &String| (name.clone(), variants(name));
    let variants: HashMap<String, bool> = files.variants.iter().map(on).collect();
    match plan_nested(files, blocks, &variants, in_parts, SHALLOW) {
        Err((_, Fault::Limit(TOO_DEEP))) => {}
        result => return result,
    }
    std::thread::scope(|threads| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let handle = builder.spawn_scoped(threads, || {
            plan_nested(files, blocks, &variants, in_parts, DEEP)
        });
        let joined = handle.ok().and_then(|handle| handle.join().ok());
        let stopped = Fault::Limit("no thread with a large stack could be started");
        joined.unwrap_or(Err((SourcePosition::default(), stopped)))
    })
}

fn plan_nested(
    files: &Files,
    blocks: &[&Block],
    variants: &HashMap<String, bool>,
    in_parts: bool,
    deepest: usize,
) -> PlanResult<Plan> {
    let is_on = |name: &str| variants.get(name).copied().unwrap_or(false);
    let mut planner = Planner {
        expressions: ExpressionPlanner::new(files, &is_on, deepest),
        steps: Vec::new(),
        enums: HashMap::new(),
        choices: Vec::new(),
        depth: 0,
        statements: 0,
    };
    if in_parts {
        planner.divide()?;
    }
    let mut env = Env::default();
    for block in blocks {
        env = planner.block(block, env)?;
    }
    drop(env);
    if in_parts {
        planner.forbid_torn_accesses()?;
    }
    let Planner {
        expressions,
        steps,
        enums,
        choices,
        ..
    } = planner;
    let ExpressionPlanner {
        names,
        mut operations,
        ..
    } = expressions;
    let (mut steps, mut choices) = (steps, choices);
    // Sources of choices count as roots, so that their operands keep their order.
    let mut needed = roots(&operations, &steps);
    needed.extend(choices.iter().map(|choice| choice.source));
    compact(&mut operations, &mut steps, &mut choices, &needed);
    let given = given(&operations, &steps);
    let needs_finals = needs_finals(&operations, &names, &steps);
    Ok(Plan {
        names,
        operations,
        steps,
        enums,
        choices,
        variants: variants.clone(),
        given,
        needs_finals,
    })
}

impl Planner<'_> {
    fn block(&mut self, block: &Block, mut env: Env) -> PlanResult<Env> {
        self.depth += 1;
        for statement in block.iter() {
            self.statements += 1;
            if self.depth > MAX_DEPTH {
                return Err((
                    statement.at,
                    Fault::Limit("files, procedures and blocks nest too deeply"),
                ));
            }
            if self.statements > MAX_STATEMENTS {
                return Err((
                    statement.at,
                    Fault::Limit("the model executes too many statements"),
                ));
            }
            env = self.statement(statement, env)?;
        }
        self.depth -= 1;
        Ok(env)
    }

    fn stop<T>(&self, message: &str, at: SourcePosition) -> PlanResult<T> {
        Err((at, Fault::Message(message.into())))
    }

    fn statement(&mut self, statement: &Statement, env: Env) -> PlanResult<Env> {
        let at = statement.at;
        match &statement.kind {
            StatementKind::Let(bindings) => self.expressions.bindings(bindings, &env),
            StatementKind::LetRec(bindings, check) => {
                let env = self.expressions.recursion(bindings, &env)?;
                if let Some(check) = check {
                    self.check(check, &env)?;
                }
                Ok(env)
            }
            StatementKind::Check(check) => {
                self.check(check, &env)?;
                Ok(env)
            }
            StatementKind::With(name, source) => {
                let at = source.at;
                let source = self.expressions.id(source, &env)?;
                let choice = self
                    .expressions
                    .operations
                    .add(Op::Choice(self.choices.len() as u32), at)?;
                let step = ChoiceStep {
                    at,
                    name: *name,
                    source,
                    choice,
                };
                self.choices.push(step);
                self.steps.push(Step::Choose(step));
                Ok(env.with(Some(*name), StaticValue::Operation(choice)))
            }
            StatementKind::IfVariant(variant, yes, no) => {
                let on = variant.holds(self.expressions.variants);
                self.block(if on { yes } else { no }, env)
            }
            StatementKind::Include(name) => {
                let files = self.expressions.files;
                match files.included.get(&(at.file, name.clone())) {
                    Some(Ok(block)) => self.block(block, env),
                    Some(Err(error)) => Err((at, Fault::Error(Arc::new(error.clone())))),
                    None => self.stop("the included file was not parsed", at),
                }
            }
            StatementKind::Procedure {
                name,
                parameter,
                body,
                recursive,
            } => {
                let procedure = Procedure {
                    name: *name,
                    parameter: parameter.clone(),
                    body: body.clone(),
                    env: env.clone(),
                    recursive: *recursive,
                };
                Ok(env.with(Some(*name), StaticValue::Procedure(Rc::new(procedure))))
            }
            StatementKind::Call(name, argument) => {
                let Some(StaticValue::Procedure(procedure)) = env.find(*name).cloned() else {
                    let message =
                        format!("unknown procedure {}", self.expressions.names.text(*name));
                    return self.stop(&message, at);
                };
                let argument = self.expressions.exp(argument, &env)?;
                let mut inner = procedure.env.clone();
                if procedure.recursive {
                    inner = inner.with(
                        Some(procedure.name),
                        StaticValue::Procedure(procedure.clone()),
                    );
                }
                let inner = self
                    .expressions
                    .bind(&procedure.parameter, argument, &inner, at)?;
                self.block(&procedure.body, inner)?;
                Ok(env)
            }
            StatementKind::Enum(name, tags) => {
                let mut env = env;
                let mut all = tags.clone();
                all.sort_unstable();
                all.dedup();
                self.enums.insert(*name, all);
                for tag in tags {
                    env = env.with(Some(*tag), StaticValue::Tag(*name, *tag));
                }
                let whole = self.expressions.operations.add(Op::Enum(*name), at)?;
                Ok(env.with(Some(*name), StaticValue::Operation(whole)))
            }
            StatementKind::Forall(name, source, body) => {
                let source = self.expressions.exp(source, &env)?;
                let Some(tags) = self.tags(&source) else {
                    return self.stop(
                        "forall requires a set of tags that does not depend on the graph",
                        at,
                    );
                };
                for tag in tags {
                    self.block(body, env.with(Some(*name), tag))?;
                }
                Ok(env)
            }
            StatementKind::MatchTag(value, clauses, otherwise) => {
                let StaticValue::Tag(_, name) = self.expressions.exp(value, &env)? else {
                    return self.stop(
                        "match on statements requires a tag that does not depend on the graph",
                        at,
                    );
                };
                let clause = clauses.iter().find(|(tag, _)| *tag == name);
                match clause.map(|(_, block)| block).or(otherwise.as_ref()) {
                    Some(block) => self.block(block, env),
                    None => self.stop("no clause of match for this tag", at),
                }
            }
        }
    }

    fn check(&mut self, check: &Check, env: &Env) -> PlanResult<()> {
        let value = self.expressions.id(&check.value, env)?;
        let Check {
            at,
            role,
            negated,
            claim,
            name,
            ..
        } = *check;
        self.steps.push(Step::Check(CheckStep {
            at,
            value_at: check.value.at,
            role,
            negated,
            claim,
            value,
            name,
        }));
        Ok(())
    }

    /// Plans for graphs whose accesses may consist of several events.
    fn divide(&mut self) -> PlanResult<()> {
        let name = self.expressions.names.symbol("si");
        let at = SourcePosition::default();
        let same_access = self.expressions.operations.add(Op::Given(name), at)?;
        self.expressions.operations.divide(same_access);
        let grain = Grain::of_given("si");
        self.expressions.operations.set_grain(same_access, grain);
        Ok(())
    }

    /// Adds the axiom that accesses are not torn apart ([`super::parts`]).
    fn forbid_torn_accesses(&mut self) -> PlanResult<()> {
        let is_coherence = |choice: &&ChoiceStep| {
            let name = self.expressions.names.text(choice.name);
            ["co", "mo"].contains(&name)
        };
        let Some(co) = self.choices.iter().find(is_coherence) else {
            return Ok(());
        };
        let (co, at) = (co.choice, co.at);
        let name = self.expressions.names.symbol("single-copy-atomicity");
        let ext = self.expressions.names.symbol("ext");
        let all = &mut self.expressions.operations;
        let rf = all.add(Op::ReadsFrom, at)?;
        let inverse = all.add(Op::Unary(Unary::Inverse, rf), at)?;
        let overwritten = all.sequence(&[inverse, co], at)?;
        let identity = all.add(Op::Identity, at)?;
        let fr = all.binary(Binary::Difference, overwritten, identity, at)?;
        let ext = all.add(Op::Given(ext), at)?;
        let rfe = all.binary(Binary::Intersection, rf, ext, at)?;
        let [rfe, fr, co] = [
            all.between_accesses(rfe, at)?,
            all.between_accesses(fr, at)?,
            all.between_accesses(co, at)?,
        ];
        let later = all.add(Op::Unary(Unary::Star, co), at)?;
        let torn = all.sequence(&[fr, later, rfe], at)?;
        for (claim, value) in [(Claim::Acyclic, co), (Claim::Irreflexive, torn)] {
            self.steps.push(Step::Check(CheckStep {
                at,
                value_at: at,
                role: Role::Axiom,
                negated: false,
                claim,
                value,
                name: Some(name),
            }));
        }
        Ok(())
    }

    /// The elements of a set of tags, if they are static.
    fn tags(&self, known: &StaticValue) -> Option<Vec<StaticValue>> {
        match known {
            StaticValue::Tag(..) => Some(vec![known.clone()]),
            StaticValue::Operation(id) => match self.expressions.operations.op(*id) {
                Op::Enum(name) => {
                    let tags = self.enums.get(name)?.iter();
                    Some(tags.map(|tag| StaticValue::Tag(*name, *tag)).collect())
                }
                Op::Nothing => Some(Vec::new()),
                Op::Explicit(items) => {
                    let tag = |id: &OpId| match self.expressions.operations.op(*id) {
                        Op::Tag(tags, name) => Some(StaticValue::Tag(*tags, *name)),
                        _ => None,
                    };
                    items.iter().map(tag).collect()
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The inputs that the steps need.
fn given(operations: &Operations, steps: &[Step]) -> Vec<OpId> {
    let mut pending = roots(operations, steps);
    let mut seen = vec![false; operations.all.len()];
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        operations.operands(operations.op(id), &mut |operand| pending.push(operand));
    }
    let asked = |id: &OpId| seen[*id as usize] && matches!(operations.op(*id), Op::Given(_));
    (0..operations.all.len() as OpId).filter(asked).collect()
}
