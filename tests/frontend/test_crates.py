"""Rust crates, as cargo builds them: which of their tests are programs, and what these show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import weakspot
from weakspot.errors import BadInput, MissingTool, Unsupported
from weakspot.generators.source import cargo, rust
from weakspot.generators.source.build import NO_OPTIONS
from weakspot.system import tools

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.usefixtures("cache"),
]

MESSAGE = """\
//! Passes one number to another thread.
use flag::Flag;
use std::cell::UnsafeCell;

pub struct Message {
    value: UnsafeCell<u32>,
    sent: Flag,
}
unsafe impl Sync for Message {}

impl Message {
    pub const fn new() -> Self {
        Message { value: UnsafeCell::new(0), sent: Flag::new() }
    }

    pub fn send(&self, value: u32) {
        unsafe { *self.value.get() = value };
        self.sent.set();
    }

    pub fn receive(&self) -> Option<u32> {
        self.sent.get().then(|| unsafe { *self.value.get() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(message: &Message) -> Option<u32> {
        std::thread::scope(|scope| {
            scope.spawn(|| message.send(7));
            message.receive()
        })
    }

    #[test]
    fn alone() {
        let message = Message::new();
        message.send(1);
        assert_eq!(message.receive(), Some(1));
    }

    #[test]
    fn passes() {
        assert!(matches!(received(&Message::new()), None | Some(7)));
    }

    #[test]
    fn fails() -> Result<(), String> {
        received(&Message::new()).map(|_| ()).ok_or("not yet".to_string())
    }

    #[test]
    fn returns() -> Result<(), String> {
        let message = Message::new();
        received(&message);
        message.receive().map(|_| ()).ok_or("never".to_string())
    }

    #[test]
    #[should_panic]
    fn panics() {
        received(&Message::new());
        panic!();
    }

    #[test]
    #[ignore = "long"]
    fn ignored() {
        received(&Message::new());
    }

    #[test]
    fn sizes() {
        let sizes = [cfg!(weakspot), cfg!(feature = "small"), flag::SMALL, flag::GIVEN];
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(sizes, [true; 4]));
        });
    }
}
"""

FLAG = """\
use std::sync::atomic::{AtomicBool, Ordering};
pub const SMALL: bool = cfg!(weakspot);
pub const GIVEN: bool = cfg!(given = "yes");
pub struct Flag(AtomicBool);
impl Flag {
    pub const fn new() -> Self {
        Flag(AtomicBool::new(false))
    }
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
"""

FILES = {
    # what only a release build is for is not heeded
    "Cargo.toml": """\
[package]
name = "message"
version = "0.1.0"
edition = "2021"

[features]
small = []

[dependencies]
flag = { path = "flag" }

[profile.dev]
panic = "abort"
opt-level = 2

[profile.dev.package."*"]
opt-level = 3

[[test]]
name = "own_main"
harness = false

[workspace]
""",
    "src/lib.rs": MESSAGE,
    "flag/Cargo.toml": '[package]\nname = "flag"\nversion = "0.1.0"\nedition = "2018"\n',
    "flag/src/lib.rs": FLAG,
    "tests/passing.rs": """\
#[test]
fn outside() {
    let message = message::Message::new();
    std::thread::scope(|scope| {
        scope.spawn(|| message.send(7));
        message.receive();
    });
}
""",
    "tests/own_main.rs": "fn main() { std::thread::spawn(|| ()).join().unwrap(); }\n",
    "examples/sending.rs": "fn main() { std::thread::spawn(|| ()).join().unwrap(); }\n",
    "examples/single.rs": "fn main() {}\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("crates") / "message", FILES)


def explored(
    folder: Path, *tests: str, build: weakspot.Build = NO_OPTIONS
) -> dict[str, weakspot.Exploration]:
    found = weakspot.explore(
        folder, models=["rc20"], machine_models=(), build=weakspot.Build(tests=tests).over(build)
    )
    return {each.program: each for each in found}


GIVEN = weakspot.Build(features=("small",), defines=("given=yes",))


def test_tests_that_start_threads_are_programs(crate: Path) -> None:
    before = set(crate.rglob("*"))
    found = explored(crate, build=GIVEN)
    assert {name: each.result for name, each in found.items()} == {
        "message/tests::passes": "Safe",
        "message/tests::fails": "Violated",
        "message/tests::returns": "Safe",
        "message/tests::sizes": "Safe",
        "message/passing::outside": "Safe",
        "message/own_main": "Safe",
        "message/sending": "Safe",
    }
    assert {each.kind for each in found["message/tests::fails"].violations} == {"assertion"}
    assert set(crate.rglob("*")) - before <= {crate / "Cargo.lock"}


def test_a_test_is_chosen_by_its_name(crate: Path) -> None:
    assert explored(crate, "ignored", build=GIVEN).keys() == {"message/tests::ignored"}
    manifest = crate / "Cargo.toml"
    assert explored(manifest, "alone", "outside", build=GIVEN).keys() == {
        "message/tests::alone",
        "message/passing::outside",
    }
    with pytest.raises(BadInput, match="no test named other in this crate") as raised:
        explored(crate, "other", build=GIVEN)
    assert raised.value.place == str(manifest)
    assert "tests::alone" in str(raised.value.advice)


def test_a_weakened_order_is_found_at_its_line(tmp_path: Path) -> None:
    names = ("src/lib.rs", "flag/Cargo.toml", "tests/passing.rs")
    weak = FLAG.replace("Ordering::Release", "Ordering::Relaxed")
    manifest = '[lib]\ntest = false\n[dependencies]\nflag = { path = "flag" }\n'
    files = {name: FILES[name] for name in names}
    files.update({"Cargo.toml": SMALL.replace("small", "message") + manifest})
    folder = written(tmp_path / "message", {**files, "flag/src/lib.rs": weak})
    (found,) = explored(folder).values()
    assert found.result == "Violated"
    (race,) = [each for each in found.violations if each.kind == "race"]
    assert [site.rpartition("/")[2] for site in race.sites] == ["lib.rs:17", "lib.rs:22"]
    # an edit of a dependency is noticed
    (folder / "flag/src/lib.rs").write_text(FLAG)
    (found,) = explored(folder).values()
    assert found.result == "Safe"


def test_crates_of_a_workspace_are_each_read(tmp_path: Path) -> None:
    test = """\
#[test]
fn starts() {
    std::thread::spawn(|| ()).join().unwrap();
}
"""
    folder = written(
        tmp_path / "space",
        {
            "Cargo.toml": '[workspace]\nmembers = ["one", "two"]\nresolver = "2"\n',
            "one/Cargo.toml": SMALL.replace("small", "one"),
            "one/src/lib.rs": test,
            "two/Cargo.toml": SMALL.replace("small", "two"),
            "two/src/lib.rs": test,
        },
    )
    found = explored(folder)
    assert {name: each.result for name, each in found.items()} == {
        "one/starts": "Safe",
        "two/starts": "Safe",
    }
    assert explored(folder / "two").keys() == {"two/starts"}


SMALL = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'


WORKER = """\
pub fn run(work: fn()) {
    std::thread::spawn(move || std::panic::catch_unwind(work).unwrap()).join().ok();
}
"""
WORKS = """\
#[test]
fn works() {
    assert!(std::panic::catch_unwind(|| panic!()).is_err());
    small::run(|| ());
}

#[test]
fn fails() {
    std::thread::spawn(|| ()).join().unwrap();
    small::run(|| panic!());
}
"""


def test_a_dependency_may_start_the_threads(tmp_path: Path) -> None:
    depends = '[dependencies]\nsmall = { path = "small" }\n'
    folder = written(
        tmp_path / "main",
        {
            "Cargo.toml": SMALL.replace("small", "main") + depends,
            "src/lib.rs": "",
            "tests/works.rs": WORKS,
            "small/Cargo.toml": SMALL,
            "small/src/lib.rs": WORKER,
        },
    )
    found = explored(folder)
    assert {name: each.result for name, each in found.items()} == {
        "main/works::works": "Safe",
        "main/works::fails": "Violated",
    }


LOOM = """\
#![cfg(loom)]
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use loom::sync::{Arc, Condvar, Mutex, Notify};
use loom::{model, thread};

struct Cell(UnsafeCell<u32>, AtomicUsize);
unsafe impl Sync for Cell {}

loom::lazy_static! {
    static ref LAZY: Mutex<u32> = Mutex::new(1);
}
loom::thread_local! {
    static MINE: u32 = 2;
}

#[test]
fn passes() {
    let mut builder = model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let cell = Arc::new(Cell(UnsafeCell::new(0), AtomicUsize::new(0)));
        let other = cell.clone();
        let thread = thread::spawn(move || {
            other.0.with_mut(|it| unsafe { *it = 1 });
            other.1.store(1, Relaxed);
        });
        if cell.1.load(Acquire) == 1 {
            cell.0.with(|it| assert_eq!(unsafe { *it }, 1));
        }
        thread.join().unwrap();
    });
}

#[test]
fn waits() {
    loom::model(|| {
        let both = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let other = both.clone();
        let thread = thread::spawn(move || {
            other.1.fetch_add(*LAZY.lock().unwrap() as usize, Relaxed);
            other.0.notify();
        });
        both.0.wait();
        assert_eq!(both.1.load(Relaxed) as u32 + 1, MINE.with(|it| *it));
        thread.join().unwrap();
    });
}

#[test]
fn sleeps() {
    loom::model(|| {
        let state = Arc::new((Mutex::new(false), Condvar::new()));
        let other = state.clone();
        let thread = thread::spawn(move || other.1.notify_one());
        let mut done = state.0.lock().unwrap();
        while !*done {
            done = state.1.wait(done).unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
fn alone() {
    let mut number = AtomicUsize::new(1);
    number.with_mut(|it| *it += 1);
    assert_eq!(unsafe { number.unsync_load() }, 2);
    let mut pointer = AtomicPtr::new(std::ptr::null_mut::<u32>());
    assert!(pointer.get_mut().is_null());
    let value = loom::future::block_on(async { number.into_inner() });
    assert_eq!(loom::alloc::Track::new(value).into_inner(), 2);
}
"""


def test_tests_of_loom_are_programs_of_std(tmp_path: Path) -> None:
    manifest = '[lib]\ntest = false\n[target."cfg(loom)".dependencies]\nloom = { path = "loom" }\n'
    files = {
        "Cargo.toml": SMALL + manifest,
        "src/lib.rs": "",
        "tests/loom.rs": LOOM,
        # weakspot's is compiled in its place
        "loom/Cargo.toml": SMALL.replace("small", "loom"),
        "loom/src/lib.rs": 'compile_error!("this is loom");\n',
    }
    folder = written(tmp_path / "small", files)
    build = weakspot.Build(loom=True)
    found = explored(folder, "passes", "waits", "sleeps", "alone", build=build)
    assert {name: each.result for name, each in found.items()} == {
        "small/loom::passes": "Violated",
        "small/loom::waits": "Safe",
        "small/loom::sleeps": "Violated",
        "small/loom::alone": "Safe",
    }
    assert {each.kind for each in found["small/loom::sleeps"].violations} == {"hang"}
    (race,) = [each for each in found["small/loom::passes"].violations if each.kind == "race"]
    assert [site.rpartition("/")[2] for site in race.sites] == ["loom.rs:25", "loom.rs:29"]


@pytest.mark.parametrize(
    ("files", "message", "place", "advice"),
    [
        pytest.param(
            {"src/lib.rs": 'pub fn one() -> u32 {\n    "one"\n}\n'},
            "mismatched types",
            "small/src/lib.rs:2:5",
            "",
            id="the crate does not compile",
        ),
        pytest.param(
            {
                "Cargo.toml": SMALL + '[dependencies]\ninner = { path = "../inner" }\n',
                "src/lib.rs": "",
                "../inner/Cargo.toml": SMALL.replace("small", "inner"),
                "../inner/src/lib.rs": "\npub use nothing::*;\n",
            },
            "unresolved import",
            "inner/src/lib.rs:2:9",
            "inner must compile",
            id="a dependency does not compile",
        ),
        pytest.param(
            {"src/lib.rs": "#[test]\nfn alone() {}\n"},
            "no test that starts a thread in this crate",
            "small/Cargo.toml",
            "its tests are alone",
            id="no threads",
        ),
        pytest.param(
            {"src/lib.rs": ""},
            "no test that starts a thread in this crate",
            "small/Cargo.toml",
            "a #[test] that starts threads",
            id="no tests",
        ),
        pytest.param(
            {"Cargo.toml": "[package]\nname = 1\n"},
            "cargo cannot build this crate",
            "small/Cargo.toml",
            "cargo check",
            id="no manifest of cargo's",
        ),
        pytest.param(
            {"Cargo.toml": SMALL + '[dependencies]\ncrossbeam-queue = "0.3"\n', "src/lib.rs": ""},
            "cargo cannot build this crate: no matching package named `crossbeam-queue` found",
            "small/Cargo.toml",
            "cargo fetch",
            id="a dependency cannot be fetched",
        ),
        pytest.param(
            {
                "src/lib.rs": '#[link(name = "no_such_library")]\nextern "C" { fn f(); }\n'
                "#[test]\nfn calls() { unsafe { f() } }\n"
            },
            "linking with `.*` failed",
            "small/Cargo.toml",
            "",
            id="a library of C is not there",
        ),
    ],
)
def test_what_is_wrong_with_a_crate_has_its_place(
    files: dict[str, str],
    message: str,
    place: str,
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    folder = written(tmp_path / "small", {"Cargo.toml": SMALL, **files})
    with pytest.raises(BadInput, match=message) as raised:
        explored(folder)
    assert str(raised.value.place).endswith(place)
    assert advice in (raised.value.advice or "")


def test_without_cargo_the_advice_says_how_to_get_it(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tools.find

    def other(program: tools.Program | str) -> tools.Tool | None:
        return None if program == cargo.CARGO else found(program)

    monkeypatch.setattr(tools, "find", other)
    with pytest.raises(MissingTool, match="cargo is not installed") as raised:
        explored(crate)
    assert "rustup" in str(raised.value.advice)


def test_a_newer_llvm_is_refused_before_anything_is_built(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = rust.Rustc(path="rustc", version="2.0.0", host="x86_64-unknown-linux-gnu", llvm=99)
    monkeypatch.setattr(rust, "find", lambda _: new)
    with pytest.raises(Unsupported, match=r"rustc 2\.0\.0 writes IR of LLVM 99"):
        explored(crate)
