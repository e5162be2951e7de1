//! Laying out a model: expressions become operations, functions are put in where they are
//! called, and only what depends on sets of values is left to the interpreter.
use super::ast::*;
use super::env::*;
use super::load::Files;
use super::node::*;
use super::prims::Prim;
use super::recognise;
use super::value::Fault;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How deep calls may be put into one another.
const MAX_DEPTH: usize = 200;
/// How many calls and operations a model may come to.
const MAX_CALLS: usize = 50_000;
const MAX_NODES: usize = 100_000;

/// A model that cannot be laid out: why, and where.
pub type Stop = (Place, Fault);
pub type Laid<T> = Result<T, Stop>;

pub struct Compiler<'m> {
    pub files: &'m Files,
    pub names: Names,
    pub variants: &'m dyn Fn(&str) -> bool,
    pub nodes: Nodes,
    depth: usize,
    calls: usize,
    reified: HashMap<*const KnownClosure, (Rc<KnownClosure>, Id)>,
}

impl<'m> Compiler<'m> {
    pub fn new(files: &'m Files, variants: &'m dyn Fn(&str) -> bool) -> Self {
        let names = files.names.clone();
        let nodes = Nodes::default();
        Compiler {
            files,
            names,
            variants,
            nodes,
            depth: 0,
            calls: 0,
            reified: HashMap::new(),
        }
    }

    pub fn add(&mut self, op: Op, at: Place) -> Laid<Id> {
        if self.nodes.all.len() >= MAX_NODES {
            return Err((at, Fault::Limit("the model comes to too many operations")));
        }
        Ok(self.nodes.add(op, at))
    }

    fn node(&mut self, op: Op, at: Place) -> Laid<Known> {
        self.add(op, at).map(Known::Node)
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
        match env.find(name) {
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
            Known::Prim(prim) => self.add(Op::Prim(*prim), at),
            Known::Tag(tags, name) => self.add(Op::Tag(*tags, *name), at),
            Known::Tuple(items) => {
                let items: Laid<Box<[Id]>> =
                    items.iter().map(|item| self.reify(item, at)).collect();
                self.add(Op::Tuple(items?), at)
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
                let exp = Arc::new(Exp {
                    at,
                    kind: Kind::Fun(closure.function.clone()),
                });
                let code = self.nodes.code(Code {
                    exp,
                    captured,
                    group: closure.group.clone(),
                });
                let id = self.add(Op::Closure(code), at)?;
                self.reified
                    .insert(Rc::as_ptr(closure), (closure.clone(), id));
                Ok(id)
            }
        }
    }

    fn captured(&mut self, names: &[Sym], env: &Env, at: Place) -> Laid<Vec<(Sym, Id)>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((at, Fault::Limit("functions stand too deep in one another")));
        }
        let mut captured = Vec::new();
        for name in names {
            let known = self.lookup(*name, env, at)?;
            captured.push((*name, self.reify(&known, at)?));
        }
        self.depth -= 1;
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
                return self.binary(*op, a, b, at).map(Known::Node);
            }
            Kind::Union(items) => {
                let items = self.ids(items, env)?;
                return self.union(items.into_vec(), at).map(Known::Node);
            }
            Kind::Sequence(items) => {
                let items = self.ids(items, env)?;
                return self.sequence(&items, at).map(Known::Node);
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
                if recognise::shape(self, closure)
                    .is_some_and(|shape| recognise::ORDERS.contains(&shape))
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
        let var = |name: &Sym| {
            Arc::new(Exp {
                at,
                kind: Kind::Var(*name),
            })
        };
        let body = Arc::new(Exp {
            at,
            kind: Kind::Tuple(names.iter().map(var).collect()),
        });
        let all = Kind::LetRec(bindings.iter().map(copy).collect(), body);
        let value = self.leave(&Arc::new(Exp { at, kind: all }), env)?;
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
            let variable = self.add(Op::Variable(group, index as u32), binding.at)?;
            variables.push(variable);
            inner = self.bind(&binding.pattern, Known::Node(variable), &inner, binding.at)?;
        }
        let mut bodies = Vec::new();
        for binding in bindings {
            bodies.push(self.id(&binding.value, &inner)?);
        }
        if let [body] = bodies[..] {
            if let Some(closed) = self.transitive(body, group)? {
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
        let fix = self.add(Op::Fix(group), bindings[0].at)?;
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

    /// `let rec r = e | r; r` is `let r = e+`.
    fn transitive(&mut self, body: Id, group: u32) -> Laid<Option<Id>> {
        let at = self.nodes.all[body as usize].at;
        let variable = self.add(Op::Variable(group, 0), at)?;
        let twice = Op::Sequence(variable, variable);
        let mut flat = Vec::new();
        let mut waiting = vec![body];
        while let Some(id) = waiting.pop() {
            match self.nodes.op(id) {
                Op::Union(items) => waiting.extend(items.iter()),
                _ => flat.push(id),
            }
        }
        let (steps, rest): (Vec<Id>, Vec<Id>) = flat
            .into_iter()
            .partition(|id| *self.nodes.op(*id) == twice);
        let depends = |id: &Id| self.nodes.all[*id as usize].group > group;
        if steps.len() != 1 || rest.is_empty() || rest.iter().any(depends) {
            return Ok(None);
        }
        let once = self.union(rest, at)?;
        self.add(Op::Unary(Unary::Plus, once), at).map(Some)
    }

    fn level(&self, id: Id) -> (u32, u32) {
        let node = &self.nodes.all[id as usize];
        (node.group, node.level)
    }

    /// A union, what changes least often united first.
    fn union(&mut self, mut items: Vec<Id>, at: Place) -> Laid<Id> {
        items.sort_by_key(|id| (self.level(*id), *id));
        items.dedup();
        let mut whole: Option<Id> = None;
        let mut start = 0;
        while start < items.len() {
            let level = self.level(items[start]);
            let end = start
                + items[start..]
                    .iter()
                    .take_while(|id| self.level(**id) == level)
                    .count();
            let mut part: Vec<Id> = whole.into_iter().collect();
            part.extend(&items[start..end]);
            whole = Some(match part[..] {
                [one] => one,
                _ => self.add(Op::Union(part.into()), at)?,
            });
            start = end;
        }
        match whole {
            Some(id) => Ok(id),
            None => self.add(Op::Nothing, at),
        }
    }

    fn binary(&mut self, op: Binary, a: Id, b: Id, at: Place) -> Laid<Id> {
        if op == Binary::Intersection {
            for (relation, other) in [(a, b), (b, a)] {
                if let Op::Binary(Binary::Product, from, to) = *self.nodes.op(other) {
                    let side = |id: Id| (*self.nodes.op(id) != Op::Universe).then_some(id);
                    let op = Op::Restrict(side(from), relation, side(to));
                    return self.add(op, at);
                }
            }
            if let Op::Unary(Unary::Complement, inner) = *self.nodes.op(b) {
                return self.add(Op::Binary(Binary::Difference, a, inner), at);
            }
        }
        self.add(Op::Binary(op, a, b), at)
    }

    /// `a; b; …`: sets in brackets restrict their neighbours, and what changes least often
    /// is composed first.
    fn sequence(&mut self, items: &[Id], at: Place) -> Laid<Id> {
        let mut list: Vec<(Option<Id>, Option<Id>)> = Vec::new();
        for item in items {
            let next = match *self.nodes.op(*item) {
                Op::Unary(Unary::Identity, set) => (Some(set), None),
                _ => (None, Some(*item)),
            };
            match (list.last_mut(), next) {
                (Some((Some(set), None)), (Some(more), None)) => {
                    *set = self.add(Op::Binary(Binary::Intersection, *set, more), at)?;
                }
                _ => list.push(next),
            }
        }
        let mut relations: Vec<Id> = Vec::new();
        let mut index = 0;
        while index < list.len() {
            let set = |index: usize| list.get(index).and_then(|(set, _)| *set);
            let (from, relation) = match list[index] {
                (Some(set), None) if index + 1 == list.len() => {
                    // Alone, or after a relation that took no set behind it.
                    relations.push(self.add(Op::Unary(Unary::Identity, set), at)?);
                    break;
                }
                (Some(set), None) => {
                    index += 1;
                    (Some(set), list[index].1)
                }
                (_, relation) => (None, relation),
            };
            let Some(relation) = relation else { break };
            let to = set(index + 1);
            index += 1 + usize::from(to.is_some());
            relations.push(match (from, to) {
                (None, None) => relation,
                _ => self.add(Op::Restrict(from, relation, to), at)?,
            });
        }
        while relations.len() > 1 {
            let pairs = relations.windows(2).enumerate();
            let cost = |pair: &[Id]| self.level(pair[0]).max(self.level(pair[1]));
            let best = pairs
                .min_by_key(|(_, pair)| cost(pair))
                .map_or(0, |(index, _)| index);
            let (a, b) = (relations[best], relations.remove(best + 1));
            relations[best] = self.add(Op::Sequence(a, b), at)?;
        }
        Ok(relations[0])
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
