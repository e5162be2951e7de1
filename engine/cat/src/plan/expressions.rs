//! Laying out a model: expressions become operations, functions are put in where they are
//! called, and only what depends on sets of values is left to the interpreter.
use super::builtin::Prim;
use super::environment::*;
use super::fault::Fault;
use super::free_names::{free_names, free_of_functions};
use super::operation::*;
use super::operators::Laid;
use super::shapes;
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::syntax::names::{Names, Place, Sym};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep calls may be put into one another.
const MAX_DEPTH: usize = 200;
/// How deep expressions may stand in one another, the bodies of functions put in: at first,
/// and on a large stack.
pub const SHALLOW: usize = 120;
pub const DEEP: usize = 5_000;
pub const TOO_DEEP: &str = "expressions stand too deep in one another";
/// How many calls and operations a model may come to.
const MAX_CALLS: usize = 50_000;

pub struct Compiler<'m> {
    pub files: &'m Files,
    pub names: Names,
    pub variants: &'m dyn Fn(&str) -> bool,
    pub nodes: Nodes,
    depth: usize,
    nested: usize,
    deepest: usize,
    calls: usize,
    reified: HashMap<*const KnownClosure, (Rc<KnownClosure>, Id)>,
}

impl<'m> Compiler<'m> {
    pub fn new(files: &'m Files, variants: &'m dyn Fn(&str) -> bool, deepest: usize) -> Self {
        let names = files.names.clone();
        let nodes = Nodes::default();
        Compiler {
            files,
            names,
            variants,
            nodes,
            depth: 0,
            nested: 0,
            deepest,
            calls: 0,
            reified: HashMap::new(),
        }
    }

    fn node(&mut self, op: Op, at: Place) -> Laid<Known> {
        self.nodes.add(op, at).map(Known::Node)
    }

    /// What a name stands for that the model does not define.
    pub fn given(&mut self, name: Sym, at: Place) -> Laid<Known> {
        let text = self.names.text(name);
        if text.starts_with('\'') {
            let fault = Fault::Said(format!("the tag {text} belongs to no enumeration").into());
            return Ok(Known::Node(self.nodes.fault(fault, at)));
        }
        if let Some(prim) = Prim::named(text) {
            return Ok(Known::Prim(prim));
        }
        let op = match text {
            "rf" => Op::ReadsFrom,
            "FW" => Op::Finals,
            "id" => Op::Identity,
            _ => Op::Given(name),
        };
        self.node(op, at)
    }

    fn lookup(&mut self, name: Sym, env: &Env, at: Place) -> Laid<Known> {
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
    pub fn id(&mut self, exp: &ExpRef, env: &Env) -> Laid<Id> {
        let known = self.exp(exp, env)?;
        self.reify(&known, exp.at)
    }

    fn ids(&mut self, items: &[ExpRef], env: &Env) -> Laid<Box<[Id]>> {
        items.iter().map(|item| self.id(item, env)).collect()
    }

    /// The operation whose value is what is known.
    pub fn reify(&mut self, known: &Known, at: Place) -> Laid<Id> {
        match known {
            Known::Node(id) => Ok(*id),
            Known::Prim(prim) => self.nodes.add(Op::Prim(*prim), at),
            Known::Tag(tags, name) => self.nodes.add(Op::Tag(*tags, *name), at),
            Known::Tuple(items) => {
                let items: Laid<Box<[Id]>> =
                    items.iter().map(|item| self.reify(item, at)).collect();
                self.nodes.add(Op::Tuple(items?), at)
            }
            Known::Procedure(_) => {
                let fault = Fault::Said("a procedure is no value".into());
                Ok(self.nodes.fault(fault, at))
            }
            Known::Closure(closure) => {
                if let Some((_, id)) = self.reified.get(&Rc::as_ptr(closure)) {
                    return Ok(*id);
                }
                let names = match &closure.group {
                    Some(group) => free_of_functions(group),
                    None => free_of_functions(&[(None, closure.function.clone())]),
                };
                let captured = self.captured(&names, &closure.env, at)?;
                let exp = Arc::new(Exp::new(at, Kind::Fun(closure.function.clone())));
                let code = self.nodes.code(Code {
                    exp,
                    captured,
                    group: closure.group.clone(),
                });
                let id = self.nodes.add(Op::Closure(code), at)?;
                self.reified
                    .insert(Rc::as_ptr(closure), (closure.clone(), id));
                Ok(id)
            }
        }
    }

    fn captured(&mut self, names: &[Sym], env: &Env, at: Place) -> Laid<Vec<(Sym, Id)>> {
        self.nested += 1;
        if self.nested > self.deepest {
            return Err((at, Fault::Limit(TOO_DEEP)));
        }
        let mut captured = Vec::new();
        for name in names {
            let known = self.lookup(*name, env, at)?;
            captured.push((*name, self.reify(&known, at)?));
        }
        self.nested -= 1;
        Ok(captured)
    }

    /// Leaves an expression to the interpreter.
    fn leave(&mut self, exp: &ExpRef, env: &Env) -> Laid<Known> {
        let captured = self.captured(&free_names(exp), env, exp.at)?;
        let code = self.nodes.code(Code {
            exp: exp.clone(),
            captured,
            group: None,
        });
        self.node(Op::Eval(code), exp.at)
    }

    pub fn exp(&mut self, exp: &ExpRef, env: &Env) -> Laid<Known> {
        self.nested += 1;
        if self.nested > self.deepest {
            return Err((exp.at, Fault::Limit(TOO_DEEP)));
        }
        let known = self.exp_here(exp, env);
        self.nested -= 1;
        known
    }

    fn exp_here(&mut self, exp: &ExpRef, env: &Env) -> Laid<Known> {
        let at = exp.at;
        let op = match &exp.kind {
            Kind::EmptyRelation => Op::EmptyRelation,
            Kind::Universe => Op::Universe,
            Kind::Var(name) | Kind::Tag(name) => return self.lookup(*name, env, at),
            Kind::Explicit(items) if items.is_empty() => Op::Nothing,
            Kind::Explicit(items) => Op::Explicit(self.ids(items, env)?),
            Kind::Tuple(items) => {
                let items: Laid<Rc<[Known]>> =
                    items.iter().map(|item| self.exp(item, env)).collect();
                return items.map(Known::Tuple);
            }
            Kind::Unary(op, inner) => Op::Unary(*op, self.id(inner, env)?),
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.id(a, env)?, self.id(b, env)?);
                return self.nodes.binary(*op, a, b, at).map(Known::Node);
            }
            Kind::Union(items) => {
                let items = self.ids(items, env)?;
                return self.nodes.union(items.into_vec(), at).map(Known::Node);
            }
            Kind::Sequence(items) => {
                let items = self.ids(items, env)?;
                return self.nodes.sequence(&items, at).map(Known::Node);
            }
            Kind::Apply(function, argument) => {
                let function = self.exp(function, env)?;
                let argument = self.exp(argument, env)?;
                return self.apply(&function, argument, at);
            }
            Kind::Fun(function) => {
                let function = function.clone();
                return Ok(Known::Closure(Rc::new(KnownClosure {
                    function,
                    env: env.clone(),
                    group: None,
                    shape: OnceCell::new(),
                })));
            }
            Kind::Let(bindings, body) => {
                let env = self.bindings(bindings, env)?;
                return self.exp(body, &env);
            }
            Kind::LetRec(bindings, body) => {
                let env = self.recursion(bindings, env)?;
                return self.exp(body, &env);
            }
            Kind::MatchTag(value, clauses, otherwise) => {
                let Known::Tag(_, name) = self.exp(value, env)? else {
                    return self.leave(exp, env);
                };
                let clause = clauses.iter().find(|(tag, _)| *tag == name);
                let Some(body) = clause.map(|(_, body)| body).or(otherwise.as_ref()) else {
                    let fault = Fault::Said("no clause of match fits the tag".into());
                    return Ok(Known::Node(self.nodes.fault(fault, at)));
                };
                return self.exp(body, env);
            }
            Kind::MatchSet(..) => return self.leave(exp, env),
            Kind::Try(first, second) => match self.exp(first, env)? {
                Known::Node(first) => Op::Try(first, self.id(second, env)?),
                known => return Ok(known),
            },
            Kind::If(Condition::Variant(variant), yes, no) => {
                let on = variant.holds(self.variants);
                return self.exp(if on { yes } else { no }, env);
            }
            Kind::If(condition, yes, no) => {
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

    /// Applies a function: puts in its body, unless it is recursive.
    fn apply(&mut self, function: &Known, argument: Known, at: Place) -> Laid<Known> {
        self.calls += 1;
        if self.calls > MAX_CALLS || self.depth > MAX_DEPTH {
            return Err((at, Fault::Limit("functions call one another too often")));
        }
        match function {
            Known::Closure(closure) if closure.group.is_none() => {
                if shapes::shape(&self.nodes, &self.names, closure)
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
            Known::Prim(prim @ (Prim::TagEvents | Prim::TagScope)) => {
                let Known::Tag(_, name) = argument else {
                    let argument = self.reify(&argument, at)?;
                    return self.node(Op::Call(*prim, argument), at);
                };
                let name = tag_name(self.names.text(name), *prim);
                let name = self.names.sym(&name);
                self.node(Op::Given(name), at)
            }
            Known::Prim(prim) => {
                let argument = self.reify(&argument, at)?;
                self.node(Op::Call(*prim, argument), at)
            }
            other => {
                let (function, argument) = (self.reify(other, at)?, self.reify(&argument, at)?);
                self.node(Op::Apply(function, argument), at)
            }
        }
    }

    /// The items of what is bound to a tuple of names.
    fn parts(&mut self, pattern: &Pattern, value: &Known, at: Place) -> Laid<Vec<Known>> {
        let Pattern::Tuple(names) = pattern else {
            return Ok(vec![value.clone()]);
        };
        match value {
            Known::Tuple(items) if items.len() == names.len() => Ok(items.to_vec()),
            Known::Node(id) => {
                let count = names.len() as u32;
                (0..count)
                    .map(|index| self.node(Op::Item(*id, index, count), at))
                    .collect()
            }
            _ => {
                let fault =
                    Fault::Said("the number of arguments is not that of the parameters".into());
                let id = self.nodes.fault(fault, at);
                Ok(vec![Known::Node(id); names.len()])
            }
        }
    }

    pub fn bind(&mut self, pattern: &Pattern, value: Known, env: &Env, at: Place) -> Laid<Env> {
        match pattern {
            Pattern::One(name) => Ok(env.with(*name, value)),
            Pattern::Tuple(names) => {
                let items = self.parts(pattern, &value, at)?;
                let named = names.iter().zip(items);
                Ok(named.fold(env.clone(), |env, (name, item)| env.with(*name, item)))
            }
        }
    }

    /// `let … and …`: no definition sees another.
    pub fn bindings(&mut self, bindings: &[Binding], env: &Env) -> Laid<Env> {
        let mut inner = env.clone();
        for binding in bindings {
            let value = self.exp(&binding.value, env)?;
            inner = self.bind(&binding.pattern, value, &inner, binding.at)?;
        }
        Ok(inner)
    }

    /// `let rec`: functions by themselves, or sets and relations by themselves; a mixture
    /// is left to the interpreter.
    pub fn recursion(&mut self, bindings: &[Binding], env: &Env) -> Laid<Env> {
        let function = |binding: &Binding| match (&binding.value.kind, &binding.pattern) {
            (Kind::Fun(function), Pattern::One(name)) => Some((*name, function.clone())),
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
        self.interpreted(bindings, env)
    }

    fn interpreted(&mut self, bindings: &[Binding], env: &Env) -> Laid<Env> {
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
        let var = |name: &Sym| Arc::new(Exp::new(at, Kind::Var(*name)));
        let body = Arc::new(Exp::new(at, Kind::Tuple(names.iter().map(var).collect())));
        let all = Kind::LetRec(bindings.iter().map(copy).collect(), body);
        let value = self.leave(&Arc::new(Exp::new(at, all)), env)?;
        let pattern = Pattern::Tuple(names.into_iter().map(Some).collect());
        self.bind(&pattern, value, env, at)
    }

    fn fixpoint(&mut self, bindings: &[Binding], env: &Env) -> Laid<Env> {
        let group = self.nodes.groups.len() as u32;
        self.nodes.groups.push(Group {
            variables: Vec::new(),
            bodies: Vec::new(),
            inner: Vec::new(),
        });
        let mut inner = env.clone();
        let mut variables = Vec::new();
        for (index, binding) in bindings.iter().enumerate() {
            let variable = self
                .nodes
                .add(Op::Variable(group, index as u32), binding.at)?;
            variables.push(variable);
            inner = self.bind(&binding.pattern, Known::Node(variable), &inner, binding.at)?;
        }
        let mut bodies = Vec::new();
        for binding in bindings {
            bodies.push(self.id(&binding.value, &inner)?);
        }
        if let [body] = bodies[..] {
            if let Some(closed) = self.nodes.transitive(body, group)? {
                return self.bind(
                    &bindings[0].pattern,
                    Known::Node(closed),
                    env,
                    bindings[0].at,
                );
            }
        }
        let lists = bodies
            .iter()
            .map(|body| self.nodes.inside(*body, group + 1))
            .collect();
        self.nodes.groups[group as usize] = Group {
            variables,
            bodies,
            inner: lists,
        };
        let fix = self.nodes.add(Op::Fix(group), bindings[0].at)?;
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

/// The set or relation that stands for a tag in the input.
fn tag_name(tag: &str, prim: Prim) -> String {
    let tag = tag.trim_start_matches('\'');
    if prim == Prim::TagScope {
        return tag.to_owned();
    }
    let mut letters = tag.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
