"""The drivers of drivers.toml: what is asked about each, with one order of the kernel's file
removed at a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

import weakspot

HERE = Path(__file__).parent
FEW = 3.0
"""Seconds for a driver of which the search finds no violation, and the reference no end."""
ADVICE = (
    "scripts/install-tools --kernel-tree fetches it, or WEAKSPOT_KERNEL_MODEL names a kernel tree"
)


def tree() -> Path | None:
    """A kernel tree, or None."""
    tools = Path(os.environ.get("WEAKSPOT_TOOLS", HERE.parents[1] / ".tools"))
    places = (Path(os.environ.get("WEAKSPOT_KERNEL_MODEL", "")), tools / "linux")
    return next((each for each in places if (each / "include/linux/llist.h").is_file()), None)


class Edit(NamedTuple):
    """A file of the tree, a text in it, and the one that replaces it."""

    file: str
    old: str
    new: str


class Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that uses files of the kernel, unmodified but for `edits`, whose reason is `why`.
    Of a large file it gets the definitions named in `parts`, at their lines. `orders` are the
    results of removing one of the orders of `files`, without those that the driver does not
    reach."""

    file: str
    files: tuple[str, ...]
    parts: dict[str, tuple[str, ...]] = {}
    result: str = "Safe"
    edits: tuple[Edit, ...] = ()
    why: str = ""
    orders: dict[str, str] = {}

    @property
    def path(self) -> Path:
        return HERE / "drivers" / self.file

    def texts(self, linux: Path, edits: tuple[Edit, ...] = ()) -> dict[str, str]:
        """Its files of the kernel that are not those of the tree, with more edits."""
        texts = {
            file: part((linux / file).read_text(), names) for file, names in self.parts.items()
        }
        for edit in (*self.edits, *edits):
            read = linux / edit.file
            text = texts.get(edit.file) or (read.read_text() if read.is_file() else "")
            if edit.old in text:
                texts[edit.file] = text.replace(edit.old, edit.new)
            else:  # another version of the tree has it elsewhere, or needs no edit
                assert edit in self.edits, f"{edit.file} does not contain {edit.old!r}"
        return texts


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake that the commit of this title has corrected: with the `edits`, which take it back,
    the driver is Violated, and the finding shows the line with the text `at`, FILE and TEXT."""

    driver: str
    title: str
    edits: tuple[Edit, ...]
    at: tuple[str, str]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    driver: list[Driver]
    bug: list[Bug] = []


TABLE = msgspec.toml.decode((HERE / "drivers.toml").read_bytes(), type=Table)


class Order(NamedTuple):
    """An operation of a file that orders others: the edit that removes the order, and the one that
    makes a program fail if it is executed. `name` has the function and the operation."""

    name: str
    line: int
    removed: Edit
    reached: Edit


_ATOMIC = (
    r"(?:atomic(?:64|_long)?_(?:xchg|cmpxchg|try_cmpxchg|fetch_(?!add_unless)[a-z]+|[a-z]+_return)"
    r"|(?:try_)?(?:cmp)?xchg)"
)
_WEAKER = {
    r"smp_store_release": "WRITE_ONCE(*({0}), {1})",
    r"smp_load_acquire": "READ_ONCE(*({0}))",
    r"rcu_assign_pointer|smp_store_mb": "WRITE_ONCE({0}, {1})",
    r"smp_mb|smp_[rw]mb|smp_mb__\w+|smp_acquire__\w+|barrier|synchronize_rcu": "((void)0)",
    r"(test_bit|atomic(?:64|_long)?_(?:read|set))_(?:acquire|release)": r"\1({all})",
    rf"({_ATOMIC}|smp_cond_load|atomic_cond_read)_(?:acquire|release)": r"\1_relaxed({all})",
    rf"({_ATOMIC})": r"\1_relaxed({all})",
    r"(atomic\w*_(?:inc|dec|add|sub))_and_test": r"(\1_return_relaxed({all}) == 0)",
}
_FUNCTION = re.compile(
    r"^(?:#\s*define\s+(\w+)\(|(?!typedef|struct \w+ \{)\w[^;:={}()]*?\b(\w+)\()", re.MULTILINE
)


def orders(text: str, file: str) -> Iterator[Order]:
    """The orders in a file, first to last."""
    code = re.sub(
        r"/\*.*?\*/|//[^\n]*", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S
    )
    functions = [(each.start(), each[1] or each[2]) for each in _FUNCTION.finditer(code)]
    names: dict[str, int] = {}
    for call in re.finditer(r"(?<![\w.>])(\w+)\(", code):
        known = ((form, found) for form in _WEAKER if (found := re.fullmatch(form, call[1])))
        form, operation = next(known, ("", None))
        start, end = call.start(), _end(code, call.end())
        if operation is None or code[:start].endswith("define "):
            continue
        arguments = _arguments(code[call.end() : end - 1])
        weaker = operation.expand(_WEAKER[form]).format(*arguments, all=", ".join(arguments))
        function = next((name for at, name in reversed(functions) if at < start), "")
        name = f"{function}: {call[1]}"
        names[name] = names.get(name, 0) + 1
        name += f" {names[name]}" if names[name] > 1 else ""
        was = text[start:end]
        line = text.count("\n", 0, start) + 1
        yield Order(
            name,
            line,
            Edit(file, text, text[:start] + weaker + text[end:]),
            Edit(file, text, f"{text[:start]}(BUG(), {was}){text[end:]}"),
        )


def _end(code: str, start: int) -> int:
    """Behind the parenthesis that closes the one before `start`."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def _arguments(text: str) -> list[str]:
    depth, found = 0, [""]
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found]


def part(text: str, names: tuple[str, ...]) -> str:
    """The first definitions with these names; other lines are blank."""
    lines = text.split("\n")
    kept: set[int] = set()
    for name in names:
        form = re.compile(rf"(?![\s*/])(?:.*\W)?{name}\b(?!.*;$)")
        first = next(n for n, line in enumerate(lines) if form.match(line))
        if lines[first - 1][:1].isalpha() and not lines[first - 1].endswith(";"):  # its type
            kept.add(first - 1)
        macro = lines[first].startswith("#")
        ends = (lambda line: not line.endswith("\\")) if macro else re.compile("}").match
        last = next(n for n in range(first, len(lines)) if ends(lines[n]))
        kept.update(range(first, last + 1))
    return "\n".join(line if n in kept else "" for n, line in enumerate(lines))


def overlay(texts: dict[str, str], linux: Path, folder: Path) -> Path:
    """A folder that is used before the tree, with these texts of files."""
    (folder / "include").mkdir(parents=True)
    for file, text in texts.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        for beside in (linux / file).parent.glob("*.h"):  # "NAME.h" is first looked for here
            if not target.with_name(beside.name).exists():
                target.with_name(beside.name).symlink_to(beside)
        target.unlink(missing_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def explored(
    driver: Driver, linux: Path, folder: Path, *edits: Edit, seconds: float
) -> weakspot.Exploration:
    """A driver with the files of a tree; those that are edited are written to a folder."""
    own = overlay(driver.texts(linux, edits), linux, folder)
    (exploration,) = weakspot.explore(
        [driver.path],
        models=["lkmm"],
        bounds=weakspot.Bounds(seconds=seconds),
        build=weakspot.Build(include=(own / "include", linux / "include")),
    )
    return exploration


def shows(found: weakspot.Exploration, file: str, line: int) -> bool:
    """Whether a finding shows this line of a file."""
    text = json.dumps(msgspec.to_builtins(found.violations))
    return re.search(rf"[\"/ ]{re.escape(file)}:{line}\b", text) is not None


class Removal(NamedTuple):
    """What removing an order does: `found` with its line, `found` elsewhere, `not needed`,
    `undecided`."""

    order: str
    file: str
    line: int
    result: str
    seconds: float


def removals(driver: Driver, linux: Path, folder: Path, *, seconds: float) -> Iterator[Removal]:
    """Every order of the driver's files that it reaches, removed."""
    texts = driver.texts(linux)
    seconds = seconds if driver.result == "Safe" else min(seconds, FEW)
    for file in driver.files:
        for number, order in enumerate(orders(texts.get(file) or (linux / file).read_text(), file)):
            own = folder / str(number) / file
            if not reaches(driver, linux, own / "reached", order.reached):
                continue
            found = explored(driver, linux, own / "removed", order.removed, seconds=seconds)
            result = {"Violated": "found", "Safe": "not needed"}.get(found.result, "undecided")
            if result == "found" and shows(found, file, order.line):
                result = "found at its line"
            yield Removal(order.name, file, order.line, result, found.seconds)


def reaches(driver: Driver, linux: Path, folder: Path, edit: Edit) -> bool:
    """Whether the program executes the BUG() that an edit inserts."""
    found = explored(driver, linux, folder, edit, seconds=5)
    return any(each.message.endswith('"BUG"') for each in found.violations)
