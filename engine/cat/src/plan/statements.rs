//! A model laid out as steps: the checks and choices, in the model's order.
use super::compact::compact;
use super::environment::{Env, Known, Procedure};
use super::expressions::{Compiler, DEEP, SHALLOW, TOO_DEEP};
use super::fault::Fault;
use super::final_writes::needs_finals;
use super::operation::{Id, Nodes, Op};
use super::operators::Laid;
use super::steps::{roots, CheckStep, ChoiceStep, Plan, Step};
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::syntax::names::{Place, Sym};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep files, procedures and blocks may stand in one another.
const MAX_DEPTH: usize = 100;
/// How many statements may be run through.
const MAX_STATEMENTS: usize = 20_000;

struct Planner<'m> {
    compiler: Compiler<'m>,
    steps: Vec<Step>,
    enums: HashMap<Sym, Vec<Sym>>,
    choices: Vec<ChoiceStep>,
    depth: usize,
    statements: usize,
}

/// The size of the stack on which a model is laid out.
const STACK: usize = 256 << 20;

/// Lays out the statements of the prelude and of a model; where they stand deep in one
/// another, in a thread with a large stack.
pub fn plan(files: &Files, blocks: &[&Block], variants: &dyn Fn(&str) -> bool) -> Laid<Plan> {
    let on = |name: &String| (name.clone(), variants(name));
    let variants: HashMap<String, bool> = files.variants.iter().map(on).collect();
    match lay_out(files, blocks, &variants, SHALLOW) {
        Err((_, Fault::Limit(TOO_DEEP))) => {}
        laid => return laid,
    }
    std::thread::scope(|threads| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let handle = builder.spawn_scoped(threads, || lay_out(files, blocks, &variants, DEEP));
        let joined = handle.ok().and_then(|handle| handle.join().ok());
        let stopped = Fault::Limit("the model cannot be laid out");
        joined.unwrap_or(Err((Place::default(), stopped)))
    })
}

fn lay_out(
    files: &Files,
    blocks: &[&Block],
    variants: &HashMap<String, bool>,
    deepest: usize,
) -> Laid<Plan> {
    let is_on = |name: &str| variants.get(name).copied().unwrap_or(false);
    let mut planner = Planner {
        compiler: Compiler::new(files, &is_on, deepest),
        steps: Vec::new(),
        enums: HashMap::new(),
        choices: Vec::new(),
        depth: 0,
        statements: 0,
    };
    let mut env = Env::default();
    for block in blocks {
        env = planner.block(block, env)?;
    }
    drop(env);
    let Planner {
        compiler,
        steps,
        enums,
        choices,
        ..
    } = planner;
    let Compiler {
        names, mut nodes, ..
    } = compiler;
    let (mut steps, mut choices) = (steps, choices);
    // The sources themselves are roots, so that their operands keep their numbers' order.
    let mut kept = roots(&nodes, &steps);
    kept.extend(choices.iter().map(|choice| choice.source));
    compact(&mut nodes, &mut steps, &mut choices, &kept);
    let given = given(&nodes, &steps);
    let needs_finals = needs_finals(&nodes, &names, &steps);
    Ok(Plan {
        names,
        nodes,
        steps,
        enums,
        choices,
        variants: variants.clone(),
        given,
        needs_finals,
    })
}

impl Planner<'_> {
    fn block(&mut self, block: &Block, mut env: Env) -> Laid<Env> {
        self.depth += 1;
        for statement in block.iter() {
            self.statements += 1;
            if self.depth > MAX_DEPTH {
                return Err((
                    statement.at,
                    Fault::Limit("files and procedures stand too deep in one another"),
                ));
            }
            if self.statements > MAX_STATEMENTS {
                return Err((
                    statement.at,
                    Fault::Limit("the model comes to too many statements"),
                ));
            }
            env = self.statement(statement, env)?;
        }
        self.depth -= 1;
        Ok(env)
    }

    fn stop<T>(&self, message: &str, at: Place) -> Laid<T> {
        Err((at, Fault::Said(message.into())))
    }

    fn statement(&mut self, statement: &Statement, env: Env) -> Laid<Env> {
        let at = statement.at;
        match &statement.kind {
            Action::Let(bindings) => self.compiler.bindings(bindings, &env),
            Action::LetRec(bindings, check) => {
                let env = self.compiler.recursion(bindings, &env)?;
                if let Some(check) = check {
                    self.check(check, &env)?;
                }
                Ok(env)
            }
            Action::Check(check) => {
                self.check(check, &env)?;
                Ok(env)
            }
            Action::With(name, source) => {
                let at = source.at;
                let source = self.compiler.id(source, &env)?;
                let choice = self
                    .compiler
                    .nodes
                    .add(Op::Choice(self.choices.len() as u32), at)?;
                let step = ChoiceStep {
                    at,
                    name: *name,
                    source,
                    choice,
                };
                self.choices.push(step);
                self.steps.push(Step::Choose(step));
                Ok(env.with(Some(*name), Known::Node(choice)))
            }
            Action::IfVariant(variant, yes, no) => {
                let on = variant.holds(self.compiler.variants);
                self.block(if on { yes } else { no }, env)
            }
            Action::Include(name) => {
                let files = self.compiler.files;
                match files.included.get(&(at.file, name.clone())) {
                    Some(Ok(block)) => self.block(block, env),
                    Some(Err(error)) => Err((at, Fault::Error(Arc::new(error.clone())))),
                    None => self.stop("this file is not read", at),
                }
            }
            Action::Procedure {
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
                Ok(env.with(Some(*name), Known::Procedure(Rc::new(procedure))))
            }
            Action::Call(name, argument) => {
                let Some(Known::Procedure(procedure)) = env.find(*name).cloned() else {
                    let message =
                        format!("there is no procedure {}", self.compiler.names.text(*name));
                    return self.stop(&message, at);
                };
                let argument = self.compiler.exp(argument, &env)?;
                let mut inner = procedure.env.clone();
                if procedure.recursive {
                    inner = inner.with(Some(procedure.name), Known::Procedure(procedure.clone()));
                }
                let inner = self
                    .compiler
                    .bind(&procedure.parameter, argument, &inner, at)?;
                self.block(&procedure.body, inner)?;
                Ok(env)
            }
            Action::Enum(name, tags) => {
                let mut env = env;
                let mut all = tags.clone();
                all.sort_unstable();
                all.dedup();
                self.enums.insert(*name, all);
                for tag in tags {
                    env = env.with(Some(*tag), Known::Tag(*name, *tag));
                }
                let whole = self.compiler.nodes.add(Op::Enum(*name), at)?;
                Ok(env.with(Some(*name), Known::Node(whole)))
            }
            Action::Forall(name, source, body) => {
                let source = self.compiler.exp(source, &env)?;
                let Some(tags) = self.tags(&source) else {
                    return self.stop(
                        "forall runs over tags only; this set is not one of tags known beforehand",
                        at,
                    );
                };
                for tag in tags {
                    self.block(body, env.with(Some(*name), tag))?;
                }
                Ok(env)
            }
            Action::MatchTag(value, clauses, otherwise) => {
                let Known::Tag(_, name) = self.compiler.exp(value, &env)? else {
                    return self.stop("match between statements takes a tag known beforehand", at);
                };
                let clause = clauses.iter().find(|(tag, _)| *tag == name);
                match clause.map(|(_, block)| block).or(otherwise.as_ref()) {
                    Some(block) => self.block(block, env),
                    None => self.stop("no clause of match fits the tag", at),
                }
            }
        }
    }

    fn check(&mut self, check: &Check, env: &Env) -> Laid<()> {
        let value = self.compiler.id(&check.value, env)?;
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

    /// The tags of a set of tags, when they are known.
    fn tags(&self, known: &Known) -> Option<Vec<Known>> {
        match known {
            Known::Tag(..) => Some(vec![known.clone()]),
            Known::Node(id) => match self.compiler.nodes.op(*id) {
                Op::Enum(name) => {
                    let tags = self.enums.get(name)?.iter();
                    Some(tags.map(|tag| Known::Tag(*name, *tag)).collect())
                }
                Op::Nothing => Some(Vec::new()),
                Op::Explicit(items) => {
                    let tag = |id: &Id| match self.compiler.nodes.op(*id) {
                        Op::Tag(tags, name) => Some(Known::Tag(*tags, *name)),
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

/// What the steps need of a graph.
fn given(nodes: &Nodes, steps: &[Step]) -> Vec<Id> {
    let mut waiting = roots(nodes, steps);
    let mut seen = vec![false; nodes.all.len()];
    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        nodes.operands(nodes.op(id), &mut |operand| waiting.push(operand));
    }
    let asked = |id: &Id| seen[*id as usize] && matches!(nodes.op(*id), Op::Given(_));
    (0..nodes.all.len() as Id).filter(asked).collect()
}
