"""Calls of the Linux kernel's primitives, made calls of those that have another memory order.

In: the syntax tree of a file and an annotation in it. Out: texts in place of others. Some
primitives take a pointer where others take the object itself: `smp_store_release(&x, 1)`,
`WRITE_ONCE(x, 1)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.kernel_primitives import is_test, takes_pointer
from weakspot.harness.edits.syntax import Syntax, Unclear

Change = tuple[int, int, str]
"""A text in place of what stands between two offsets."""

_BINDS_TIGHTLY = (
    "identifier",
    "field_expression",
    "subscript_expression",
    "call_expression",
    "parenthesized_expression",
)


def changes(source: Syntax, each: Annotation, order: str) -> Iterator[Change]:
    """The changes that give an annotation this memory order. Raises Unclear."""
    call = source.call(source.node(each.line, each.column))
    if call is None or call.name != each.called or each.named(each.order) != call.name:
        raise Unclear(f"it is inside {each.called or 'a macro'}")
    if is_test(call.name):
        raise Unclear("no primitive with this memory order tests its result: compare it")
    new = each.named(order)
    yield call.name_end - len(call.name), call.name_end, new
    if call.arguments and takes_pointer(new) != takes_pointer(call.name):
        first = call.arguments[0]
        make = _address if takes_pointer(new) else _object
        yield first.start_byte, first.end_byte, make(source, first)


def _address(source: Syntax, node: tree_sitter.Node) -> str:
    """The pointer to what an expression names."""
    inner = _operand(source, node, "*")
    if inner is not None:
        return source.text(inner)
    return "&" + _tight(source, node)


def _object(source: Syntax, node: tree_sitter.Node) -> str:
    """What the pointer that an expression computes points to."""
    inner = _operand(source, node, "&")
    if inner is not None:
        return source.text(inner)
    return "*" + _tight(source, node)


def _operand(source: Syntax, node: tree_sitter.Node, operator: str) -> tree_sitter.Node | None:
    """What stands behind an operator, if the expression begins with that."""
    if node.type != "pointer_expression" or source.text(node)[:1] != operator:
        return None
    return node.child_by_field_name("argument")


def _tight(source: Syntax, node: tree_sitter.Node) -> str:
    text = source.text(node)
    return text if node.type in _BINDS_TIGHTLY else f"({text})"
