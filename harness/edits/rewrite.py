"""Writes other memory orders into source files.

The compiler reports where an operation stands: the name of the function that is called, or the
operator. The syntax tree (`syntax`) shows what is written there. A memory order that is written is
replaced. Where none is written, which means seq_cst, it is added to a call, and an operator becomes
a call (`operators`). A macro that holds the memory order is changed where it is defined, if all
annotations that use it are to have the same memory order; one that is passed it, where it is used.
A fence is put before or after the statement. Everything else is left to the user and reported as
`ByHand`. In Rust (`rust_orders`), constants are as macros here. The Linux kernel's primitives have
their memory order in their name (`kernel_calls`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import tree_sitter

from weakspot.generators.litmus import C_ORDER
from weakspot.harness.edits import kernel_calls, rust_orders, syntax
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.changes import ByHand, Edit, Rewritten, applied
from weakspot.harness.edits.operators import as_call
from weakspot.harness.edits.strength import Assignment, split, with_own
from weakspot.harness.edits.syntax import Call, Syntax, Unclear, statement
from weakspot.system.files import disk

_PREFIX = re.compile(r"(?:std\s*::\s*)?memory_order(?:_|\s*::\s*)")
_ORDER = re.compile(rf"{_PREFIX.pattern}(\w+)")
#: how many arguments a call has without its memory orders, by what its name ends with
_ARGUMENTS = (
    (re.compile(r"compare_exchange_(weak|strong)"), 3),
    (re.compile(r"load|test_and_set|clear|test"), 1),
    (re.compile(r"store|exchange|fetch_\w+"), 2),
    (re.compile(r"thread_fence"), 0),
)
_ON_FAILURE = {"acq_rel": "acq", "rel": "rlx"}  # of a compare-exchange with one memory order


def rewrite(
    annotations: Sequence[Annotation],
    orders: Assignment,
    *,
    through_macros: bool = False,
    cautious: bool = False,
) -> Rewritten:
    """The annotations' files with these memory orders. `through_macros`: an argument that stands
    for the memory order is replaced where it is passed, whatever it is, instead of where it is
    defined, since other accesses may use the definition too. `cautious`: what rests on the types of
    expressions, or on what a macro does with its arguments, is left to the user."""
    sources = _Sources(cautious=cautious)
    paths = dict.fromkeys(each.path for each in annotations)
    wanted: defaultdict[tuple[str, str], list[tuple[Annotation, str]]] = defaultdict(list)
    edits: list[Edit] = []
    by_hand: list[ByHand] = []
    for each, order in zip(annotations, orders, strict=True):
        try:
            new = sources.fences(each, order)
            macro = None if through_macros else sources.macro(each, paths)
            own = split(order)[1]
            if macro is not None:
                wanted[macro].append((each, order))
            elif own != each.order:
                new = [*sources.edits(each, own, through_macros=through_macros), *new]
            if any(one.collides(other) for one in new for other in edits):
                raise Unclear("another change is made to the same expression")
            edits += new
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
    return Rewritten(*applied(sources, edits), tuple(by_hand))


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
    sources = _Sources(cautious=True)
    edits: list[Edit] = []
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
    return applied(sources, edits)[1], frozenset(numbers)


class _Sources(dict[str, Syntax]):
    """The files that annotations stand in, read when they are first needed."""

    def __init__(self, *, cautious: bool) -> None:
        super().__init__()
        self.cautious = cautious

    def __missing__(self, path: str) -> Syntax:
        with disk(Path(path)):
            self[path] = Syntax(path, Path(path).read_bytes())
        return self[path]

    def macro(self, each: Annotation, paths: Iterable[str]) -> tuple[str, str] | None:
        """The file and the name of the macro that holds the memory order, if one does; the file is
        its own, or the only other one of these that defines it. In Rust, a constant."""
        if each.kernel:
            return None
        if each.rust:
            name = rust_orders.constant(self[each.path], each)
            definitions = rust_orders.definitions
        else:
            name, definitions = self._macro(each), syntax.definitions
        if name is None:
            return None
        defining = [path for path in paths if definitions(self[path], name)]
        if each.path in defining or len(defining) != 1:
            return each.path, name
        return defining[0], name

    def _macro(self, each: Annotation) -> str | None:
        """What stands for the memory order and does not name one."""
        call = self._call(each)
        if call is None:
            return None
        given = call[1]
        if len(given) != 1 or given[0].type != "identifier":
            return None
        name = self[each.path].text(given[0])
        return None if _ORDER.fullmatch(name) else name

    def edits(self, each: Annotation, order: str, *, through_macros: bool = False) -> list[Edit]:
        """The edits that give an annotation this memory order."""
        if each.mixed:
            raise Unclear("operations with different memory orders come from this place")
        source = self[each.path]
        if order == "none" and (each.kernel or (each.rust and not each.passed)):
            return [self._removed(each)]
        if each.kernel:
            return [Edit(each.path, *one) for one in kernel_calls.changes(source, each, order)]
        if each.rust:
            return [Edit(each.path, *one) for one in rust_orders.changes(source, each, order)]
        found = self._call(each)
        if found is None:
            return self._operator(each, order)
        call, given = found
        if order == "none":
            return [self._removed(each)]
        orders = order.split("/")
        style = source.text(given[0]) if given else ""
        if through_macros and not _ORDER.fullmatch(style):
            style = ""
        elif not all(_ORDER.fullmatch(source.text(one)) for one in given):
            raise Unclear(f"its memory order is written as {style}")
        if len(given) == 1:
            orders = _single(order).split("/")
        if _arguments(call) is None:
            success, _, failure = order.partition("/")
            if failure and len(given) == 1:
                # whether the argument is the order on failure too, only the compiler knows
                if self.cautious:
                    raise Unclear(f"it is an argument of {call.name}, perhaps of one outcome only")
                if failure == each.order.partition("/")[2]:
                    orders = [success]
            if len(given) != len(orders):
                several = "one of several" if given else "not written there"
                raise Unclear(f"it is an argument of {call.name} that is {several}")
        edits = [
            Edit(each.path, at.start_byte, at.end_byte, self._spelled(one, each, style))
            for at, one in zip(given, orders, strict=False)
        ]
        if len(given) < len(orders):
            more = [self._spelled(one, each, style) for one in orders[len(given) :]]
            if call.arguments:
                more.insert(0, "")
            end = call.arguments[-1].end_byte if call.arguments else call.begin
            edits.append(Edit(each.path, end, end, ", ".join(more)))
            if call.name.startswith("atomic_") and not call.name.endswith("_explicit"):
                edits.append(Edit(each.path, call.name_end, call.name_end, "_explicit"))
        return edits

    def fences(self, each: Annotation, order: str) -> list[Edit]:
        """The edits that put the fences of a memory order beside the annotation's statement."""
        before, _, after = split(order)
        if before == after == "none":
            return []
        if each.mixed:
            raise Unclear("operations with different memory orders come from this place")
        if each.rust:
            raise Unclear("weakspot writes no new fences into Rust sources")
        source = self[each.path]
        node = source.node(each.line, each.column)
        whole, edits = statement(node), []
        space = f"\n{source.indentation(whole)}" if syntax.starts_line(whole) else " "
        if syntax.lacks_braces(whole):
            edits += self._braces(each.path, whole)
        if before != "none":
            at = whole.start_byte
            edits.append(Edit(each.path, at, at, f"{self._fence(before, each)}{space}"))
        if after != "none":
            at = syntax.after(node)
            body = whole.child_by_field_name("consequence")
            if body is not None and at == body.start_byte:
                space = f"\n{source.indentation(body)}" if syntax.starts_line(body) else " "
                edits += self._braces(each.path, body)
                edits.append(Edit(each.path, at, at, f"{self._fence(after, each)}{space}"))
                return edits
            if source.source[at - 1 : at] == b"{" and "\n" in space:
                space += "  " if "\n  " in space and "\n    " not in space else "    "
            edits.append(Edit(each.path, at, at, f"{space}{self._fence(after, each)}"))
        return edits

    def _braces(self, path: str, whole: tree_sitter.Node) -> list[Edit]:
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
        return [Edit(path, header.end_byte, begin, f" {{{gap}"), Edit(path, end, end, close)]

    def definition(
        self, path: str, macro: str, users: Sequence[tuple[Annotation, str]]
    ) -> list[Edit]:
        """The edit that gives this memory order to all that use a macro, or a constant of Rust."""
        if users[0][0].rust:
            wanted = {(each.order, order) for each, order in users}
            return [Edit(path, *rust_orders.definition(self[path], macro, wanted))]
        orders = {_single(order) for _, order in users}
        if self.cautious and any(each.passed and each.kind == "CAS" for each, _ in users):
            raise Unclear(f"its memory order is {macro}, perhaps of one outcome only")
        if len(orders) > 1:
            raise Unclear(f"other accesses take their memory order from {macro} and need another")
        found = syntax.definitions(self[path], macro)
        (order,) = orders
        known = _ORDER.match(found[0][1]) if len(found) == 1 else None
        if known is None or order == "none":
            raise Unclear(f"its memory order is {macro}, which its file does not define just once")
        if any(C_ORDER.get(_single(each.order)) != _named(known[0]) for each, _ in users):
            raise Unclear(f"its memory order is {macro}, which is defined elsewhere too")
        if "/" in order:
            raise Unclear(f"its memory order is {macro}, and two are needed")
        start = found[0][0]
        text = self._spelled(order, users[0][0], known[0])
        return [Edit(path, start, start + known.end(), text)]

    def _call(self, each: Annotation) -> tuple[Call, tuple[tree_sitter.Node, ...]] | None:
        """The call of the operation, and those of its arguments that are memory orders; None where
        an operator stands."""
        source = self[each.path]
        call = source.call(source.node(each.line, each.column))
        if call is None:
            return None
        if (count := _arguments(call)) is not None:
            return call, call.arguments[count:]
        every = (*call.of_template, *call.arguments)
        given = tuple(one for one in every if _ORDER.fullmatch(source.text(one)))
        if each.passed:
            return call, given or tuple(one for one in every if _is_order_macro(source, one))
        orders = [C_ORDER[own] for own in each.order.split("/")]
        written = [_named(source.text(one)) for one in given]
        # a macro: which of its operations takes the order, only the compiler knows
        if self.cautious or written not in (orders, orders[:1]):
            line = syntax.macro_line(source, call.name)
            defined = f", which line {line} defines" if line else ""
            raise Unclear(f"it is inside {call.name}{defined}")
        return call, given

    def _operator(self, each: Annotation, order: str) -> list[Edit]:
        """The edits that make a call of an operator."""
        source = self[each.path]
        if each.kind not in ("R", "W", "RMW") or (self.cautious and each.kind == "R"):
            raise Unclear("it has no memory order and is no call")
        node = source.node(each.line, each.column)
        found = as_call(source, node, each.kind, self._spelled(order, each), cpp=each.cpp)
        return [Edit(each.path, *change) for change in found]

    def _removed(self, each: Annotation) -> Edit:
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
        return Edit(each.path, begin, end or len(source.source), "")

    def _fence(self, order: str, each: Annotation) -> str:
        """A fence, as a statement."""
        if each.kernel:
            return f"{each.spelled_fence(order)};"
        scope = "std::" if each.cpp else ""
        return f"{scope}atomic_thread_fence({self._spelled(order, each)});"

    def _spelled(self, order: str, each: Annotation, style: str = "") -> str:
        """A memory order, spelled as the one that it replaces. In C++ a name without scope is used
        only where the file uses it: it may be imported by name."""
        name = C_ORDER[order]
        if each.cpp and "::" not in style:
            used = rf"using\s+namespace\s+std\b|(?<![\w:]){name}\b|using\s+std\s*::\s*{name}\b"
            if not style or not re.search(used, self[each.path].source.decode("latin-1")):
                return f"std::{name}"
        prefix = _PREFIX.match(style)
        return name if prefix is None else prefix[0] + name.removeprefix("memory_order_")


def _is_order_macro(source: Syntax, node: tree_sitter.Node) -> bool:
    """Whether an argument is a macro that its file defines as a memory order."""
    values = [value for _, value in syntax.definitions(source, source.text(node))]
    return node.type == "identifier" and any(map(_ORDER.match, values))


def _arguments(call: Call) -> int | None:
    """How many arguments a call of an atomic operation has without its memory orders; None for
    another call."""
    name = call.name.removeprefix("atomic_").removeprefix("flag_").removesuffix("_explicit")
    for pattern, count in _ARGUMENTS:
        if pattern.fullmatch(name) and call.member != call.name.startswith("atomic_"):
            return count - call.member
    return None


def _named(order: str) -> str:
    """The C name of a memory order as it is written."""
    return f"memory_order_{_PREFIX.sub('', order)}"


def _single(order: str) -> str:
    """Of the memory orders of a compare-exchange, the one on success, if the other follows from it
    where only one is given (C++, [atomics.types.operations])."""
    success, _, failure = order.partition("/")
    return success if _ON_FAILURE.get(success, success) == failure else order
