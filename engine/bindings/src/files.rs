//! The litmus tests of folders, found by their headers alone. Their paths and names are stored here,
//! about 100 bytes per test; Python gets those that it asks for.
use super::work::{in_parallel, Caller};
use litmus::outline::Outline;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PySliceMethods};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

const SUFFIX: &[u8] = b".litmus";
/// How many headers a task reads.
const TOGETHER: usize = 64;
/// After how many entries of a folder to check for Ctrl-C.
const ENTRIES: usize = 1024;

/// Many short texts, in blocks: a single buffer would be copied as it grows, and be in memory twice.
#[derive(Default)]
struct Texts(Vec<Vec<u8>>);

/// A text of [`Texts`].
#[derive(Clone, Copy)]
struct Span {
    block: u32,
    start: u32,
    length: u32,
}

impl Texts {
    const BLOCK: usize = 1 << 18;

    fn push(&mut self, text: &[u8]) -> PyResult<Span> {
        let is_full = |block: &Vec<u8>| block.capacity() - block.len() < text.len();
        if self.0.last().is_none_or(is_full) {
            self.0
                .push(Vec::with_capacity(text.len().max(Texts::BLOCK)));
        }
        let at = self.0.len() - 1;
        let block = &mut self.0[at];
        let span = Span {
            block: u32::try_from(at)?,
            start: u32::try_from(block.len())?,
            length: u32::try_from(text.len())?,
        };
        block.extend_from_slice(text);
        Ok(span)
    }

    fn get(&self, span: Span) -> &[u8] {
        &self.0[span.block as usize][span.start as usize..][..span.length as usize]
    }
}

/// Files below folders that were named.
#[derive(Default)]
struct Paths {
    /// Each with the number of the folder that was named.
    folders: Vec<(PathBuf, usize)>,
    names: Texts,
    /// Each file's folder and name.
    files: Vec<(u32, Span)>,
}

/// The functions in Python that choose what is found in folders, and when to check for Ctrl-C.
struct Choice<'py, 'f> {
    is_entered: &'f Bound<'py, PyAny>,
    is_program: &'f Bound<'py, PyAny>,
    entries: usize,
}

impl Choice<'_, '_> {
    fn takes(&self, file: PathBuf) -> PyResult<bool> {
        let answer = self.is_program.call1((file.into_os_string(),))?;
        answer.is_truthy()
    }

    fn enters(&self, folder: &Path) -> PyResult<bool> {
        self.is_entered.call1((folder.as_os_str(),))?.is_truthy()
    }
}

impl Paths {
    /// Adds the files below a folder. What cannot be read is left out; links to folders are not
    /// followed.
    fn add(&mut self, folder: PathBuf, named: usize, choice: &mut Choice<'_, '_>) -> PyResult<()> {
        let here = Path::new(".");
        let is_here = folder.as_os_str().is_empty();
        let Ok(entries) = fs::read_dir(if is_here { here } else { &*folder }) else {
            return Ok(());
        };
        let number = u32::try_from(self.folders.len())?;
        self.folders.push((folder, named));
        let (mut inside, before) = (Vec::new(), self.files.len());
        for entry in entries.map_while(Result::ok) {
            choice.entries += 1;
            if choice.entries % ENTRIES == 0 {
                choice.is_entered.py().check_signals()?;
            }
            let kind = entry.file_type().ok();
            let name = entry.file_name();
            let path = || self.folders[number as usize].0.join(&name);
            if kind.is_some_and(|kind| kind.is_dir()) {
                inside.push(path());
            } else if kind.is_some_and(|kind| kind.is_symlink()) && path().is_dir() {
                continue;
            } else if is_test(name.as_bytes()) || choice.takes(path())? {
                let name = self.names.push(name.as_bytes())?;
                self.files.push((number, name));
            }
        }
        // most tools write files in the order of their names: they are read faster in that order
        let names = &self.names;
        self.files[before..].sort_unstable_by(|a, b| names.get(a.1).cmp(names.get(b.1)));
        for folder in inside {
            if choice.enters(&folder)? {
                self.add(folder, named, choice)?;
            }
        }
        Ok(())
    }

    fn name(&self, file: usize) -> &[u8] {
        self.names.get(self.files[file].1)
    }

    fn path(&self, file: usize) -> PathBuf {
        let (folder, name) = self.files[file];
        self.folders[folder as usize]
            .0
            .join(OsStr::from_bytes(self.names.get(name)))
    }

    /// The number of the folder that was named.
    fn named(&self, file: usize) -> usize {
        self.folders[self.files[file].0 as usize].1
    }
}

fn is_test(name: &[u8]) -> bool {
    name.len() > SUFFIX.len() && name.ends_with(SUFFIX)
}

/// A folder as a prefix of paths: nothing for the current one.
fn prefix(folder: &OsStr) -> PathBuf {
    PathBuf::from(if folder == "." {
        OsStr::new("")
    } else {
        folder
    })
}

/// The paths of the tests and programs below a folder; see the stub.
#[pyfunction]
#[pyo3(signature = (folder, *, is_entered, is_program))]
pub fn below(
    folder: OsString,
    is_entered: &Bound<'_, PyAny>,
    is_program: &Bound<'_, PyAny>,
) -> PyResult<Vec<OsString>> {
    let mut paths = Paths::default();
    let mut choice = Choice {
        is_entered,
        is_program,
        entries: 0,
    };
    paths.add(prefix(&folder), 0, &mut choice)?;
    let mut found: Vec<PathBuf> = (0..paths.files.len())
        .map(|file| paths.path(file))
        .collect();
    found.sort_unstable();
    Ok(found.into_iter().map(PathBuf::into_os_string).collect())
}

/// What the header of a file says.
#[derive(Clone, Copy, Default)]
struct Header {
    /// The name of the test in the buffer, unless it is that of the file.
    name: Option<Span>,
    /// The number of the dialect; none for a file that is no litmus test.
    dialect: Option<u8>,
}

/// A header that is read, with the text that is to be stored.
struct Read {
    dialect: u8,
    name: Option<String>,
    text: Option<Box<str>>,
}

/// The files of litmus tests, in the order of the names of their tests.
struct List {
    paths: Paths,
    folders: Vec<OsString>,
    dialects: Vec<String>,
    headers: Vec<Header>,
    names: Texts,
    /// The texts of the first files.
    texts: FxHashMap<u32, Box<str>>,
    order: Vec<u32>,
}

impl List {
    fn name(&self, file: u32) -> &[u8] {
        let file = file as usize;
        match self.headers[file].name {
            Some(name) => self.names.get(name),
            None => stem(self.paths.name(file)),
        }
    }

    fn rename(&mut self, file: u32, name: &OsStr) -> PyResult<()> {
        self.headers[file as usize].name = Some(self.names.push(name.as_bytes())?);
        Ok(())
    }

    /// Sorts files of one name by their paths.
    fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        let place = |file: u32| {
            let file = file as usize;
            (self.paths.named(file), self.paths.path(file))
        };
        order.sort_unstable_by(|a, b| {
            let by_name = self.name(*a).cmp(self.name(*b));
            by_name.then_with(|| place(*a).cmp(&place(*b)))
        });
        self.order = order;
    }

    /// Where the files of the same name as that at a place end.
    fn same(&self, at: usize) -> usize {
        let name = self.name(self.order[at]);
        let others = self.order[at..].iter();
        at + others.take_while(|file| self.name(**file) == name).count()
    }

    /// Files of one name get the names that `distinguish` gives them; the first alone is left if they
    /// are equal. Whether all names differ then.
    fn distinguish(&mut self, distinguish: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (mut at, mut left, mut is_renamed) = (0, 0, false);
        while at < self.order.len() {
            let end = self.same(at);
            let mut chosen = at..at + 1;
            if end - at > 1 {
                let name = String::from_utf8_lossy(self.name(self.order[at])).into_owned();
                let of_file = |file: &u32| {
                    let path = self.paths.path(*file as usize).into_os_string();
                    (path, &*self.folders[self.paths.named(*file as usize)])
                };
                let files: Vec<_> = self.order[at..end].iter().map(of_file).collect();
                let names: Vec<OsString> = distinguish.call1((name, files))?.extract()?;
                if names.iter().any(|name| *name != names[0]) {
                    for (number, name) in (at..end).zip(&names) {
                        self.rename(self.order[number], name)?;
                    }
                    chosen = at..end;
                    is_renamed = true;
                }
            }
            let count = chosen.len();
            self.order.copy_within(chosen, left);
            left += count;
            at = end;
        }
        self.order.truncate(left);
        if is_renamed {
            self.sort();
        }
        let mut pairs = self.order.windows(2);
        Ok(pairs.all(|pair| self.name(pair[0]) != self.name(pair[1])))
    }
}

/// The name of a file of a test without its suffix.
fn stem(name: &[u8]) -> &[u8] {
    &name[..name.len() - SUFFIX.len()]
}

/// The litmus tests below folders; see the stub.
#[pyfunction]
#[pyo3(signature = (folders, *, is_entered, is_program, dialects, distinguish, stored=0, jobs=0))]
#[allow(clippy::too_many_arguments)] // they are keyword arguments in Python
pub fn litmus_files(
    py: Python<'_>,
    folders: Vec<OsString>,
    is_entered: &Bound<'_, PyAny>,
    is_program: &Bound<'_, PyAny>,
    dialects: Vec<String>,
    distinguish: &Bound<'_, PyAny>,
    stored: usize,
    jobs: usize,
) -> PyResult<Option<LitmusFiles>> {
    let mut paths = Paths::default();
    let mut choice = Choice {
        is_entered,
        is_program,
        entries: 0,
    };
    for (number, folder) in folders.iter().enumerate() {
        let before = paths.files.len();
        paths.add(prefix(folder), number, &mut choice)?;
        let found = before..paths.files.len();
        if found.is_empty() || !found.into_iter().all(|file| is_test(paths.name(file))) {
            return Ok(None);
        }
    }
    let count = paths.files.len();
    let mut headers = Headers {
        headers: vec![Header::default(); count],
        names: Texts::default(),
        texts: FxHashMap::default(),
    };
    let read = AtomicUsize::new(0);
    let task = |number: usize| {
        let files = number * TOGETHER..count.min((number + 1) * TOGETHER);
        files
            .map(|file| header(&paths, file, &dialects, &read, stored))
            .collect()
    };
    let tasks = count.div_ceil(TOGETHER);
    let stop = AtomicBool::new(false);
    in_parallel(py, tasks, jobs, &stop, task, &mut headers)?;
    let mut list = List {
        paths,
        folders,
        dialects,
        headers: headers.headers,
        names: headers.names,
        texts: headers.texts,
        order: (0..u32::try_from(count)?).collect(),
    };
    list.sort();
    if !list.distinguish(distinguish)? {
        return Ok(None);
    }
    let range = 0..list.order.len();
    let list = Arc::new(list);
    Ok(Some(LitmusFiles { list, range }))
}

/// None for a file that is no litmus test with a final condition or a list of locations. The text
/// only until so many bytes were `read`, and if it is what [`litmus::Test::read_text`] gives.
fn header(
    paths: &Paths,
    file: usize,
    dialects: &[String],
    read: &AtomicUsize,
    stored: usize,
) -> Option<Read> {
    let text = String::from_utf8(litmus::Test::read_bytes(&paths.path(file)).ok()?).ok()?;
    let outline = Outline::read("", &text).ok()?;
    let known = dialects.iter().position(|name| name == outline.dialect)?;
    let lists = |line: &str| {
        let rest = line.trim_start().strip_prefix("locations");
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    if outline.condition().is_empty() && !outline.end.lines().any(lists) {
        return None;
    }
    let is_stem = outline.name.as_bytes() == stem(paths.name(file));
    let before = read.fetch_add(text.len(), Ordering::Relaxed);
    let is_stored = before + text.len() <= stored && !text.contains('\r');
    Some(Read {
        dialect: u8::try_from(known).ok()?,
        name: (!is_stem).then(|| outline.name.to_owned()),
        // the buffer that was read into is larger
        text: is_stored.then(|| text.as_str().into()),
    })
}

/// The headers of all files.
struct Headers {
    headers: Vec<Header>,
    names: Texts,
    texts: FxHashMap<u32, Box<str>>,
}

impl Caller<Vec<Option<Read>>> for Headers {
    fn take(&mut self, task: usize, found: Vec<Option<Read>>) -> PyResult<()> {
        for (number, read) in (task * TOGETHER..).zip(found) {
            let Some(read) = read else { continue };
            let name = read.name.map(|name| self.names.push(name.as_bytes()));
            self.headers[number] = Header {
                name: name.transpose()?,
                dialect: Some(read.dialect),
            };
            if let Some(text) = read.text {
                self.texts.insert(u32::try_from(number)?, text);
            }
        }
        Ok(())
    }
}

/// The litmus tests of folders, or a part of them; see the stub.
#[pyclass(module = "weakspot._engine", frozen, sequence)]
pub struct LitmusFiles {
    list: Arc<List>,
    range: Range<usize>,
}

#[pymethods]
impl LitmusFiles {
    fn __len__(&self) -> usize {
        self.range.len()
    }

    fn __getitem__<'py>(&self, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = at.py();
        let list = self.list.clone();
        if let Ok(slice) = at.cast::<PySlice>() {
            let part = slice.indices(isize::try_from(self.range.len())?)?;
            if part.step != 1 {
                return Err(PyValueError::new_err("a part has no gaps"));
            }
            let start = self.range.start + usize::try_from(part.start)?;
            let range = start..start + part.slicelength;
            return Ok(LitmusFiles { list, range }.into_pyobject(py)?.into_any());
        }
        let at = match at.extract::<isize>()? {
            at if at < 0 => self.range.len().checked_add_signed(at),
            at => usize::try_from(at).ok(),
        };
        match at.filter(|at| *at < self.range.len()) {
            Some(at) => {
                let file = list.order[self.range.start + at];
                Ok(LitmusFile { list, file }.into_pyobject(py)?.into_any())
            }
            None => Err(PyIndexError::new_err("no such file")),
        }
    }

    /// The dialects of the tests; "" is among them if a file is no test.
    #[getter]
    fn dialects(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for file in &self.list.order[self.range.clone()] {
            let dialect = self.list.headers[*file as usize].dialect;
            if !found.contains(&dialect) {
                found.push(dialect);
            }
        }
        let name = |number: Option<u8>| number.map_or("", |n| &self.list.dialects[usize::from(n)]);
        found.into_iter().map(name).collect()
    }
}

/// A file of a litmus test; see the stub.
#[pyclass(module = "weakspot._engine", frozen, from_py_object)]
#[derive(Clone)]
pub struct LitmusFile {
    list: Arc<List>,
    file: u32,
}

#[pymethods]
impl LitmusFile {
    #[getter]
    pub fn name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.list.name(self.file))
    }

    #[getter]
    fn arch(&self) -> &str {
        let dialect = self.list.headers[self.file as usize].dialect;
        dialect.map_or("", |number| &self.list.dialects[usize::from(number)])
    }

    #[getter(path)]
    fn path_string(&self) -> OsString {
        self.path().into_os_string()
    }

    #[getter]
    fn folder(&self) -> &OsStr {
        &self.list.folders[self.list.paths.named(self.file as usize)]
    }
}

impl LitmusFile {
    pub fn path(&self) -> PathBuf {
        self.list.paths.path(self.file as usize)
    }

    /// The text, if it is stored.
    pub fn text(&self) -> Option<&str> {
        self.list.texts.get(&self.file).map(|text| &**text)
    }
}
