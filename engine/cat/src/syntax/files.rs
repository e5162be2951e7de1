//! The files of a model: parsing, and the search for included files.
use super::ast::*;
use super::names::{Names, SourcePosition, Symbol};
use super::statements::{self, File};
use crate::error::CatError;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many files a model may consist of.
const MAX_FILES: usize = 500;
/// How long a file may be, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// The text of a file.
#[derive(PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// The statements of an included file, or why it cannot be included. The latter is an error only if
/// the `include` is executed.
pub type Included = Result<Block, CatError>;

/// The files of a model, parsed.
pub struct Files {
    pub names: Names,
    pub sources: Vec<Source>,
    /// The variants that the files ask for, sorted, without duplicates.
    pub variants: Vec<String>,
    /// By the number of the including file and the name in the `include`.
    pub included: HashMap<(u32, String), Included>,
}

/// Finds and reads an included file, given its name and the path of the including file.
pub type FindFile<'f> = dyn Fn(&str, &Path) -> Option<(PathBuf, String)> + 'f;

impl Files {
    pub fn new() -> Self {
        Files {
            names: Names::default(),
            sources: Vec::new(),
            variants: Vec::new(),
            included: HashMap::new(),
        }
    }

    /// The name of a check; its position if it has none.
    pub fn check_name(&self, names: &Names, name: Option<Symbol>, at: SourcePosition) -> String {
        match name {
            Some(name) => names.text(name).to_owned(),
            None => {
                let file = &self.sources[at.file as usize].name;
                let file = Path::new(file)
                    .file_name()
                    .map_or(file.into(), |name| name.to_string_lossy());
                format!("{file}:{}", at.line)
            }
        }
    }

    /// The error for a failing assertion.
    pub fn assertion(&self, names: &Names, name: Option<Symbol>, at: SourcePosition) -> CatError {
        let message = format!("the assertion {} fails", self.check_name(names, name, at));
        let advice = "the model does not apply to this test".to_owned();
        self.error(at, message, advice)
    }

    /// The error at a position, with the text of the line.
    pub fn error(&self, at: SourcePosition, message: String, advice: String) -> CatError {
        let source = &self.sources[at.file as usize];
        let line = (at.line as usize).saturating_sub(1);
        CatError {
            file: source.name.clone(),
            line: at.line as usize,
            column: at.column as usize,
            message,
            advice,
            excerpt: source.text.lines().nth(line).unwrap_or("").to_owned(),
            limit: false,
        }
    }

    /// Parses a text and all files that it includes.
    pub fn add(&mut self, path: &Path, text: String, find: &FindFile) -> Result<File, CatError> {
        let mut blocks = HashMap::new();
        let file = self.parse(path, text)?;
        let mut pending = Vec::new();
        includes(&file.statements, path, &mut pending);
        while let Some((at, name, beside)) = pending.pop() {
            let key = (at.file, name.clone());
            if self.included.contains_key(&key) {
                continue;
            }
            let found = self.include(at, &name, &beside, find, &mut blocks, &mut pending);
            self.included.insert(key, found);
        }
        Ok(file)
    }

    fn parse(&mut self, path: &Path, text: String) -> Result<File, CatError> {
        let number = self.sources.len() as u32;
        let name = path.display().to_string();
        if text.len() > MAX_BYTES {
            let message = format!("{name} is longer than {MAX_BYTES} bytes");
            return Err(CatError::placeless(message, "expected a cat file"));
        }
        self.sources.push(Source { name, text });
        let source = &self.sources[number as usize];
        let parsed = statements::parse(&source.text, number, &mut self.names);
        let mut file = parsed.map_err(|error| self.error(error.at, error.message, error.advice))?;
        self.variants.append(&mut file.variants);
        self.variants.sort_unstable();
        self.variants.dedup();
        Ok(file)
    }

    fn include(
        &mut self,
        at: SourcePosition,
        name: &str,
        beside: &Path,
        find: &FindFile,
        blocks: &mut HashMap<PathBuf, Block>,
        pending: &mut Vec<(SourcePosition, String, PathBuf)>,
    ) -> Included {
        let Some((path, text)) = find(name, beside) else {
            let advice = "searched in the folder of the including file, then in the given folders";
            let message = format!("file {name} not found");
            return Err(self.error(at, message, advice.to_owned()));
        };
        if let Some(block) = blocks.get(&path) {
            return Ok(block.clone());
        }
        if self.sources.len() >= MAX_FILES {
            let message = format!("the model includes more than {MAX_FILES} files");
            return Err(self.error(at, message, String::new()));
        }
        let file = self.parse(&path, text)?;
        includes(&file.statements, &path, pending);
        let block = Arc::new(file.statements);
        blocks.insert(path, block.clone());
        Ok(block)
    }
}

/// Collects the `include` statements, nested ones too.
fn includes(
    statements: &[Statement],
    path: &Path,
    pending: &mut Vec<(SourcePosition, String, PathBuf)>,
) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Include(name) => {
                pending.push((statement.at, name.clone(), path.to_owned()))
            }
            StatementKind::IfVariant(_, yes, no) => {
                includes(yes, path, pending);
                includes(no, path, pending);
            }
            StatementKind::Procedure { body, .. } | StatementKind::Forall(_, _, body) => {
                includes(body, path, pending);
            }
            StatementKind::MatchTag(_, clauses, otherwise) => {
                for (_, block) in clauses {
                    includes(block, path, pending);
                }
                if let Some(block) = otherwise {
                    includes(block, path, pending);
                }
            }
            _ => {}
        }
    }
}

/// Reads a file as text; invalid UTF-8 becomes replacement characters.
pub fn read(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
