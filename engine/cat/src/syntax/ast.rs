//! The syntax tree of a cat file.
use super::names::{SourcePosition, Symbol};
use std::sync::Arc;

/// An expression and its position.
#[derive(Debug)]
pub struct Exp {
    pub at: SourcePosition,
    pub kind: ExpKind,
    /// The height of the tree.
    pub depth: u32,
}

impl Exp {
    pub fn new(at: SourcePosition, kind: ExpKind) -> Exp {
        let mut depth = 0;
        kind.parts(&mut |part| depth = depth.max(part.depth));
        Exp {
            at,
            kind,
            depth: depth + 1,
        }
    }
}

pub type ExpRef = Arc<Exp>;

#[derive(Debug)]
pub enum ExpKind {
    /// `0`, the empty relation
    EmptyRelation,
    /// `_`
    Universe,
    /// `'name`
    Tag(Symbol),
    Var(Symbol),
    /// `{a, b}`
    Explicit(Vec<ExpRef>),
    Tuple(Vec<ExpRef>),
    Unary(Unary, ExpRef),
    Binary(Binary, ExpRef, ExpRef),
    /// `a | b | c`
    Union(Vec<ExpRef>),
    /// `a; b; c`
    Sequence(Vec<ExpRef>),
    Apply(ExpRef, ExpRef),
    Let(Vec<Binding>, ExpRef),
    LetRec(Vec<Binding>, ExpRef),
    Fun(Arc<Function>),
    /// `match e with 'a -> … || _ -> … end`
    MatchTag(ExpRef, Vec<(Symbol, ExpRef)>, Option<ExpRef>),
    /// `match e with {} -> … || x ++ xs -> … end`
    MatchSet(ExpRef, ExpRef, SetPattern, ExpRef),
    Try(ExpRef, ExpRef),
    If(Condition, ExpRef, ExpRef),
}

impl ExpKind {
    /// Calls `each` with every direct subexpression.
    pub fn parts(&self, each: &mut dyn FnMut(&ExpRef)) {
        match self {
            ExpKind::EmptyRelation | ExpKind::Universe | ExpKind::Tag(_) | ExpKind::Var(_) => {}
            ExpKind::Explicit(items) | ExpKind::Tuple(items) => items.iter().for_each(each),
            ExpKind::Union(items) | ExpKind::Sequence(items) => items.iter().for_each(each),
            ExpKind::Unary(_, inner) => each(inner),
            ExpKind::Binary(_, a, b) | ExpKind::Apply(a, b) | ExpKind::Try(a, b) => {
                [a, b].into_iter().for_each(each)
            }
            ExpKind::Let(bindings, body) | ExpKind::LetRec(bindings, body) => {
                bindings.iter().for_each(|binding| each(&binding.value));
                each(body);
            }
            ExpKind::Fun(function) => each(&function.body),
            ExpKind::MatchTag(value, clauses, otherwise) => {
                each(value);
                clauses.iter().for_each(|(_, body)| each(body));
                otherwise.iter().for_each(each);
            }
            ExpKind::MatchSet(value, empty, _, body) => {
                [value, empty, body].into_iter().for_each(each)
            }
            ExpKind::If(condition, yes, no) => {
                match condition {
                    Condition::Equal(a, b) | Condition::Subset(a, b) | Condition::In(a, b) => {
                        each(a);
                        each(b);
                    }
                    Condition::Variant(_) => {}
                }
                each(yes);
                each(no);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `r+`
    Plus,
    /// `r*`
    Star,
    /// `r?`
    Optional,
    /// `~r`
    Complement,
    /// `r^-1`
    Inverse,
    /// `[s]`
    Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a & b`
    Intersection,
    /// `a \ b`
    Difference,
    /// `a * b`
    Product,
    /// `a ++ b`
    Add,
}

/// The pattern of a parameter or a definition: a name, or a tuple of names; `_` binds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    One(Option<Symbol>),
    Tuple(Vec<Option<Symbol>>),
}

#[derive(Debug)]
pub struct Binding {
    pub at: SourcePosition,
    pub pattern: Pattern,
    pub value: ExpRef,
}

#[derive(Debug)]
pub struct Function {
    pub parameter: Pattern,
    pub body: ExpRef,
}

/// Functions that are defined together, by name.
pub type Functions = Arc<Vec<(Option<Symbol>, Arc<Function>)>>;

#[derive(Debug)]
pub enum SetPattern {
    /// `x ++ rest`
    First(Option<Symbol>, Option<Symbol>),
    /// `before | x ++ after`
    Middle(Option<Symbol>, Option<Symbol>, Option<Symbol>),
}

#[derive(Debug)]
pub enum Condition {
    Equal(ExpRef, ExpRef),
    Subset(ExpRef, ExpRef),
    In(ExpRef, ExpRef),
    Variant(Variant),
}

/// A condition on the checker's variants.
#[derive(Debug)]
pub enum Variant {
    Is(String),
    Not(Box<Variant>),
    And(Box<Variant>, Box<Variant>),
    Or(Box<Variant>, Box<Variant>),
}

impl Variant {
    pub fn holds(&self, on: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Variant::Is(name) => on(name),
            Variant::Not(inner) => !inner.holds(on),
            Variant::And(a, b) => a.holds(on) && b.holds(on),
            Variant::Or(a, b) => a.holds(on) || b.holds(on),
        }
    }
}

/// What a check asserts of a relation or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    Acyclic,
    Irreflexive,
    Empty,
}

/// The consequence of a failing claim; for a flag, of a claim that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The execution is inconsistent.
    Axiom,
    /// `flag`: the name is reported.
    Flag,
    /// `undefined_unless`: the program has undefined behaviour.
    UndefinedUnless,
    /// `assert`: the model does not apply to the test.
    Assert,
}

#[derive(Debug)]
pub struct Check {
    pub at: SourcePosition,
    pub role: Role,
    pub negated: bool,
    pub claim: Claim,
    pub value: ExpRef,
    pub name: Option<Symbol>,
}

pub type Block = Arc<Vec<Statement>>;

#[derive(Debug)]
pub struct Statement {
    pub at: SourcePosition,
    pub kind: StatementKind,
}

#[derive(Debug)]
pub enum StatementKind {
    Let(Vec<Binding>),
    LetRec(Vec<Binding>, Option<Box<Check>>),
    Check(Box<Check>),
    MatchTag(ExpRef, Vec<(Symbol, Block)>, Option<Block>),
    Procedure {
        name: Symbol,
        parameter: Pattern,
        body: Block,
        recursive: bool,
    },
    Call(Symbol, ExpRef),
    Enum(Symbol, Vec<Symbol>),
    Forall(Symbol, ExpRef, Block),
    With(Symbol, ExpRef),
    IfVariant(Variant, Block, Block),
    Include(String),
}
