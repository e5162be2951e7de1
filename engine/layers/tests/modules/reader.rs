//! A crate's source → its modules: what each defines, re-exports and refers to.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// The segments of a path from the crate's root; `*` stands for a glob.
pub type Segments = Vec<String>;

/// A module's own file, its children aside.
#[derive(Default)]
pub struct Module {
    /// The names of items that are defined here.
    pub defines: Vec<String>,
    /// Names that are re-exported, and the paths that they stand for.
    pub re_exports: Vec<(String, Segments)>,
    /// The paths that stand here.
    pub paths: Vec<Segments>,
}

/// The modules of a crate, by path from the root.
pub struct Crate {
    pub modules: BTreeMap<Segments, Module>,
}

impl Crate {
    /// Reads a crate from its `lib.rs`.
    pub fn read(lib: &Path) -> Result<Crate, String> {
        let mut read = Crate {
            modules: BTreeMap::new(),
        };
        let folder = lib.parent().unwrap_or(Path::new("")).to_owned();
        read.file(lib, &folder, Vec::new())?;
        Ok(read)
    }

    /// Reads the file of a module; those of its children are in `folder`.
    fn file(&mut self, path: &Path, folder: &Path, at: Segments) -> Result<(), String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        self.items(&file.items, folder, at)
    }

    fn items(&mut self, items: &[Item], folder: &Path, at: Segments) -> Result<(), String> {
        let mut children = Vec::new();
        for item in items {
            let Item::Mod(child) = item else { continue };
            if is_test(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let inner: Segments = at.iter().cloned().chain([name.clone()]).collect();
            let below = folder.join(&name);
            match &child.content {
                Some((_, items)) => self.items(items, &below, inner)?,
                None => {
                    let (flat, nested) = (folder.join(format!("{name}.rs")), below.join("mod.rs"));
                    let file: PathBuf = if flat.is_file() { flat } else { nested };
                    self.file(&file, &below, inner)?;
                }
            }
            children.push(name);
        }
        let mut reader = Reader {
            at: at.clone(),
            children,
            module: Module::default(),
        };
        items.iter().for_each(|item| reader.visit_item(item));
        self.modules.insert(at, reader.module);
        Ok(())
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.parse_args::<syn::Ident>();
        attribute.path().is_ident("cfg") && condition.is_ok_and(|word| word == "test")
    })
}

struct Reader {
    at: Segments,
    children: Vec<String>,
    module: Module,
}

impl Reader {
    /// The path from the crate's root, unless it leads to another crate or to a local name.
    fn absolute(&self, path: &[String]) -> Option<Segments> {
        let mut base = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.at.clone(),
            first if self.children.iter().any(|child| child == first) => {
                return Some(self.at.iter().chain(path).cloned().collect());
            }
            _ => return None,
        };
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "super" => drop(base.pop()),
                "crate" | "self" => {}
                _ => break,
            }
            rest = others;
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    fn path(&mut self, path: &[String]) {
        let found = self.absolute(path);
        self.module.paths.extend(found);
    }

    /// Calls `each` with the paths of a `use`, and the name that each binds.
    fn uses(tree: &UseTree, before: &mut Segments, each: &mut dyn FnMut(&Segments, String)) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                Self::uses(&path.tree, before, each);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                each(before, before.last().cloned().unwrap_or_default());
            }
            UseTree::Name(name) => {
                let mut path = before.clone();
                path.push(name.ident.to_string());
                each(&path, name.ident.to_string());
            }
            UseTree::Rename(name) => {
                let mut path = before.clone();
                path.push(name.ident.to_string());
                each(&path, name.rename.to_string());
            }
            UseTree::Glob(_) => {
                let mut path = before.clone();
                path.push("*".to_owned());
                each(&path, "*".to_owned());
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    Self::uses(tree, before, each);
                }
            }
        }
    }

    /// The paths among the words of a macro's arguments.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Segments = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.path(&std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.path(&std::mem::take(&mut path));
                    self.tokens(group.stream());
                    colons = 0;
                }
                _ => {
                    self.path(&std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.path(&path);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Union(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Impl(item) => (None, &item.attrs),
            Item::Use(item) => (None, &item.attrs),
            // a module of its own
            Item::Mod(_) => return,
            other => return visit::visit_item(self, other),
        };
        if is_test(attributes) {
            return;
        }
        self.module.defines.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, Visibility::Inherited);
        let mut found = Vec::new();
        Self::uses(&item.tree, &mut Vec::new(), &mut |path, name| {
            found.push((path.clone(), name));
        });
        for (path, name) in found {
            let Some(path) = self.absolute(&path) else {
                continue;
            };
            let own = path.len() > self.at.len() && path.starts_with(&self.at);
            if public && own {
                self.module.re_exports.push((name, path));
            } else {
                self.module.paths.push(path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Segments = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.path(&segments);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }

    /// `pub(super)` refers to nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}
