//! Debug information: source positions, variables, types.
use rustc_hash::FxHashMap;

#[derive(Debug, Clone)]
pub enum Item<'a> {
    Ref(u32),
    Int(i128),
    Str(&'a str),
    Word(&'a str),
    Other,
}

#[derive(Debug, Clone, Default)]
pub struct Node<'a> {
    /// `DILocation`, …; empty for a tuple.
    pub kind: &'a str,
    pub fields: Vec<(&'a str, Item<'a>)>,
}

impl<'a> Node<'a> {
    fn item(&self, field: &str) -> Option<&Item<'a>> {
        self.fields.iter().find(|f| f.0 == field).map(|f| &f.1)
    }

    pub fn node(&self, field: &str) -> Option<u32> {
        match self.item(field) {
            Some(Item::Ref(id)) => Some(*id),
            _ => None,
        }
    }

    pub fn int(&self, field: &str) -> u64 {
        match self.item(field) {
            Some(Item::Int(value)) => u64::try_from(*value).unwrap_or(0),
            _ => 0,
        }
    }

    pub fn text(&self, field: &str) -> &'a str {
        match self.item(field) {
            Some(Item::Str(text) | Item::Word(text)) => text,
            _ => "",
        }
    }

    /// Whether a field is a word, or a choice of words that contains it.
    pub fn has(&self, field: &str, word: &str) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|(name, item)| *name == field && matches!(item, Item::Word(it) if *it == word))
    }

    pub fn refs(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().filter_map(|f| match f.1 {
            Item::Ref(id) => Some(id),
            _ => None,
        })
    }
}

#[derive(Debug, Default)]
pub struct Metadata<'a> {
    pub nodes: FxHashMap<u32, Node<'a>>,
}

/// A source position: one step of an inlining chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The `inlinedAt` node that this step was reached through; 0 for the outermost.
    pub inlined_at: u32,
}

const MAX_DEPTH: usize = 256;

impl<'a> Metadata<'a> {
    pub fn get(&self, id: u32) -> Option<&Node<'a>> {
        self.nodes.get(&id)
    }

    /// The subprogram that a scope lies in.
    pub fn subprogram(&self, scope: u32) -> Option<&Node<'a>> {
        let mut id = scope;
        for _ in 0..MAX_DEPTH {
            let node = self.get(id)?;
            if node.kind == "DISubprogram" {
                return Some(node);
            }
            id = node.node("scope")?;
        }
        None
    }

    /// A function's qualified name: `push`, `Queue::push`, `main::lambda`.
    pub fn name(&self, subprogram: &Node<'a>) -> String {
        self.name_within(subprogram, 0)
    }

    fn name_within(&self, subprogram: &Node<'a>, depth: usize) -> String {
        let name = plain(subprogram.text("name"));
        let scope = subprogram.node("scope").and_then(|id| self.get(id));
        if let (true, Some(around)) = (name.starts_with("{closure"), scope) {
            return format!("{}::closure", around.text("name"));
        }
        let Some(class) = scope.filter(|s| s.kind == "DICompositeType") else {
            return name.to_string();
        };
        match plain(class.text("name")) {
            "" if name == "operator()" && depth < MAX_DEPTH => {
                let around = class.node("scope").and_then(|id| self.subprogram(id));
                let around = around.map(|s| format!("{}::", self.name_within(s, depth + 1)));
                format!("{}lambda", around.unwrap_or_default())
            }
            "" => name.to_string(),
            class => format!("{class}::{name}"),
        }
    }

    pub fn file(&self, node: &Node<'a>) -> String {
        node.node("file")
            .and_then(|id| self.get(id))
            .map(|f| f.text("filename").to_string())
            .unwrap_or_default()
    }

    /// Whether a function is defined in a header of the compiler.
    pub fn is_library(&self, subprogram: Option<u32>) -> bool {
        let node = subprogram.and_then(|id| self.get(id));
        node.is_some_and(|node| is_system(&self.file(node)))
    }

    /// Whether a function is written in Rust.
    pub fn is_rust(&self, subprogram: &Node<'a>) -> bool {
        let unit = subprogram.node("unit").and_then(|id| self.get(id));
        unit.is_some_and(|unit| unit.has("language", "DW_LANG_Rust"))
    }

    /// The chain of a `DILocation`, innermost first.
    pub fn chain(&self, location: u32) -> Vec<Position> {
        let mut out = Vec::new();
        let mut next = Some(location);
        while let Some(node) = next.and_then(|id| self.get(id)) {
            if node.kind != "DILocation" || out.len() >= MAX_DEPTH {
                break;
            }
            let scope = node.node("scope");
            let subprogram = scope.and_then(|s| self.subprogram(s));
            // a DILexicalBlockFile says when the text comes from another file than the function's
            let file = scope
                .and_then(|s| self.get(s))
                .map(|s| self.file(s))
                .filter(|f| !f.is_empty())
                .or_else(|| subprogram.map(|s| self.file(s)))
                .unwrap_or_default();
            let at = node.node("inlinedAt");
            out.push(Position {
                file,
                line: node.int("line") as u32,
                column: node.int("column") as u32,
                function: subprogram.map(|s| self.name(s)).unwrap_or_default(),
                inlined_at: at.unwrap_or(0),
            });
            next = at;
        }
        out
    }

    /// `file:line:column` of a location: the innermost position in the user's code, if there is
    /// one; or that of a function.
    pub fn place(&self, location: Option<u32>) -> String {
        let function = location.and_then(|id| self.get(id));
        if let Some(node) = function.filter(|node| node.kind == "DISubprogram") {
            return format!("{}:{}:1", self.file(node), node.int("line"));
        }
        let chain = location.map(|id| self.chain(id)).unwrap_or_default();
        let user = chain.iter().find(|p| !is_system(&p.file));
        match user.or(chain.first()) {
            Some(p) => format!("{}:{}:{}", p.file, p.line, p.column),
            None => String::new(),
        }
    }
}

/// Whether a file belongs to the compiler: the front end names such files `<stdatomic.h>`. The
/// user's position is the first outside them.
pub fn is_system(file: &str) -> bool {
    file.starts_with('<')
}

/// A name without its template arguments.
pub fn plain(name: &str) -> &str {
    match name.find('<') {
        Some(at) if name.ends_with('>') && !name.starts_with("operator") => &name[..at],
        _ => name,
    }
}
