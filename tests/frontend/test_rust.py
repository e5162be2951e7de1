"""Rust programs, as rustc compiles them: std's threads, atomics, locks; what goes wrong, where."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from weakspot.errors import BadInput, MissingTool
from weakspot.generators.source import rust
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program, read_program
from weakspot.system import tools

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

MODELS = Path(__file__).parents[2] / "models"

needs_rustc = pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")

RING = """\
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

struct Ring {
    slots: [UnsafeCell<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}
unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == 2 {
            return false;
        }
        unsafe { *self.slots[tail % 2].get() = value };
        self.tail.store(tail + 1, Ordering::Release);
        true
    }
    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { *self.slots[head % 2].get() };
        self.head.store(head + 1, Ordering::Release);
        Some(value)
    }
}

fn main() {
    let ring = Arc::new(Ring {
        slots: [UnsafeCell::new(0), UnsafeCell::new(0)],
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
    });
    let other = ring.clone();
    let thread = thread::spawn(move || {
        other.push(1);
        other.push(2);
    });
    if let Some(value) = ring.pop() {
        assert_eq!(value, 1);
    }
    thread.join().unwrap();
}
"""

SAFE = {
    "mutex": """
use std::sync::{Arc, Mutex};
fn main() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let thread = std::thread::spawn(move || *other.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}
""",
    "condvar": """
use std::sync::{Arc, Condvar, Mutex};
fn main() {
    let it = Arc::new((Mutex::new(0), Condvar::new()));
    let other = it.clone();
    let thread = std::thread::spawn(move || {
        *other.0.lock().unwrap() = 1;
        other.1.notify_one();
    });
    let mut value = it.0.lock().unwrap();
    while *value == 0 { value = it.1.wait(value).unwrap(); }
    drop(value);
    thread.join().unwrap();
}
""",
    "barrier": """
use std::sync::{atomic::{AtomicU32, Ordering::*}, Barrier};
static X: AtomicU32 = AtomicU32::new(0);
static B: Barrier = Barrier::new(2);
fn main() {
    let thread = std::thread::spawn(|| { X.store(1, Relaxed); B.wait().is_leader() });
    let leads = B.wait().is_leader();
    assert_eq!(X.load(Relaxed), 1);
    assert!(thread.join().unwrap() != leads);
}
""",
    "once": """
use std::sync::{LazyLock, OnceLock};
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1, 2, 3]);
fn main() {
    let thread = std::thread::spawn(|| *CELL.get_or_init(|| 1) + LAZY[0]);
    let mine = *CELL.get_or_init(|| 2) + LAZY[0];
    assert_eq!(thread.join().unwrap(), mine);
}
""",
    "park": """
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static FLAG: AtomicBool = AtomicBool::new(false);
fn main() {
    let waits = thread::spawn(|| while !FLAG.load(Acquire) { thread::park(); });
    FLAG.store(true, Release);
    waits.thread().unpark();
    waits.join().unwrap();
}
""",
    "thread_local": """
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
static DROPPED: AtomicU32 = AtomicU32::new(0);
struct Counted(u32);
impl Drop for Counted {
    fn drop(&mut self) { DROPPED.fetch_add(self.0, Relaxed); }
}
thread_local! { static MINE: RefCell<Option<Counted>> = const { RefCell::new(None) }; }
fn main() {
    let thread = std::thread::spawn(|| MINE.with(|it| *it.borrow_mut() = Some(Counted(5))));
    thread.join().unwrap();
    assert_eq!(DROPPED.load(Relaxed), 5);
}
""",
    "system_call": """
use std::sync::atomic::{AtomicU32, Ordering::*};
extern "C" { fn syscall(number: i64, ...) -> i64; }
static WORD: AtomicU32 = AtomicU32::new(0);
fn main() {
    let thread = std::thread::spawn(|| while WORD.load(Acquire) == 0 {
        unsafe { syscall(202, &WORD, 128, 0, std::ptr::null::<u8>()) };
    });
    WORD.store(1, Release);
    unsafe { syscall(202, &WORD, 129, 1) };
    thread.join().unwrap();
}
""",
    "system_call_through_a_function": """
use std::sync::atomic::{AtomicU32, Ordering::*};
extern "C" { fn syscall(number: i64, ...) -> i64; }
static WORD: AtomicU32 = AtomicU32::new(0);
fn futex(number: i64, operation: i32, value: u32) {
    unsafe { syscall(number, &WORD, operation, value, std::ptr::null::<u8>()) };
}
fn main() {
    let thread = std::thread::spawn(|| while WORD.load(Acquire) == 0 { futex(202, 128, 0) });
    WORD.store(1, Release);
    futex(202, 129, 1);
    thread.join().unwrap();
}
""",
    "numbers": """
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;
use std::{thread, time::Duration};
fn main() {
    let nanoseconds = thread::spawn(|| Duration::from_millis(1500).as_nanos());
    assert_eq!(nanoseconds.join().unwrap(), 1_500_000_000);
    let wide = black_box(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef_u128);
    assert_eq!(wide.wrapping_mul(wide), 0x446efc86a6f7108cdca5e20890f2a521);
    let word = black_box(0x8765_4321_u32);
    assert_eq!((word.rotate_left(black_box(8)), word.rotate_right(4)), (0x6543_2187, 0x1876_5432));
    assert_eq!((word.rotate_left(black_box(0)), word.rotate_left(32)), (word, word));
    let (few, many) = (black_box(3_u64), black_box(u64::MAX - 1));
    assert_eq!((few.saturating_sub(many), many.saturating_sub(few)), (0, u64::MAX - 4));
    assert_eq!((few.saturating_add(many), few.saturating_add(4)), (u64::MAX, 7));
    let state = RandomState::new();
    assert_eq!(state.hash_one(1), state.hash_one(1));
    let mut hasher = state.build_hasher();
    hasher.write_u8(1);
    assert!(hasher.finish() != state.hash_one(2_u8));
    assert!(thread::available_parallelism().unwrap().get() > 0);
}
""",
    "an_array_that_is_not_initialised": """
use std::mem::MaybeUninit;
fn list(value: u64) -> [MaybeUninit<u64>; 4] {
    const UNINIT: MaybeUninit<u64> = MaybeUninit::uninit();
    let mut made = [UNINIT; 4];
    made[1].write(value);
    made
}
fn main() {
    let thread = std::thread::spawn(|| list(1));
    assert_eq!(unsafe { thread.join().unwrap()[1].assume_init() }, 1);
}
""",
    "hash_map": """
use std::collections::HashMap;
use std::sync::Mutex;
static MAP: Mutex<Option<HashMap<u8, u8>>> = Mutex::new(None);
fn main() {
    let thread = std::thread::spawn(|| {
        MAP.lock().unwrap().get_or_insert_with(HashMap::new).insert(1, 42);
    });
    if let Some(map) = &*MAP.lock().unwrap() {
        assert_eq!(map.get(&1), Some(&42));
        assert_eq!(map.get(&2), None);
    }
    thread.join().unwrap();
}
""",
    "a_panic_is_caught": """
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;
static M: Mutex<u32> = Mutex::new(0);
fn main() {
    let thread = std::thread::spawn(|| match M.lock() {
        Ok(guard) => *guard,
        Err(poisoned) => *poisoned.into_inner() + 10,
    });
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = M.lock().unwrap();
        *guard = 1;
        panic!("{} is wrong", *guard);
    }));
    assert_eq!(*caught.unwrap_err().downcast::<String>().unwrap(), "1 is wrong");
    assert!(M.is_poisoned() && !std::thread::panicking());
    assert!([0, 11].contains(&thread.join().unwrap()));
}
""",
    "a_scope_is_unwound": """
use std::sync::atomic::{AtomicU32, Ordering::*};
fn main() {
    let x = AtomicU32::new(0);
    let caught = std::panic::catch_unwind(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| x.store(1, Relaxed));
            std::panic::panic_any(7_u8);
        });
    });
    assert_eq!(x.load(Relaxed), 1);
    assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 7);
}
""",
    "printing": """
fn main() {
    let words = vec!["a".to_string(), format!("b{}", 1)];
    let thread = std::thread::spawn(move || { println!("{words:?}"); words.len() });
    println!("hello");
    assert_eq!(thread.join().unwrap(), 2);
}
""",
}

WRONG = {
    "store_buffering": (
        """
use std::sync::atomic::{AtomicU32, Ordering::*};
fn main() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let (a, b) = std::thread::scope(|scope| {
        let a = scope.spawn(|| { x.store(1, Relaxed); y.load(Relaxed) });
        let b = scope.spawn(|| { y.store(1, Relaxed); x.load(Relaxed) });
        (a.join().unwrap(), b.join().unwrap())
    });
    assert!(a == 1 || b == 1);
}
""",
        {("assertion", 10)},
    ),
    "use_after_free": (
        """
use std::sync::atomic::{AtomicPtr, Ordering::*};
static P: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
fn main() {
    P.store(Box::into_raw(Box::new(1)), Release);
    let thread = std::thread::spawn(|| {
        let p = P.load(Acquire);
        if !p.is_null() { unsafe { assert_eq!(*p, 1); } }
    });
    drop(unsafe { Box::from_raw(P.swap(std::ptr::null_mut(), AcqRel)) });
    thread.join().unwrap();
}
""",
        {("memory", 8)},
    ),
    "panic_of_a_thread": (
        """
fn main() {
    let words = vec![1, 2];
    let thread = std::thread::spawn(move || words[words.len()]);
    let _ = thread.join();
}
""",
        {("assertion", 4)},
    ),
    "panic_that_is_not_caught": (
        """
fn main() {
    let caught = std::panic::catch_unwind(|| panic!("this one is"));
    let words = vec![1, 2];
    let thread = std::thread::spawn(move || words[words.len()]);
    assert!(caught.is_err() && thread.join().is_err());
}
""",
        {("assertion", 5)},
    ),
    "panic_that_goes_on": (
        """
fn main() {
    let thread = std::thread::spawn(|| ());
    let caught = std::panic::catch_unwind(|| panic!());
    thread.join().unwrap();
    std::panic::resume_unwind(caught.unwrap_err());
}
""",
        {("assertion", 6)},
    ),
    "deadlock": (
        """
use std::sync::Mutex;
static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);
fn main() {
    let thread = std::thread::spawn(|| { let _a = A.lock(); let _b = B.lock(); });
    { let _b = B.lock(); let _a = A.lock(); }
    thread.join().unwrap();
}
""",
        {("hang", 6), ("hang", 7)},
    ),
}


def read(folder: Path, text: str, build: Build = NO_OPTIONS) -> Program:
    path = folder / "program.rs"
    path.write_text(text, encoding="utf-8")
    return read_program(path, build=build)


def explored(program: Program) -> ExplorationDict:
    return program.explore(MODELS / "rc20.cat", acyclic="program order", jobs=1)


def seen(program: Program) -> set[tuple[str, int]]:
    """The violations: kind and line."""
    return {
        (each["kind"], program.sites[each["site"]].line)
        for each in explored(program)["violations"]
        if each["site"] is not None
    }


@needs_rustc
@pytest.mark.parametrize("name", SAFE)
def test_a_program_of_std_is_safe(name: str, tmp_path: Path) -> None:
    found = explored(read(tmp_path, SAFE[name]))
    assert (found["result"], found["reasons"], found["violations"]) == ("Safe", [], [])


@needs_rustc
@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_is_found_at_its_line(name: str, tmp_path: Path) -> None:
    text, expected = WRONG[name]
    assert seen(read(tmp_path, text)) == expected


@needs_rustc
def test_a_weakened_order_of_a_ring_is_a_race_and_has_its_own_annotation(tmp_path: Path) -> None:
    program = read(tmp_path, RING)
    assert explored(program)["result"] == "Safe"
    weakened = RING.replace("tail + 1, Ordering::Release", "tail + 1, Ordering::Relaxed")
    program = read(tmp_path, weakened)
    assert ("race", 19) in seen(program)
    stores = {
        (site.line, order)
        for site, order in zip(program.sites, program.orders, strict=True)
        if site.file == "program.rs" and site.kind == "W" and order
    }
    assert stores == {(20, "rlx"), (29, "rel")}
    # the same order repairs it
    release = {
        number: "rel"
        for number, each in enumerate(program.sites)
        if each.line == 20 and program.orders[number] == "rlx"
    }
    assert explored(program.with_orders(release))["result"] == "Safe"


@needs_rustc
def test_modules_and_options_of_a_crate_are_read(tmp_path: Path) -> None:
    (tmp_path / "inner.rs").write_text("pub const ONE: u32 = 1;\n")
    text = """
mod inner;
#[cfg(weakspot)] const MINE: u32 = 1;
#[cfg(extra = "yes")] const GIVEN: u32 = 1;
fn main() {
    let thread = std::thread::spawn(|| inner::ONE);
    let gen = thread.join().unwrap(); // a keyword from 2024 on
    assert_eq!(gen, MINE * GIVEN);
}
"""
    program = read(tmp_path, text, Build(defines=("extra=yes",)))
    assert explored(program)["result"] == "Safe"
    assert set(program.files) == {"program.rs", "inner.rs"}
    with pytest.raises(BadInput, match="is Rust, and c11 is not a version of that"):
        read(tmp_path, text, Build(std=("c11",)))
    with pytest.raises(BadInput, match="gen"):
        read(tmp_path, text, Build(defines=("extra=yes",), std=("2024",)))
    # an edit of a module is noticed
    (tmp_path / "inner.rs").write_text("pub const ONE: u32 = 2;\n")
    assert seen(read(tmp_path, text, Build(defines=("extra=yes",)))) == {("assertion", 8)}


@needs_rustc
def test_how_a_thread_waits_for_a_mutex_is_not_explored(tmp_path: Path) -> None:
    found = explored(read(tmp_path, SAFE["condvar"]))
    assert found["complete"] + found["blocked"] < 1000  # 19,558 with std's


@needs_rustc
def test_a_scope_waits_for_its_threads(tmp_path: Path) -> None:
    text = "fn main() {\n    std::thread::scope(|scope| { scope.spawn(|| ()); });\n}\n"
    found = explored(read(tmp_path, text))
    assert (found["result"], found["warnings"]) == ("Safe", [])


BACKOFF = """
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::*};

struct Backoff(Cell<u32>);
impl Backoff {
    fn snooze(&self) {
        if self.0.get() <= 6 {
            for _ in 0..1 << self.0.get() {
                std::hint::spin_loop();
            }
        } else {
            std::thread::yield_now();
        }
        if self.0.get() <= 10 {
            self.0.set(self.0.get() + 1);
        }
    }
}

static READY: AtomicBool = AtomicBool::new(false);
fn main() {
    let thread = std::thread::spawn(|| READY.store(true, Release));
    let backoff = Backoff(Cell::new(0));
    while !READY.load(Acquire) {
        backoff.snooze();
    }
    thread.join().unwrap();
}
"""


LOOKING = """
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::*};
use std::sync::Arc;
use std::time::Duration;

static SEED: AtomicU8 = AtomicU8::new(13);
struct Lock { value: u64, locked: AtomicBool }
impl Lock {
    fn take(&self) -> bool {
        self.locked.compare_exchange(false, true, Acquire, Relaxed).is_ok()
    }
    fn lock(&self) {
        if !self.take() { spin(|| self.take()); }
    }
}
fn pause() {
    let rounds = SEED.fetch_add(1, Relaxed).wrapping_mul(113) & 0x7f;
    for _ in 0..rounds { std::hint::spin_loop(); }
}
fn spin(look: impl Fn() -> bool) {
    let mut looks = 8_u32;
    loop {
        pause();
        for _ in 0..looks { if look() { return; } }
        for _ in 0..2 {
            std::thread::sleep(Duration::from_nanos(0));
            for _ in 0..looks { if look() { return; } }
        }
        if looks < (1 << 30) { looks <<= 1; }
    }
}
fn main() {
    let lock = Arc::new(Lock { value: 1, locked: AtomicBool::new(true) });
    let other = lock.clone();
    let thread = std::thread::spawn(move || other.locked.store(false, Release));
    lock.lock();
    thread.join().unwrap();
    assert_eq!(lock.value, 1);
}
"""


@needs_rustc
def test_a_loop_that_pauses_longer_each_time_waits(tmp_path: Path) -> None:
    found = explored(read(tmp_path, BACKOFF))
    assert (found["result"], found["reasons"]) == ("Safe", [])


@needs_rustc
def test_a_lock_that_looks_ever_more_often_waits(tmp_path: Path) -> None:
    found = explored(read(tmp_path, LOOKING))
    assert (found["result"], found["reasons"]) == ("Safe", [])


@needs_rustc
def test_a_panic_that_can_happen_stays(tmp_path: Path) -> None:
    # after 256 looks it panics
    endless = BACKOFF.replace("Cell<u32>", "Cell<u8>").replace("if self.0.get() <= 10", "")
    found = explored(read(tmp_path, endless))
    assert found["result"] == "Unknown"
    # after the first
    early = BACKOFF.replace("self.0.get() + 1", "self.0.get() - 1")
    assert seen(read(tmp_path, early)) == {("assertion", 16)}


@needs_rustc
def test_notifications_of_stds_locks_are_not_the_users(tmp_path: Path) -> None:
    assert read(tmp_path, SAFE["mutex"]).signals == ()


@needs_rustc
def test_an_error_of_rustc_has_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="mismatched types") as raised:
        read(tmp_path, 'fn main() {\n    let x: u32 = "one";\n}\n')
    assert str(raised.value.place).endswith("program.rs:2:18")


CALLER = """
#include <assert.h>
#include <pthread.h>
void put(int);
int take(void);
static void *thread(void *none) { put(2); return none; }
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, thread, 0);
  int value = take();
  assert(value == 0 || value == 3);
  pthread_join(other, 0);
}
"""
CALLED = """
use std::sync::atomic::{AtomicI32, Ordering};
use cell_of_two::Cell;
static CELL: Cell = Cell::new();
static FULL: AtomicI32 = AtomicI32::new(0);
#[no_mangle] extern "C" fn put(value: i32) {
    CELL.set(value);
    FULL.store(1, Ordering::ORDER);
}
#[no_mangle] extern "C" fn take() -> i32 {
    if FULL.load(Ordering::Acquire) == 1 { CELL.get() } else { 0 }
}
"""
CRATE = """
//! A crate of its own.
pub struct Cell(std::cell::UnsafeCell<i32>);
unsafe impl Sync for Cell {}
impl Cell {
    pub const fn new() -> Self { Cell(std::cell::UnsafeCell::new(0)) }
    pub fn set(&self, value: i32) { unsafe { *self.0.get() = value + 1 } }
    pub fn get(&self) -> i32 { unsafe { *self.0.get() } }
}
"""


@needs_rustc
def test_c_that_calls_rust(tmp_path: Path) -> None:
    """A translation unit in Rust, which uses a crate."""
    caller, called, crate = (tmp_path / each for each in ("c.c", "rust.rs", "cell-of-two.rs"))
    caller.write_text(CALLER)
    crate.write_text(CRATE)
    build = Build(sources=(called,), crates=(crate,))
    called.write_text(CALLED.replace("ORDER", "Release"))
    program = read_program(caller, build=build)
    assert explored(program)["result"] == "Safe"
    assert set(program.files) == {"c.c", "rust.rs", "cell-of-two.rs"}
    called.write_text(CALLED.replace("ORDER", "Relaxed"))
    assert seen(read_program(caller, build=build)) == {("race", 7)}
    called.write_text(CALLED.replace("ORDER", "Release"))
    crate.write_text(CRATE.replace("value + 1", "value"))
    assert seen(read_program(caller, build=build)) == {("assertion", 11)}


def test_without_rustc_the_advice_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    with pytest.raises(MissingTool, match="rustc is not installed") as raised:
        rust.find(Path())
    assert "rustup" in str(raised.value.advice)


ASSEMBLY = """
use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
fn fence() {
    let a = UnsafeCell::new(4_u64);
    let (_old, _b): (u8, u32);
    unsafe { asm!(BODY) };
}
fn main() {
    let other = std::thread::spawn(|| { X.store(1, Relaxed); fence(); Y.load(Relaxed) });
    Y.store(1, Relaxed);
    fence();
    let x = X.load(Relaxed);
    assert!(x + other.join().unwrap() > 0);
}
"""


@needs_rustc
@pytest.mark.usefixtures("cache")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86")
@pytest.mark.parametrize(
    ("body", "result"),
    [
        ('"lock not qword ptr [{0}]", in(reg) a.get(), options(nostack, preserves_flags)', "Safe"),
        ('"lock or dword ptr [rsp - 8], 0"', "Safe"),
        ('"lfence", options(nostack)', "Violated"),
        (
            '"mov {1:e}, 5", "add {1:e}, 0x10", "xchg {1}, qword ptr [{0}]", "sub {1}, 4", '
            '"jz 2f", "lock xadd [{0}], {1}", "2:", "mfence", in(reg) a.get(), out(reg) _);'
            "assert!(*a.get() == 21",
            "Safe",
        ),
        (
            '"lock bts qword ptr [{0:r}], 1", "setc {1}", "mfence", in(reg) a.get(), '
            "out(reg_byte) _old); assert!(_old == 0 && *a.get() == 6",
            "Safe",
        ),
        ('"xchg qword ptr [{0}], {1}", in(reg) a.get(), out(reg) _', "Safe"),
        (
            '"mov r8, rbx", "cpuid", "xchg r8, rbx", out("r8") _b, inout("eax") 1 => _, '
            'inout("ecx") 0 => _, out("edx") _); assert!(_b == 0); asm!("mfence"',
            "Safe",
        ),
    ],
)
def test_assembly_in_intel_syntax(tmp_path: Path, body: str, result: str) -> None:
    program = read(tmp_path, ASSEMBLY.replace("BODY", body))
    assert explored(program)["result"] == result
