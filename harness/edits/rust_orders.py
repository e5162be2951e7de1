"""Memory orders in Rust sources: which arguments of a call they are, and how others are written.

In: the syntax tree of a file and an annotation in it. Out: texts in place of others. The arguments
that are memory orders are those that name one, `Ordering::Release` or `Release`, or a constant.
Rust has no default order and no operators of atomic objects. Fences are weakened and removed; where
a new one goes is left to the user.
"""

from __future__ import annotations

import re

import tree_sitter

from weakspot.generators.source.languages.rust import LANGUAGE
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.syntax import Syntax, Unclear, nodes, upward

Span = tuple[int, int]
"""Where a text begins and ends."""

Change = tuple[int, int, str]
"""A text in place of what stands between two offsets."""

_NAMES = {name: name.rpartition("::")[2] for name in LANGUAGE.orders.values()}
_OF = {_NAMES[name]: order for order, name in LANGUAGE.orders.items()}
_ORDER = re.compile(rf"(?P<path>(?:\w*\s*::\s*)*)(?P<name>{'|'.join(_OF)})")
_PATH = re.compile(r"(?:\w+\s*::\s*)*(?P<name>\w+)")


def changes(source: Syntax, each: Annotation, order: str) -> list[Change]:
    """The changes that give an annotation this memory order. Raises Unclear."""
    spans, orders = _written(source, each), order.split("/")
    texts = [_text(source, span) for span in spans]
    found = [_ORDER.fullmatch(text) for text in texts]
    if not all(found):
        raise Unclear(f"its memory order is written as {', '.join(texts)}")
    if len(spans) == 1 and each.passed and order.partition("/")[2] == each.order.partition("/")[2]:
        orders = orders[:1]  # perhaps that of one outcome only, which compiling shows
    if len(spans) != len(orders):
        raise Unclear(f"{len(spans) or 'no'} memory orders are written there")
    written = [_OF[one["name"]] for one in found if one]
    if written != each.order.split("/")[: len(written)]:
        raise Unclear(f"its memory order is written as {', '.join(texts)}")
    return [
        (*span, _spelled(source, new, text))
        for span, text, old, new in zip(spans, texts, written, orders, strict=True)
        if old != new
    ]


def constant(source: Syntax, each: Annotation) -> str | None:
    """The name of the constant that holds an annotation's memory order, if one does."""
    texts = [_text(source, span) for span in _written(source, each)]
    if len(set(texts)) != 1 or _ORDER.fullmatch(texts[0]):
        return None
    found = _PATH.fullmatch(texts[0])
    return found["name"] if found else None


def definitions(syntax: Syntax, name: str) -> list[tuple[int, str]]:
    """Where the value of each constant of that name begins, and the value."""
    found = []
    for node in nodes(syntax.root):
        its_name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "const_item" and its_name and value and syntax.text(its_name) == name:
            found.append((value.start_byte, syntax.text(value)))
    return found


def definition(source: Syntax, name: str, orders: set[tuple[str, str]]) -> Change:
    """The change that gives a constant another memory order: the old and the new one of each of its
    users. Raises Unclear."""
    found = definitions(source, name)
    known = _ORDER.fullmatch(found[0][1]) if len(found) == 1 else None
    if known is None:
        raise Unclear(f"its memory order is {name}, which its file does not define just once")
    # of a compare-exchange, both orders are the constant
    old, new = ("/".join(side).split("/") for side in zip(*orders, strict=True))
    if set(old) != {_OF[known["name"]]}:
        raise Unclear(f"its memory order is {name}, which is defined elsewhere too")
    if len(set(new)) > 1:
        raise Unclear(f"its memory order is {name}, and several are needed")
    begin, text = found[0]
    return begin, begin + len(text), _spelled(source, new[0], text)


def _written(source: Syntax, each: Annotation) -> list[Span]:
    """Those arguments of the call at an annotation's place that name a memory order or a constant
    of the file; if there are none, the last ones, unless the call is one of the user's functions.
    Raises Unclear."""
    spans = _arguments(source.node(each.line, each.column))
    found = [
        span
        for span in spans
        if _ORDER.fullmatch(text := _text(source, span))
        or ((path := _PATH.fullmatch(text)) and definitions(source, path["name"]))
    ]
    if found or each.passed:
        return found
    return spans[-len(each.order.split("/")) :]


def _arguments(node: tree_sitter.Node) -> list[Span]:
    """The arguments of the call whose name, or the path before it, begins with that node. Within
    the arguments of a macro, which have no syntax, these are what stands between commas. Raises
    Unclear."""
    group = None
    for call in upward(node):
        function = call.child_by_field_name("function")
        if call.type == "call_expression" and function is not None:
            if function.type == "generic_function":
                function = function.child_by_field_name("function") or function
            name = function.child_by_field_name("field") or function
            if node.start_byte in (name.start_byte, function.start_byte):
                group = call.child_by_field_name("arguments")
                break
    if group is None and node.parent is not None and node.parent.type == "token_tree":
        group = node.next_sibling
        while group is not None and group.type in ("identifier", "::"):
            group = group.next_sibling
        if group is not None and group.type != "token_tree":
            group = None
    if group is None:
        raise Unclear("it is no call")
    found: list[Span] = []
    argument: list[tree_sitter.Node] = []
    for each in group.children[1:]:
        if each.type in (",", ")"):
            if argument:
                found.append((argument[0].start_byte, argument[-1].end_byte))
            argument = []
        elif each.type not in ("line_comment", "block_comment"):
            argument.append(each)
    return found


def _text(source: Syntax, span: Span) -> str:
    return source.source[span[0] : span[1]].decode("latin-1")


def _spelled(source: Syntax, order: str, style: str) -> str:
    """A memory order, spelled as the one that it replaces; without a path only where the file
    imports it."""
    name = _NAMES[LANGUAGE.orders[order]]
    known = _ORDER.fullmatch(style)
    assert known is not None
    if known["path"]:
        return known["path"] + name
    text = source.source.decode("latin-1")
    if re.search(rf"\buse\b[^;]*\bOrdering\s*::\s*(?:\*|{name}\b|{{[^}}]*(?:\b{name}\b|\*))", text):
        return name
    return f"core::sync::atomic::Ordering::{name}"
