"""Writes other memory orders into source files.

The compiler reports where an operation stands: the name of the function that is called, or the
operator. The syntax tree (`syntax`) shows what is written there. A memory order that is written is
replaced. Where none is written, which means seq_cst, it is added to a call, or to a statement that
is nothing but an assignment, which becomes a call. A macro that holds the memory order is changed
where it is defined, if all annotations that use it are to have the same memory order. A fence is
put before or after the statement. Everything else is left to the user and reported as `ByHand`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import tree_sitter

from weakspot.errors import BadInput
from weakspot.generators.litmus import C_ORDER
from weakspot.harness.orders import syntax
from weakspot.harness.orders.syntax import CPP_SUFFIXES, Call, Syntax, Unclear, statement
from weakspot.harness.values.annotations import Annotation
from weakspot.harness.values.strength import Assignment, split, with_own
from weakspot.system.files import disk, replace

_ORDER = re.compile(r"(?:std\s*::\s*)?memory_order(?:_|\s*::\s*)(\w+)")
#: what an assignment can be turned into a call on, without evaluating anything twice
_PLACE = {"identifier", "field_identifier", "field_expression", "subscript_expression", "this"}
_INDEX = {"number_literal", "subscript_argument_list"}
#: how many arguments a call has without its memory orders, by what its name ends with
_ARGUMENTS = (
    (re.compile(r"compare_exchange_(weak|strong)"), 3),
    (re.compile(r"load|test_and_set|clear|test"), 1),
    (re.compile(r"store|exchange|fetch_\w+"), 2),
    (re.compile(r"thread_fence"), 0),
)
_FETCH = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor"}
_ON_FAILURE = {"acq_rel": "acq", "rel": "rlx"}  # of a compare-exchange with one memory order


class ByHand(msgspec.Struct, frozen=True):
    """An annotation that is not rewritten: the memory order it should have, why it is not
    rewritten, and the one that is left in the source."""

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


class _Edit(msgspec.Struct, frozen=True):
    """`text` in place of what stands between two places of a file."""

    path: str
    start: int
    end: int
    text: str


def rewrite(
    annotations: Sequence[Annotation], orders: Assignment, *, through_macros: bool = False
) -> Rewritten:
    """The annotations' files with these memory orders. `through_macros`: an argument that stands
    for the memory order is replaced where it is passed, whatever it is, instead of where it is
    defined, since other accesses may use the definition too."""
    sources = _Sources()
    wanted: defaultdict[tuple[str, str], list[tuple[Annotation, str]]] = defaultdict(list)
    edits: list[_Edit] = []
    by_hand: list[ByHand] = []
    for each, order in zip(annotations, orders, strict=True):
        try:
            fences = sources.fences(each, order)
            macro = None if through_macros else sources.macro(each)
            own = split(order)[1]
            if macro is not None:
                wanted[macro].append((each, order))
            elif own != each.order:
                edits += sources.edits(each, own, through_macros=through_macros)
            edits += fences
        except Unclear as refused:
            if order != each.order:
                by_hand.append(ByHand(each, order, str(refused), each.order))
    for (path, name), users in wanted.items():
        orders_of = [(each, split(order)[1]) for each, order in users]
        changed = [(each, order) for each, order in users if split(order)[1] != each.order]
        try:
            if changed:
                edits += sources.definition(path, name, orders_of)
        except Unclear as refused:
            by_hand += [
                ByHand(each, order, str(refused), with_own(order, each.order))
                for each, order in changed
            ]
    return Rewritten(*_applied(sources, edits), tuple(by_hand))


def is_unbraced(each: Annotation) -> bool:
    """Whether the annotation's statement is the body of another one, without braces around it."""
    try:
        source = Syntax(each.path, Path(each.path).read_bytes())
        return syntax.is_unbraced(source.node(each.line, each.column))
    except (OSError, Unclear):
        return False


def marked(
    annotations: Sequence[Annotation], mark: Callable[[int], str]
) -> tuple[dict[str, bytes], frozenset[int]]:
    """The annotations' files in which the memory order of each is evaluated after the expression
    `mark(number)`, and so once per operation; and the numbers of the annotations where this can be
    written."""
    sources = _Sources()
    edits: list[_Edit] = []
    numbers: set[int] = set()
    for number, each in enumerate(annotations):
        try:
            found = sources.edits(each, each.order, through_macros=True)
        except Unclear:
            continue
        for at, edit in enumerate(found):
            after, count = _ORDER.subn(rf"({mark(number)}, \g<0>)", edit.text, count=1)
            if count:  # of a compare-exchange, the memory order on success
                found[at] = msgspec.structs.replace(edit, text=after)
                numbers.add(number)
                break
        edits += found
    return _applied(sources, edits)[1], frozenset(numbers)


def _applied(
    sources: _Sources, edits: Sequence[_Edit]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The bytes of each file before and after."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        text = before[path] = sources[path].source
        own = dict.fromkeys(e for e in edits if e.path == path)
        # of edits at one place, the first comes last in the text
        for edit in sorted(own, key=lambda e: -e.start):
            text = text[: edit.start] + edit.text.encode("latin-1") + text[edit.end :]
        after[path] = text
    return before, after


class _Sources(dict[str, Syntax]):
    """The files that annotations stand in, read when they are first needed."""

    def __missing__(self, path: str) -> Syntax:
        with disk(Path(path)):
            self[path] = Syntax(path, Path(path).read_bytes())
        return self[path]

    def macro(self, each: Annotation) -> tuple[str, str] | None:
        """The file and the name of the macro that holds the memory order, if one does."""
        call = self._call(each)
        if call is None:
            return None
        given = call[1]
        if len(given) == 1 and given[0].type == "identifier":
            name = self[each.path].text(given[0])
            return None if _ORDER.fullmatch(name) else (each.path, name)
        return None

    def edits(self, each: Annotation, order: str, *, through_macros: bool = False) -> list[_Edit]:
        """The edits that give an annotation this memory order."""
        if each.mixed:
            raise Unclear("operations with different memory orders come from this place")
        found = self._call(each)
        if found is None:
            return [self._assignment(each, order)]
        call, given = found
        source = self[each.path]
        if order == "none":
            return [self._removed(each)]
        if each.passed and not given:
            raise Unclear(f"it is an argument of {call.name} that is not written there")
        orders = order.split("/")
        style = source.text(given[0]) if given else ""
        if through_macros and not _ORDER.fullmatch(style):
            style = ""
        elif not all(_ORDER.fullmatch(source.text(one)) for one in given):
            raise Unclear(f"its memory order is written as {style}")
        if len(orders) == 2 and len(given) == 1 and _derived(orders[0]) == orders[1]:
            orders = orders[:1]
        edits = [
            _Edit(each.path, at.start_byte, at.end_byte, _spelled(one, style, each.path))
            for at, one in zip(given, orders, strict=False)
        ]
        if len(given) < len(orders):
            more = [_spelled(one, style, each.path) for one in orders[len(given) :]]
            if call.arguments:
                more.insert(0, "")
            end = call.arguments[-1].end_byte if call.arguments else call.begin
            edits.append(_Edit(each.path, end, end, ", ".join(more)))
            if call.name.startswith("atomic_") and not call.name.endswith("_explicit"):
                edits.append(_Edit(each.path, call.name_end, call.name_end, "_explicit"))
        return edits

    def fences(self, each: Annotation, order: str) -> list[_Edit]:
        """The edits that put the fences of a memory order beside the annotation's statement."""
        before, _, after = split(order)
        if before == after == "none":
            return []
        if each.mixed:
            raise Unclear("operations with different memory orders come from this place")
        source = self[each.path]
        node = source.node(each.line, each.column)
        call = source.call(node)
        scoped = _is_cpp(each.path) or (call is not None and call.member)
        style = "std::memory_order_" if scoped else "memory_order_"
        whole, edits = statement(node), []
        space = f"\n{source.indentation(whole)}" if syntax.starts_line(whole) else " "
        if syntax.lacks_braces(whole):
            edits += self._braces(each.path, whole)
        if before != "none":
            at = whole.start_byte
            edits.append(_Edit(each.path, at, at, f"{_fence(before, style, each.path)}{space}"))
        if after != "none":
            at = syntax.after(node)
            body = whole.child_by_field_name("consequence")
            if body is not None and at == body.start_byte:
                space = f"\n{source.indentation(body)}" if syntax.starts_line(body) else " "
                edits += self._braces(each.path, body)
                edits.append(_Edit(each.path, at, at, f"{_fence(after, style, each.path)}{space}"))
                return edits
            if source.source[at - 1 : at] == b"{" and "\n" in space:
                space += "  " if "\n  " in space and "\n    " not in space else "    "
            edits.append(_Edit(each.path, at, at, f"{space}{_fence(after, style, each.path)}"))
        return edits

    def _braces(self, path: str, whole: tree_sitter.Node) -> list[_Edit]:
        """The edits that put braces around a statement that is the body of another one."""
        source, header, outer = self[path], whole.prev_sibling, whole.parent
        begin, end = whole.start_byte, whole.end_byte
        if header is None or outer is None or header.type == "comment" or header.end_byte == begin:
            raise Unclear("it is in a body without braces")
        while outer.type == "else_clause" and outer.parent is not None:
            outer = outer.parent
        gap = source.source[header.end_byte : begin].decode("latin-1")
        close = f"\n{source.indentation(outer)}}}" if "\n" in gap else " }"
        if outer.type == "do_statement":
            close = " }"
        return [
            _Edit(path, header.end_byte, begin, f" {{{gap}"),
            _Edit(path, end, end, close),
        ]

    def definition(
        self, path: str, macro: str, users: Sequence[tuple[Annotation, str]]
    ) -> list[_Edit]:
        """The edit that gives this memory order to all that use a macro."""
        orders = {order for _, order in users}
        if len(orders) > 1:
            raise Unclear(f"other accesses take their memory order from {macro} and need another")
        found = syntax.definitions(self[path], macro)
        (order,) = orders
        known = _ORDER.match(found[0][1]) if len(found) == 1 else None
        if known is None or order == "none":
            raise Unclear(f"its memory order is {macro}, which its file does not define just once")
        if any(C_ORDER[each.order] != f"memory_order_{known[1]}" for each, _ in users):
            raise Unclear(f"its memory order is {macro}, which is defined elsewhere too")
        start = found[0][0]
        return [_Edit(path, start, start + known.end(), _spelled(order, known[0], path))]

    def _call(self, each: Annotation) -> tuple[Call, tuple[tree_sitter.Node, ...]] | None:
        """The call of the operation, and those of its arguments that are memory orders; None where
        an operator stands."""
        source = self[each.path]
        call = source.call(source.node(each.line, each.column))
        if call is None:
            return None
        name = call.name.removeprefix("atomic_").removeprefix("flag_").removesuffix("_explicit")
        for pattern, count in _ARGUMENTS:
            if pattern.fullmatch(name) and call.member != call.name.startswith("atomic_"):
                return call, call.arguments[count - call.member :]
        if each.passed:
            orders = (one for one in call.arguments if _ORDER.fullmatch(source.text(one)))
            return call, tuple(orders)
        raise Unclear(f"it is inside {call.name}")

    def _removed(self, each: Annotation) -> _Edit:
        """The edit that removes a fence with its line."""
        source = self[each.path]
        try:
            whole = statement(source.node(each.line, each.column))
        except Unclear:
            whole = None
        if (
            whole is None
            or syntax.lacks_braces(whole)
            or whole.type != "expression_statement"
            or whole.named_children[0].type != "call_expression"
            or not (syntax.starts_line(whole) and syntax.ends_line(whole))
        ):
            raise Unclear("the fence does not stand on a line of its own")
        begin = source.source.rfind(b"\n", 0, whole.start_byte) + 1
        end = source.source.find(b"\n", whole.end_byte) + 1
        return _Edit(each.path, begin, end or len(source.source), "")

    def _assignment(self, each: Annotation, order: str) -> _Edit:
        """The edit that makes a call of a statement that is nothing but an assignment."""
        source = self[each.path]
        refused = Unclear("it has no memory order and is no call")
        whole = statement(source.node(each.line, each.column))
        inner = whole.named_children[0] if whole.type == "expression_statement" else whole
        operator = inner.child_by_field_name("operator")
        if operator is None or each.kind not in ("W", "RMW"):
            raise refused
        if inner.type == "assignment_expression":
            place, value = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        elif inner.type == "update_expression":
            place, value = inner.child_by_field_name("argument"), None
        else:
            raise refused
        written = source.text(operator)
        what = "store" if written == "=" else f"fetch_{_FETCH.get(written[0], '')}"
        if place is None or what == "fetch_" or (what == "store") != (each.kind == "W"):
            raise refused
        changes = value is not None and syntax.contains(
            value, "assignment_expression", "update_expression"
        )
        if changes or not _is_place(place):
            raise refused
        where, new = source.text(place), source.text(value) if value is not None else "1"
        spelled = _spelled(order, "", each.path)
        made = (
            f"{where}.{what}({new}, {spelled})"
            if _is_cpp(each.path)
            else f"atomic_{what}_explicit(&{where}, {new}, {spelled})"
        )
        return _Edit(each.path, inner.start_byte, inner.end_byte, made)


def _is_place(node: tree_sitter.Node) -> bool:
    """Whether an expression names a location and evaluates nothing else."""
    if node.type not in _PLACE | _INDEX:
        return False
    return all(map(_is_place, node.named_children))


def _fence(order: str, style: str, path: str) -> str:
    """A fence, as a statement."""
    scope = "std::" if style.startswith("std") else ""
    return f"{scope}atomic_thread_fence({_spelled(order, style, path)});"


def _derived(success: str) -> str:
    """The memory order on failure where only one is given (C++, [atomics.types.operations])."""
    return _ON_FAILURE.get(success, success)


def _is_cpp(path: str) -> bool:
    return path.endswith(CPP_SUFFIXES)


def _spelled(order: str, style: str, path: str) -> str:
    """A memory order, spelled as the one that it replaces."""
    name = C_ORDER[order].removeprefix("memory_order_")
    if match := re.match(r"(?:std\s*::\s*)?memory_order(?:_|\s*::\s*)", style):
        return match[0] + name
    return f"{'std::' if _is_cpp(path) else ''}memory_order_{name}"
