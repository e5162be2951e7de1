"""Operators of atomic objects, written as calls that take a memory order: `x++`, `x = 1`, and the
use of `x` for its value.

The syntax tree does not know types: what is an operator of an atomic object, the compiler has
reported, with a place that differs between C and C++. Where the place leaves open which expression
is read (`a` or `a[i]`), the longest is taken; the caller compiles the result.
"""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from weakspot.harness.edits.syntax import Syntax, Unclear, contains, definitions, upward

#: what names an object without changing anything
_NAMES = {
    "identifier",
    "field_identifier",
    "namespace_identifier",
    "qualified_identifier",
    "field_expression",
    "subscript_expression",
    "pointer_expression",
    "parenthesized_expression",
    "subscript_argument_list",
    "number_literal",
    "this",
}
_FETCH = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor"}
_CHANGES = ("assignment_expression", "update_expression")
_MOVES = ("subscript_expression", "pointer_expression")

Change = tuple[int, int, str]
"""A text in place of what stands between two offsets."""


def as_call(
    source: Syntax, node: tree_sitter.Node, kind: str, order: str, *, cpp: bool
) -> Iterator[Change]:
    """The changes that make a call with this memory order, as it is spelled, of the operator that
    the compiler has reported at a node: of a read, a write or an update. Raises Unclear."""
    if kind == "R":
        return _load(source, node, order, cpp=cpp)
    return _update(source, node, kind, order, cpp=cpp)


def _load(source: Syntax, node: tree_sitter.Node, order: str, *, cpp: bool) -> Iterator[Change]:
    whole = _object(node, cpp=cpp)
    if not _is_name(whole):
        raise Unclear("it has no memory order, and is no call or name")
    if whole.type == "identifier" and definitions(source, source.text(whole)):
        raise Unclear(f"it is inside {source.text(whole)}")
    begin, at = whole.start_byte, _pointer(whole)
    if cpp:
        if at is not None:
            yield begin, begin, "("
        yield whole.end_byte, whole.end_byte, f"{')' * (at is not None)}.load({order})"
    else:
        address = f"&{source.text(whole)}" if at is None else source.text(at)
        yield begin, whole.end_byte, f"atomic_load_explicit({address}, {order})"


def _update(
    source: Syntax, node: tree_sitter.Node, kind: str, order: str, *, cpp: bool
) -> Iterator[Change]:
    whole = next((each for each in upward(node) if each.type in _CHANGES), node)
    operator = whole.child_by_field_name("operator")
    if operator is None or node.start_byte not in (operator.start_byte, whole.start_byte):
        raise Unclear("it has no memory order, and is no call or operator")
    written = source.text(operator)
    what = "store" if written == "=" else f"fetch_{_FETCH.get(written[0], '')}"
    place = whole.child_by_field_name("left") or whole.child_by_field_name("argument")
    value = whole.child_by_field_name("right")
    if place is None or what == "fetch_" or (what == "store") != (kind == "W"):
        raise Unclear(f"no function with a memory order stands for {written}")
    is_postfix = value is None and place.start_byte < operator.start_byte
    if not is_postfix and not _is_discarded(whole):
        raise Unclear(f"the value of {written} is used")
    # C++17 evaluates the value first, but of a call the object
    is_fixed = not contains(place, *_MOVES) and "->" not in source.text(place)
    changes = value is not None and contains(value, *_CHANGES, "call_expression")
    if not _is_name(place) or (changes and not is_fixed):
        raise Unclear("it is part of an expression that changes something else")
    begin, at = place.start_byte, _pointer(place)
    if cpp:
        head, tail = "(" * (at is not None), f"{')' * (at is not None)}.{what}("
    else:
        head, tail = f"atomic_{what}_explicit({'&' * (at is None)}", ", "
        begin = begin if at is None else at.start_byte
    yield whole.start_byte, begin, head
    if value is None:
        yield place.end_byte, whole.end_byte, f"{tail}1, {order})"
    else:
        yield place.end_byte, value.start_byte, tail
        yield whole.end_byte, whole.end_byte, f", {order})"


def _object(node: tree_sitter.Node, *, cpp: bool) -> tree_sitter.Node:
    """The longest expression for an object whose place is a node: a member is reported in C where
    its name stands, in C++ where the whole expression begins."""
    whole = node
    while (outer := whole.parent) is not None and outer.type in _NAMES:
        is_first = bool(outer.named_children) and outer.named_children[0] == whole
        begins = outer.start_byte == node.start_byte
        if not cpp:
            if outer.type == "field_expression":
                begins = not is_first
            elif outer.type == "subscript_expression":
                begins = is_first
        if not begins:
            break
        whole = outer
    return whole


def _is_name(node: tree_sitter.Node) -> bool:
    """Whether an expression names an object and changes nothing."""
    return node.type in _NAMES and all(map(_is_name, node.named_children))


def _pointer(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The pointer of an expression that dereferences one."""
    return node.child_by_field_name("argument") if node.type == "pointer_expression" else None


def _is_discarded(node: tree_sitter.Node) -> bool:
    """Whether the value of an expression is not used."""
    parent = node.parent
    if parent is None or parent.type == "expression_statement":
        return parent is not None
    return parent.type == "for_statement" and parent.child_by_field_name("update") == node
