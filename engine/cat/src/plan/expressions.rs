//! Expressions → operations. Functions are inlined where they are called; what depends on the
//! elements of sets of values is deferred to the interpreter.
use super::builtin::Builtin;
use super::environment::*;
use super::fault::Fault;
use super::free_names::{free_names, free_of_functions};
use super::operation::*;
use super::operators::PlanResult;
use super::parts::Grain;
use super::shapes;
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::syntax::names::{Names, SourcePosition, Symbol};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deeply inlined calls may nest.
const MAX_DEPTH: usize = 200;
/// How deeply expressions may nest, inlined functions included: on the caller's stack, and on a
/// large one.
pub const SHALLOW: usize = 120;
pub const DEEP: usize = 5_000;
pub const TOO_DEEP: &str = "expressions nest too deeply";
/// How many calls may be inlined.
const MAX_CALLS: usize = 50_000;

pub struct ExpressionPlanner<'m> {
    pub files: &'m Files,
    pub names: Names,
    pub variants: &'m dyn Fn(&str) -> bool,
    pub operations: Operations,
    depth: usize,
    nested: usize,
    deepest: usize,
    calls: usize,
    reified: HashMap<*const StaticFunction, (Rc<StaticFunction>, OpId)>,
}

impl<'m> ExpressionPlanner<'m> {
    pub fn new(files: &'m Files, variants: &'m dyn Fn(&str) -> bool, deepest: usize) -> Self {
        let names = files.names.clone();
        let operations = Operations::default();
        ExpressionPlanner {
            files,
            names,
            variants,
            operations,
            depth: 0,
            nested: 0,
            deepest,
            calls: 0,
            reified: HashMap::new(),
        }
    }

    fn node(&mut self, op: Op, at: SourcePosition) -> PlanResult<StaticValue> {
        self.operations.add(op, at).map(StaticValue::Operation)
    }

    /// What a name stands for that the model does not define.
    pub fn given(&mut self, name: Symbol, at: SourcePosition) -> PlanResult<StaticValue> {
        let text = self.names.text(name);
        if text.starts_with('\'') {
            let fault = Fault::Message(format!("the tag {text} belongs to no enumeration").into());
            return Ok(StaticValue::Operation(self.operations.fault(fault, at)));
        }
        if let Some(builtin) = Builtin::named(text) {
            return Ok(StaticValue::Builtin(builtin));
        }
        let op = match text {
            "rf" => Op::ReadsFrom,
            "FW" => Op::Finals,
            "id" => Op::Identity,
            _ => Op::Given(name),
        };
        let grain = Grain::of_given(text);
        let id = self.operations.add(op, at)?;
        self.operations.set_grain(id, grain);
        Ok(StaticValue::Operation(id))
    }

    fn lookup(&mut self, name: Symbol, env: &Env, at: SourcePosition) -> PlanResult<StaticValue> {
        let found = if self.names.is_defined(name) {
            env.find(name)
        } else {
            None
        };
        match found {
            Some(known) => Ok(known.clone()),
            None => self.given(name, at),
        }
    }

    /// The operation for an expression.
    pub fn id(&mut self, exp: &ExpRef, env: &Env) -> PlanResult<OpId> {
        let known = self.exp(exp, env)?;
        self.reify(&known, exp.at)
    }

    fn ids(&mut self, items: &[ExpRef], env: &Env) -> PlanResult<Box<[OpId]>> {
        items.iter().map(|item| self.id(item, env)).collect()
    }

    /// The operation for a static value.
    pub fn reify(&mut self, known: &StaticValue, at: SourcePosition) -> PlanResult<OpId> {
        match known {
            StaticValue::Operation(id) => Ok(*id),
            StaticValue::Builtin(builtin) => self.operations.add(Op::Builtin(*builtin), at),
            StaticValue::Tag(tags, name) => self.operations.add(Op::Tag(*tags, *name), at),
            StaticValue::Tuple(items) => {
                let items: PlanResult<Box<[OpId]>> =
                    items.iter().map(|item| self.reify(item, at)).collect();
                self.operations.add(Op::Tuple(items?), at)
            }
            StaticValue::Procedure(_) => {
                let fault = Fault::Message("a procedure is not a value".into());
                Ok(self.operations.fault(fault, at))
            }
            StaticValue::Function(closure) => {
                if let Some((_, id)) = self.reified.get(&Rc::as_ptr(closure)) {
                    return Ok(*id);
                }
                let names = match &closure.group {
                    Some(group) => free_of_functions(group),
                    None => free_of_functions(&[(None, closure.function.clone())]),
                };
                let captured = self.captured(&names, &closure.env, at)?;
                let exp = Arc::new(Exp::new(at, ExpKind::Fun(closure.function.clone())));
                let code = self.operations.defer(Deferred {
                    exp,
                    captured,
                    group: closure.group.clone(),
                });
                let id = self.operations.add(Op::Closure(code), at)?;
                self.reified
                    .insert(Rc::as_ptr(closure), (closure.clone(), id));
                Ok(id)
            }
        }
    }

    fn captured(
        &mut self,
        names: &[Symbol],
        env: &Env,
        at: SourcePosition,
    ) -> PlanResult<Vec<(Symbol, OpId)>> {
        self.nested += 1;
        if self.nested > self.deepest {
            return Err((at, Fault::Limit(TOO_DEEP)));
        }
        let mut captured = Vec::new();
        for name in names {
            let known = self.lookup(*name, env, at)?;
            let id = self.reify(&known, at)?;
            captured.push((*name, self.operations.between_accesses(id, at)?));
        }
        self.nested -= 1;
        Ok(captured)
    }

    /// Defers an expression to the interpreter.
    fn defer(&mut self, exp: &ExpRef, env: &Env) -> PlanResult<StaticValue> {
        let captured = self.captured(&free_names(exp), env, exp.at)?;
        let code = self.operations.defer(Deferred {
            exp: exp.clone(),
            captured,
            group: None,
        });
        self.node(Op::Eval(code), exp.at)
    }

    pub fn exp(&mut self, exp: &ExpRef, env: &Env) -> PlanResult<StaticValue> {
        self.nested += 1;
        if self.nested > self.deepest {
            return Err((exp.at, Fault::Limit(TOO_DEEP)));
        }
        let known = self.exp_here(exp, env);
        self.nested -= 1;
        known
    }

    fn exp_here(&mut self, exp: &ExpRef, env: &Env) -> PlanResult<StaticValue> {
        let at = exp.at;
        let op = match &exp.kind {
            ExpKind::EmptyRelation => Op::EmptyRelation,
            ExpKind::Universe => Op::Universe,
            ExpKind::Var(name) | ExpKind::Tag(name) => return self.lookup(*name, env, at),
            ExpKind::Explicit(items) if items.is_empty() => Op::Nothing,
            ExpKind::Explicit(items) => Op::Explicit(self.ids(items, env)?),
            ExpKind::Tuple(items) => {
                let items: PlanResult<Rc<[StaticValue]>> =
                    items.iter().map(|item| self.exp(item, env)).collect();
                return items.map(StaticValue::Tuple);
            }
            ExpKind::Unary(op, inner) => Op::Unary(*op, self.id(inner, env)?),
            ExpKind::Binary(op, a, b) => {
                let (a, b) = (self.id(a, env)?, self.id(b, env)?);
                return self
                    .operations
                    .binary(*op, a, b, at)
                    .map(StaticValue::Operation);
            }
            ExpKind::Union(items) => {
                let items = self.ids(items, env)?;
                return self
                    .operations
                    .union(items.into_vec(), at)
                    .map(StaticValue::Operation);
            }
            ExpKind::Sequence(items) => {
                let items = self.ids(items, env)?;
                return self
                    .operations
                    .sequence(&items, at)
                    .map(StaticValue::Operation);
            }
            ExpKind::Apply(function, argument) => {
                let function = self.exp(function, env)?;
                let argument = self.exp(argument, env)?;
                return self.apply(&function, argument, at);
            }
            ExpKind::Fun(function) => {
                let function = function.clone();
                return Ok(StaticValue::Function(Rc::new(StaticFunction {
                    function,
                    env: env.clone(),
                    group: None,
                    shape: OnceCell::new(),
                })));
            }
            ExpKind::Let(bindings, body) => {
                let env = self.bindings(bindings, env)?;
                return self.exp(body, &env);
            }
            ExpKind::LetRec(bindings, body) => {
                let env = self.recursion(bindings, env)?;
                return self.exp(body, &env);
            }
            ExpKind::MatchTag(value, clauses, otherwise) => {
                let StaticValue::Tag(_, name) = self.exp(value, env)? else {
                    return self.defer(exp, env);
                };
                let clause = clauses.iter().find(|(tag, _)| *tag == name);
                let Some(body) = clause.map(|(_, body)| body).or(otherwise.as_ref()) else {
                    let fault = Fault::Message("no clause of match for this tag".into());
                    return Ok(StaticValue::Operation(self.operations.fault(fault, at)));
                };
                return self.exp(body, env);
            }
            ExpKind::MatchSet(..) => return self.defer(exp, env),
            ExpKind::Try(first, second) => match self.exp(first, env)? {
                StaticValue::Operation(first) => Op::Try(first, self.id(second, env)?),
                known => return Ok(known),
            },
            ExpKind::If(Condition::Variant(variant), yes, no) => {
                let on = variant.holds(self.variants);
                return self.exp(if on { yes } else { no }, env);
            }
            ExpKind::If(condition, yes, no) => {
                let (test, a, b) = match condition {
                    Condition::Subset(a, b) => (Test::Subset, a, b),
                    Condition::In(a, b) => (Test::In, a, b),
                    Condition::Equal(a, b) => (Test::Equal, a, b),
                    Condition::Variant(_) => unreachable!("handled above"),
                };
                let (a, b) = (self.id(a, env)?, self.id(b, env)?);
                Op::If(test, a, b, self.id(yes, env)?, self.id(no, env)?)
            }
        };
        self.node(op, at)
    }

    /// Applies a function: inlines its body unless it is recursive.
    fn apply(
        &mut self,
        function: &StaticValue,
        argument: StaticValue,
        at: SourcePosition,
    ) -> PlanResult<StaticValue> {
        self.calls += 1;
        if self.calls > MAX_CALLS || self.depth > MAX_DEPTH {
            return Err((at, Fault::Limit("too many nested calls")));
        }
        match function {
            StaticValue::Function(closure) if closure.group.is_none() => {
                if shapes::shape(&self.operations, &self.names, closure)
                    .is_some_and(|shape| shapes::ORDERS.contains(&shape))
                {
                    let pattern = Pattern::Tuple(vec![None, None]);
                    let items = self.parts(&pattern, &argument, at)?;
                    let (set, base) = (self.reify(&items[0], at)?, self.reify(&items[1], at)?);
                    return self.node(Op::Orders(set, base), at);
                }
                let env = self.bind(&closure.function.parameter, argument, &closure.env, at)?;
                self.depth += 1;
                let result = self.exp(&closure.function.body, &env);
                self.depth -= 1;
                result
            }
            StaticValue::Builtin(builtin @ (Builtin::TagEvents | Builtin::TagScope)) => {
                let StaticValue::Tag(_, name) = argument else {
                    let argument = self.reify(&argument, at)?;
                    return self.node(Op::Call(*builtin, argument), at);
                };
                let name = tag_name(self.names.text(name), *builtin);
                let name = self.names.symbol(&name);
                self.node(Op::Given(name), at)
            }
            StaticValue::Builtin(builtin) => {
                let argument = self.reify(&argument, at)?;
                self.node(Op::Call(*builtin, argument), at)
            }
            other => {
                let (function, argument) = (self.reify(other, at)?, self.reify(&argument, at)?);
                self.node(Op::Apply(function, argument), at)
            }
        }
    }

    /// The items of the value that is bound to a tuple of names.
    fn parts(
        &mut self,
        pattern: &Pattern,
        value: &StaticValue,
        at: SourcePosition,
    ) -> PlanResult<Vec<StaticValue>> {
        let Pattern::Tuple(names) = pattern else {
            return Ok(vec![value.clone()]);
        };
        match value {
            StaticValue::Tuple(items) if items.len() == names.len() => Ok(items.to_vec()),
            StaticValue::Operation(id) => {
                let count = names.len() as u32;
                (0..count)
                    .map(|index| self.node(Op::Item(*id, index, count), at))
                    .collect()
            }
            _ => {
                let fault = Fault::Message("wrong number of arguments".into());
                let id = self.operations.fault(fault, at);
                Ok(vec![StaticValue::Operation(id); names.len()])
            }
        }
    }

    pub fn bind(
        &mut self,
        pattern: &Pattern,
        value: StaticValue,
        env: &Env,
        at: SourcePosition,
    ) -> PlanResult<Env> {
        match pattern {
            Pattern::One(name) => Ok(env.with(*name, value)),
            Pattern::Tuple(names) => {
                let items = self.parts(pattern, &value, at)?;
                let named = names.iter().zip(items);
                Ok(named.fold(env.clone(), |env, (name, item)| env.with(*name, item)))
            }
        }
    }

    /// `let … and …`: the definitions do not see one another.
    pub fn bindings(&mut self, bindings: &[Binding], env: &Env) -> PlanResult<Env> {
        let mut inner = env.clone();
        for binding in bindings {
            let value = self.exp(&binding.value, env)?;
            inner = self.bind(&binding.pattern, value, &inner, binding.at)?;
        }
        Ok(inner)
    }

    /// `let rec` of functions only, or of sets and relations only; a mixture is deferred to the
    /// interpreter.
    pub fn recursion(&mut self, bindings: &[Binding], env: &Env) -> PlanResult<Env> {
        let function = |binding: &Binding| match (&binding.value.kind, &binding.pattern) {
            (ExpKind::Fun(function), Pattern::One(name)) => Some((*name, function.clone())),
            _ => None,
        };
        let functions: Vec<_> = bindings.iter().filter_map(function).collect();
        if functions.len() == bindings.len() {
            return Ok(env.with_group(&Arc::new(functions)));
        }
        let single = |binding: &Binding| matches!(binding.pattern, Pattern::One(Some(_)));
        if functions.is_empty() && bindings.iter().all(single) {
            return self.fixpoint(bindings, env);
        }
        self.deferred_recursion(bindings, env)
    }

    fn deferred_recursion(&mut self, bindings: &[Binding], env: &Env) -> PlanResult<Env> {
        let at = bindings[0].at;
        let mut names = Vec::new();
        for binding in bindings {
            match &binding.pattern {
                Pattern::One(name) => names.extend(name),
                Pattern::Tuple(several) => names.extend(several.iter().flatten()),
            }
        }
        let copy = |binding: &Binding| Binding {
            at: binding.at,
            pattern: binding.pattern.clone(),
            value: binding.value.clone(),
        };
        let var = |name: &Symbol| Arc::new(Exp::new(at, ExpKind::Var(*name)));
        let body = Arc::new(Exp::new(
            at,
            ExpKind::Tuple(names.iter().map(var).collect()),
        ));
        let all = ExpKind::LetRec(bindings.iter().map(copy).collect(), body);
        let value = self.defer(&Arc::new(Exp::new(at, all)), env)?;
        let pattern = Pattern::Tuple(names.into_iter().map(Some).collect());
        self.bind(&pattern, value, env, at)
    }

    fn fixpoint(&mut self, bindings: &[Binding], env: &Env) -> PlanResult<Env> {
        let group = self.operations.groups.len() as u32;
        self.operations.groups.push(Group {
            variables: Vec::new(),
            bodies: Vec::new(),
            inner: Vec::new(),
        });
        let mut inner = env.clone();
        let mut variables = Vec::new();
        for (index, binding) in bindings.iter().enumerate() {
            let variable = self
                .operations
                .add(Op::Variable(group, index as u32), binding.at)?;
            variables.push(variable);
            inner = self.bind(
                &binding.pattern,
                StaticValue::Operation(variable),
                &inner,
                binding.at,
            )?;
        }
        let mut bodies = Vec::new();
        for binding in bindings {
            let body = self.id(&binding.value, &inner)?;
            bodies.push(self.operations.between_accesses(body, binding.at)?);
        }
        if let [body] = bodies[..] {
            if let Some(closed) = self.operations.transitive(body, group)? {
                return self.bind(
                    &bindings[0].pattern,
                    StaticValue::Operation(closed),
                    env,
                    bindings[0].at,
                );
            }
        }
        let lists = bodies
            .iter()
            .map(|body| self.operations.inside(*body, group + 1))
            .collect();
        self.operations.groups[group as usize] = Group {
            variables,
            bodies,
            inner: lists,
        };
        let fix = self.operations.add(Op::Fix(group), bindings[0].at)?;
        let mut outer = env.clone();
        for (index, binding) in bindings.iter().enumerate() {
            let item = self.node(
                Op::Item(fix, index as u32, bindings.len() as u32),
                binding.at,
            )?;
            outer = self.bind(&binding.pattern, item, &outer, binding.at)?;
        }
        Ok(outer)
    }
}

/// The name under which the input gives the set or relation of a tag.
fn tag_name(tag: &str, builtin: Builtin) -> String {
    let tag = tag.trim_start_matches('\'');
    if builtin == Builtin::TagScope {
        return tag.to_owned();
    }
    let mut letters = tag.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
