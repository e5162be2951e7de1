"""Writes other memory orders into source files.

An annotation's place is where the compiler says that the operation stands: the name of the
function or the method that is called, or the operator. An order that is written there is replaced;
where none is written, and so is seq_cst, it is added, to a call or to a statement that is nothing
but an assignment. A macro that holds the order is changed where it is defined if all annotations
that use it are to have the same. A fence is put before or after the statement (`statements`). What
else there is, is left to be written by hand, and said.

Text is taken as bytes, since the compiler counts columns in them.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.litmus import C_ORDER
from weakspot.harness.orders import statements
from weakspot.harness.orders.statements import Unclear, begin, blanked
from weakspot.harness.values.annotations import Annotation
from weakspot.harness.values.strength import Assignment, split, with_own
from weakspot.system.files import disk, replace

_NAME = re.compile(r"(?:std\s*::\s*)?(\w+)\s*\(")
_ORDER = re.compile(r"(?:std\s*::\s*)?memory_order(?:_|\s*::\s*)(\w+)")
_PLACE = r"[A-Za-z_]\w*(?:(?:->|\.)\w+|\[\w+\])*"
_STATEMENT = re.compile(
    rf"\s*(?:(?P<before>\+\+|--)(?P<one>{_PLACE})|(?P<place>{_PLACE})\s*"
    r"(?P<operator>\+\+|--|[-+&|^]?=(?!=))\s*(?P<value>[^;]*?))\s*(?=;)"
)
_CPP = (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx")
#: how many arguments a call has without its orders, by what its name ends with
_ARGUMENTS = (
    (re.compile(r"compare_exchange_(weak|strong)"), 3),
    (re.compile(r"load|test_and_set|clear|test"), 1),
    (re.compile(r"store|exchange|fetch_\w+"), 2),
    (re.compile(r"thread_fence"), 0),
)
_FETCH = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor"}
_ON_FAILURE = {"acq_rel": "acq", "rel": "rlx"}  # of a compare-exchange with one order


class ByHand(msgspec.Struct, frozen=True):
    """An annotation that is not rewritten, the order it should have, why not, and the order that
    it has until then."""

    annotation: Annotation
    order: str
    why: str
    left: str


class Rewritten(msgspec.Struct, frozen=True):
    """The bytes of each file before and after, and what is left to do by hand."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    by_hand: tuple[ByHand, ...]

    def diff(self) -> Iterator[str]:
        """The lines of a patch, with the files named from the current folder where they are in
        it."""
        for path, old in self.before.items():
            name = os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path
            name = name.lstrip("/")
            one, other = (
                text.decode(errors="replace").splitlines(keepends=True)
                for text in (old, self.after[path])
            )
            for line in difflib.unified_diff(one, other, f"a/{name}", f"b/{name}"):
                bare = line.removesuffix("\n")
                yield bare if bare != line else f"{bare}\n\\ No newline at end of file"

    def write(self, confirm: Callable[[], object]) -> None:
        """Write all files, then `confirm`. Whatever it raises, or what a write does, leaves the
        files as they were: each is replaced whole, and put back."""
        done: list[str] = []
        try:
            for path, content in self.after.items():
                with disk(Path(path)):
                    if Path(path).read_bytes() != self.before[path]:
                        raise BadInput(
                            "the file has changed since it was read",
                            place=path,
                            advice="run relax again",
                        )
                    done.append(path)
                    replace(Path(path), content)
            confirm()
        except BaseException:
            for path in done:
                replace(Path(path), self.before[path])
            raise


class _Refused(Exception):
    """Why an annotation is left to be written by hand."""


class _Edit(msgspec.Struct, frozen=True):
    """`text` in place of what stands between two places of a file."""

    path: str
    start: int
    end: int
    text: str


def rewrite(
    annotations: Sequence[Annotation], orders: Assignment, *, through_macros: bool = False
) -> Rewritten:
    """The annotations' files with these orders. `through_macros`: what stands at an annotation in
    place of an order is replaced there, whatever it is, since others may use it too."""
    texts = _Texts()
    wanted: defaultdict[tuple[str, str], list[tuple[Annotation, str]]] = defaultdict(list)
    edits: list[_Edit] = []
    by_hand: list[ByHand] = []
    for each, order in zip(annotations, orders, strict=True):
        try:
            fences = texts.fences(each, order)
            macro = None if through_macros else texts.macro(each)
            own = split(order)[1]
            if macro is not None:
                wanted[macro].append((each, order))
            elif own != each.order:
                edits += texts.edits(each, own, through_macros=through_macros)
            edits += fences
        except (_Refused, Unclear) as refused:
            if order != each.order:
                by_hand.append(ByHand(each, order, str(refused), each.order))
    for (path, name), users in wanted.items():
        orders_of = [(each, split(order)[1]) for each, order in users]
        changed = [(each, order) for each, order in users if split(order)[1] != each.order]
        try:
            if changed:
                edits += texts.definition(path, name, orders_of)
        except _Refused as refused:
            by_hand += [
                ByHand(each, order, str(refused), with_own(order, each.order))
                for each, order in changed
            ]
    return Rewritten(*_applied(texts, edits), tuple(by_hand))


def marked(
    annotations: Sequence[Annotation], mark: Callable[[int], str]
) -> tuple[dict[str, bytes], frozenset[int]]:
    """The annotations' files in which the order of each is evaluated after the expression
    `mark(number)`, and so once an operation; and the numbers of those where this can be written."""
    texts = _Texts()
    edits: list[_Edit] = []
    numbers: set[int] = set()
    for number, each in enumerate(annotations):
        try:
            found = texts.edits(each, each.order, through_macros=True)
        except _Refused:
            continue
        for at, edit in enumerate(found):
            after, count = _ORDER.subn(rf"({mark(number)}, \g<0>)", edit.text, count=1)
            if count:  # of a compare-exchange, the order on success
                found[at] = msgspec.structs.replace(edit, text=after)
                numbers.add(number)
                break
        edits += found
    return _applied(texts, edits)[1], frozenset(numbers)


def _applied(texts: _Texts, edits: Sequence[_Edit]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The bytes of each file before and after."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        text = texts[path]
        before[path] = text.encode("latin-1")
        for edit in sorted({e for e in edits if e.path == path}, key=lambda e: -e.start):
            text = text[: edit.start] + edit.text + text[edit.end :]
        after[path] = text.encode("latin-1")
    return before, after


class _Texts(dict[str, str]):
    """The texts of files, a byte a character; `code` are those without what is no code."""

    def __init__(self) -> None:
        super().__init__()
        self.code: dict[str, str] = {}

    def __missing__(self, path: str) -> str:
        with disk(Path(path)):
            self[path] = Path(path).read_bytes().decode("latin-1")
        self.code[path] = blanked(self[path])
        return self[path]

    def macro(self, each: Annotation) -> tuple[str, str] | None:
        """The file and the name of the macro that holds the order, if one does."""
        call = self._call(each)
        if call is None:
            return None
        _, _, arguments, count = call
        given = [self[each.path][start:end].strip() for start, end in arguments[count:]]
        if len(given) == 1 and re.fullmatch(r"[A-Za-z_]\w*", given[0]):
            return None if _ORDER.fullmatch(given[0]) else (each.path, given[0])
        return None

    def edits(self, each: Annotation, order: str, *, through_macros: bool = False) -> list[_Edit]:
        """What gives an annotation this order."""
        if each.mixed:
            raise _Refused("several operations with different orders stand there")
        call = self._call(each)
        if call is None:
            return [self._operator(each, order)]
        start, name, arguments, count = call
        text = self[each.path]
        if order == "none":
            return [self._without(each, start, arguments)]
        given = arguments[count:]
        orders = order.split("/")
        style = text[given[0][0] : given[0][1]].strip() if given else ""
        if through_macros and not _ORDER.fullmatch(style):
            style = ""
        elif given and not all(_ORDER.fullmatch(text[a:b].strip()) for a, b in given):
            raise _Refused(f"its order is written as {style}")
        if len(orders) == 2 and len(given) == 1 and _derived(orders[0]) == orders[1]:
            orders = orders[:1]
        found = [
            _Edit(each.path, a, b, _spelled(one, style, each.path))
            for (a, b), one in zip(given, orders, strict=False)
        ]
        if len(given) < len(orders):
            more = [_spelled(one, style, each.path) for one in orders[len(given) :]]
            if arguments:
                more.insert(0, "")
            at = arguments[-1][1] if arguments else text.index("(", start) + 1
            found.append(_Edit(each.path, at, at, ", ".join(more)))
            if name.startswith("atomic_") and not name.endswith("_explicit"):
                at = text.index(name, start) + len(name)
                found.append(_Edit(each.path, at, at, "_explicit"))
        return found

    def fences(self, each: Annotation, order: str) -> list[_Edit]:
        """What puts the fences of an order beside the statement that an annotation is in."""
        before, _, after = split(order)
        if before == after == "none":
            return []
        if each.mixed:
            raise _Refused("several operations with different orders stand there")
        text, at, found = self[each.path], self._offset(each), []
        code = self.code[each.path]
        method = text[:at].rstrip().endswith((".", "->"))
        style = "std::memory_order_" if method or _is_cpp(each.path) else "memory_order_"
        first = begin(code, at)
        if before != "none":
            fence = _fence(before, style, each.path)
            found.append(_Edit(each.path, first, first, f"{fence}{_between(text, code, first)}"))
        if after != "none":
            fence, last = _fence(after, style, each.path), statements.after(code, at)
            space = _between(text, code, first)
            if code[last - 1] == "{" and "\n" in space:
                space += "  " if "\n  " in space and "\n    " not in space else "    "
            found.append(_Edit(each.path, last, last, f"{space}{fence}"))
        return found

    def definition(
        self, path: str, macro: str, users: Sequence[tuple[Annotation, str]]
    ) -> list[_Edit]:
        """What gives this order to all that use a macro."""
        orders = {order for _, order in users}
        if len(orders) > 1:
            raise _Refused(f"{macro} holds the order of others too, which need another")
        pattern = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{macro}[ \t]+(\S+)", re.M)
        found = list(pattern.finditer(self[path]))
        (order,) = orders
        known = _ORDER.fullmatch(found[0][1]) if len(found) == 1 else None
        if known is None or order == "none":
            raise _Refused(f"its order is {macro}, which is not defined once, beside it")
        if any(C_ORDER[each.order] != f"memory_order_{known[1]}" for each, _ in users):
            raise _Refused(f"its order is {macro}, which is defined elsewhere too")
        start, end = found[0].span(1)
        return [_Edit(path, start, end, _spelled(order, found[0][1], path))]

    def _call(self, each: Annotation) -> tuple[int, str, list[tuple[int, int]], int] | None:
        """Where the call begins, whom it calls, its arguments, how many are no orders; None where
        there is an operator."""
        text, start = self[each.path], self._offset(each)
        match = _NAME.match(text, start)
        if match is None:
            return None
        method = not match[1].startswith("atomic_")
        name = match[1].removeprefix("atomic_").removeprefix("flag_").removesuffix("_explicit")
        for pattern, count in _ARGUMENTS:
            if pattern.fullmatch(name):
                if method and not text[:start].rstrip().endswith((".", "->")):
                    break
                return start, match[1], _arguments(text, match.end()), count - method
        raise _Refused(f"it is inside {match[1]}")

    def _offset(self, each: Annotation) -> int:
        lines = self[each.path].split("\n")
        if each.line > len(lines):
            raise _Refused("the file is shorter than when it was read")
        return sum(len(line) + 1 for line in lines[: each.line - 1]) + each.column - 1

    def _without(self, each: Annotation, start: int, arguments: list[tuple[int, int]]) -> _Edit:
        """A fence that is a line of its own goes with the line."""
        text = self[each.path]
        line = text.rfind("\n", 0, start) + 1
        end = text.find("\n", arguments[-1][1])
        end = len(text) if end < 0 else end + 1
        alone = re.compile(r"\s*(?:std::)?atomic_thread_fence\s*\([^()]*\)\s*;\s*")
        if not alone.fullmatch(text, line, end) or not self._begins(each, line):
            raise _Refused("the fence is no line of its own")
        return _Edit(each.path, line, end, "")

    def _operator(self, each: Annotation, order: str) -> _Edit:
        """A statement that is nothing but an assignment becomes a call."""
        text, at = self[each.path], self._offset(each)
        line = text.rfind("\n", 0, at) + 1
        match = _STATEMENT.match(text, line)
        if match is None or not line <= at < match.end() or each.kind not in ("W", "RMW"):
            raise _Refused("no order is written there, and it is no call")
        if not self._begins(each, line):
            raise _Refused("it is part of a longer statement")
        place = match["place"] or match["one"]
        operator = match["operator"] or match["before"]
        value = match["value"] or "1"
        what = "store" if operator == "=" else f"fetch_{_FETCH[operator[0]]}"
        if (what == "store") != (each.kind == "W") or re.search(r"[=]|\+\+|--", value):
            raise _Refused("no order is written there, and it is no call")
        spelled = _spelled(order, "", each.path)
        made = (
            f"{place}.{what}({value}, {spelled})"
            if _is_cpp(each.path)
            else f"atomic_{what}_explicit(&{place}, {value}, {spelled})"
        )
        first = line + len(match[0]) - len(match[0].lstrip())
        return _Edit(each.path, first, match.end(), made)

    def _begins(self, each: Annotation, line: int) -> bool:
        """Whether a line begins the statement that the annotation is in."""
        code = self.code[each.path]
        first = begin(code, self._offset(each))
        return line <= first and not code[line:first].strip()


def _arguments(text: str, at: int) -> list[tuple[int, int]]:
    """Where the arguments of a call stand whose bracket has just opened."""
    found: list[tuple[int, int]] = []
    start, depth = at, 0
    skipped = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|/\*.*?\*/|//[^\n]*", re.S)
    while at < len(text):
        if match := skipped.match(text, at):
            at = match.end()
            continue
        here = text[at]
        if here in "([{":
            depth += 1
        elif here in ")]}":
            depth -= 1
        if depth < 0 and not found and not text[start:at].strip():
            return []
        if depth < 0 or (here == "," and depth == 0):
            first = start + len(text[start:at]) - len(text[start:at].lstrip())
            found.append((first, first + len(text[start:at].strip())))
            start = at + 1
        if depth < 0:
            return found
        at += 1
    raise _Refused("the call does not end")


def _fence(order: str, style: str, path: str) -> str:
    """A fence, as a statement."""
    scope = "std::" if style.startswith("std") else ""
    return f"{scope}atomic_thread_fence({_spelled(order, style, path)});"


def _between(text: str, code: str, first: int) -> str:
    """What is between two statements: a new line where the one that begins there has its own."""
    line = text.rfind("\n", 0, first) + 1
    if code[line:first].strip():
        return " "
    return "\n" + re.sub(r"\S.*", "", text[line:first])


def _derived(success: str) -> str:
    """The order on failure where only one is given (C++, [atomics.types.operations])."""
    return _ON_FAILURE.get(success, success)


def _is_cpp(path: str) -> bool:
    return path.endswith(_CPP)


def _spelled(order: str, style: str, path: str) -> str:
    """An order, spelled as the one that it replaces is."""
    name = C_ORDER[order].removeprefix("memory_order_")
    if match := re.match(r"(?:std\s*::\s*)?memory_order(?:_|\s*::\s*)", style):
        return match[0] + name
    return f"{'std::' if _is_cpp(path) else ''}memory_order_{name}"
