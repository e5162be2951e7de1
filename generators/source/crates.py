"""The programs of a Rust crate: its tests, examples and programs that start threads.

In: a crate's Cargo.toml, the options of a build. Out: an Entry for each program. Whether a test, or
`main`, starts threads is seen in the bitcode: it reaches `pthread_create`. A test that is ignored
or should panic is no program, unless it is named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source import cargo, overlay, rust, rust_modules
from weakspot.generators.source.build import Build, Entry, Target, options
from weakspot.system import cache
from weakspot.system.deadline import Deadline


class _Test(msgspec.Struct, frozen=True):
    """A test, or main, in bitcode. `aside`: it is ignored, or should panic."""

    symbol: str
    path: tuple[str, ...]
    threads: bool
    aside: bool = False


class _Tests(msgspec.Struct, frozen=True):
    """What is cached for bitcode."""

    tests: tuple[_Test, ...]


def entries(manifest: Path, build: Build, end: Deadline) -> tuple[Entry, ...]:
    """The programs of a crate; where the build chooses tests, those whose name contains one of
    these. Raises BadInput where there is none, and what cargo.build raises."""
    found: list[Entry] = []
    others: list[str] = []
    rust.require_readable(rust.find(manifest.parent), manifest)
    for target in cargo.targets(manifest, end):
        for test in _tests(bitcode(Entry(target), build, end)).tests:
            name = _name(target, test)
            if any((each.target.package, each.name) == (target.package, name) for each in found):
                name = f"{target.kind}/{name}"
            if build.chosen:
                is_one = any(each in name for each in build.chosen)
            else:
                is_one = test.threads and not test.aside
            if is_one:
                path = "::".join(test.path) or "main"
                found.append(Entry(target, name, test.symbol, path))
            else:
                others.append(name)
    if not found:
        named = f"named {', '.join(build.chosen)}" if build.chosen else "that starts a thread"
        shown = ", ".join(others[:6]) + (", …" if len(others) > 6 else "")
        raise BadInput(
            f"no test {named} in this crate",
            place=str(manifest),
            advice=(f"its tests are {shown}; " if others else "")
            + "a #[test] that starts threads, in the crate or in tests/, is a program, and so is "
            "an example; --loom checks those that are written for loom",
        )
    return tuple(found)


def bitcode(entry: Entry, build: Build, end: Deadline) -> Path:
    """Where the bitcode of a program is, which cargo brings up to date first; see cargo.build."""
    words = _words(entry, build)
    return cargo.build(entry.target, words, build.all_features, end, loom=build.of_loom)


def text(entry: Entry, build: Build, end: Deadline) -> str:
    """The text of a program; see rust_modules.program_of."""
    made, symbol = bitcode(entry, build, end), entry.symbol
    root, _ = overlay.mirror(_words(entry, build))
    if root != Path("/") and symbol != "main":  # its name depends on where the crate is
        symbol = next(each.symbol for each in _tests(made).tests if each.path == _path(symbol))
    return rust_modules.program_of(made.read_bytes(), symbol, root)


def _words(entry: Entry, build: Build) -> tuple[str, ...]:
    """The options that change what a program means."""
    return options(entry.target.root, Build(entry=entry).over(build)).meaning


def _name(target: Target, test: _Test) -> str:
    names = () if target.kind == "lib" else (target.name,)
    return "::".join((*names, *test.path))


def _tests(made: Path) -> _Tests:
    key = cache.digest("tests", Path(__file__).read_text(encoding="utf-8"), cache.digest_of(made))
    place = cache.path_of(key)
    known = cache.read(place, _Tests)
    if known is None:
        known = _Tests(tuple(_in_module(rust_modules.text_of(made.read_bytes()))))
        cache.write(place, known)
    return known


# --- tests in the text of a module --------------------------------------------------------------

_NAME = re.compile(r'@("[^"]*"|[-\w$.]+)')
_FUNCTION = re.compile(
    r"^define [^@]*@(?P<name>[-\w$.]+|\"[^\"]*\")\(.*?(?:!dbg !(?P<where>\d+) )?\{$"
)
_WHERE = re.compile(
    r"^!(?P<number>\d+) = .*!DISubprogram\(.*?file: !(?P<file>\d+), line: (?P<line>\d+)"
)
_FILE = re.compile(
    r'^!(?P<number>\d+) = !DIFile\(filename: "(?P<name>[^"]*)", directory: "(?P<folder>[^"]*)"'
)
_HARNESS = re.compile(r"_RNvCs\w+_4test16test_main_static")
_STARTS = ("pthread_create", "thrd_create")


def _in_module(text: str) -> Iterator[_Test]:
    """The tests of a module with a test harness; else its main."""
    references: dict[str, set[str]] = {}
    wrappers: dict[str, str] = {}
    name = where = ""
    for line in text.splitlines():
        if line.startswith("define"):
            found = _FUNCTION.match(line)
            assert found, line
            name, where = found["name"], found["where"] or ""
            references[name] = set()
        elif line.startswith("}"):
            name = ""
        elif name and "@" in line:
            references[name].update(_NAME.findall(line))
            if name.startswith("_RNC") and rust_modules.RESULT in line:
                wrappers[name] = where
        elif line.startswith("@"):
            first, *others = _NAME.findall(line)
            references[first] = set(others)
    if not any(map(_HARNESS.fullmatch, references)):
        yield _Test("main", (), _reaches(references, "main"))
    places = _places(text, set(wrappers.values())) if wrappers else {}
    for symbol, number in wrappers.items():
        yield _Test(
            symbol,
            _path(symbol),
            _reaches(references, symbol),
            aside=_is_aside(*places[number]) if number in places else False,
        )


def _reaches(references: dict[str, set[str]], first: str) -> bool:
    """Whether what a function refers to, or what that refers to, starts threads."""
    seen, left = {first}, [first]
    while left:
        new = references.get(left.pop(), set()) - seen
        if not new.isdisjoint(_STARTS):
            return True
        seen |= new
        left.extend(new)
    return False


_TAGS = re.compile(r"_RNC(?P<tags>(?:N[a-z])*)C")
_IDENTIFIER = re.compile(r"(?:s[0-9A-Za-z]*_)?u?(?P<length>\d+)_?")


def _path(symbol: str) -> tuple[str, ...]:
    """The path of a test within its crate, of the mangled name of the closure that libtest calls:
    https://doc.rust-lang.org/rustc/symbol-mangling/v0.html"""
    found = _TAGS.match(symbol)
    assert found, symbol
    at, names = found.end(), list[str]()
    for _ in range(1 + len(found["tags"]) // 2):
        each = _IDENTIFIER.match(symbol, at)
        assert each, symbol
        at = each.end() + int(each["length"])
        names.append(symbol[each.end() : at])
    return tuple(names[1:])


def _places(text: str, numbers: Container[str]) -> dict[str, tuple[Path, int]]:
    """The file and the line of each of these functions of the debug information."""
    lines = [line for line in text.splitlines() if line.startswith("!")]
    files = {
        each["number"]: Path(each["folder"], each["name"])
        for each in map(_FILE.match, lines)
        if each
    }
    return {
        each["number"]: (files[each["file"]], int(each["line"]))
        for each in map(_WHERE.match, lines)
        if each and each["number"] in numbers and each["file"] in files
    }


def _is_aside(file: Path, line: int) -> bool:
    """Whether the attributes of the test at a line say that it is ignored or should panic."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    at = line - 1
    while at > 0 and re.match(r"\s*(#\[|//)", lines[at - 1]):
        at -= 1
    attributes = itertools.takewhile(lambda each: not re.search(r"\bfn ", each), lines[at:])
    return any(re.match(r"\s*#\[(ignore|should_panic)", each) for each in attributes)
