"""The syntax tree of a source: which call or operator stands at a place, and where statements can
be put before and after it; for Rust, which `rust_orders` reads, the tree alone.

tree-sitter parses what is written, macros included, without preprocessing; where a file uses
constructs that its grammar does not know, only the nodes around them are marked as errors. What
cannot be placed with certainty raises Unclear. Offsets and columns count bytes, as compilers do.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import tree_sitter

from weakspot.generators.source.language import candidates, languages

#: statements stand side by side in these
_BLOCKS = {
    "compound_statement",
    "case_statement",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "block",  # of Rust
}
#: a statement put before one of these, or before what they hold, would not run each time
_ENCLOSING = {"for_statement", "for_range_loop", "do_statement", "else_clause"}
_LOOPS = {"for_statement", "for_range_loop", "do_statement", "while_statement"}
_LEAVES = {
    "return_statement",
    "continue_statement",
    "break_statement",
    "goto_statement",
    "throw_statement",
}


class Unclear(Exception):
    """Why a source cannot be edited at a place."""


class Call(NamedTuple):
    """A call as it is written: the name of the function without its scope and its template
    arguments, whether it is a member function, where the name ends, where the arguments begin, the
    arguments, and the template arguments."""

    name: str
    member: bool
    name_end: int
    begin: int
    arguments: tuple[tree_sitter.Node, ...]
    of_template: tuple[tree_sitter.Node, ...]


class Syntax:
    """A source file and its syntax tree."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source

    @cached_property
    def root(self) -> tree_sitter.Node:
        """The tree by the grammar of the file's language; for a file that several languages have,
        by the grammar that understands most of it."""
        known = candidates(Path(self.path)) or (
            each for each in languages() if each.compiler == "clang"
        )
        grammars = [importlib.import_module(each.grammar) for each in known]
        trees = [
            tree_sitter.Parser(tree_sitter.Language(each.language())).parse(self.source).root_node
            for each in grammars
        ]
        return min(trees, key=_errors)

    def text(self, node: tree_sitter.Node) -> str:
        """What is written there, one character per byte."""
        return self.source[node.start_byte : node.end_byte].decode("latin-1")

    def node(self, line: int, column: int) -> tree_sitter.Node:
        """The smallest node at a place, both counted from 1. Raises Unclear."""
        found = self.root.descendant_for_point_range((line - 1, column - 1), (line - 1, column))
        if found is None or line > self.source.count(b"\n") + 1:
            raise Unclear("the file is shorter than when it was read")
        return found

    def call(self, node: tree_sitter.Node) -> Call | None:
        """The call whose name begins with that node, if there is one."""
        for call in upward(node):
            if call.type != "call_expression":
                continue
            function = call.child_by_field_name("function")
            arguments = call.child_by_field_name("arguments")
            if function is None or arguments is None:
                continue
            name = function.child_by_field_name("field") or function
            if node.start_byte not in (name.start_byte, function.start_byte):
                continue
            member = function.type == "field_expression"
            while name.type in ("qualified_identifier", "dependent_name"):
                name = name.named_children[-1]
            template = name.child_by_field_name("arguments")
            if template is not None:
                name = name.child_by_field_name("name") or name
            return Call(
                self.text(name).strip(),
                member,
                name.end_byte,
                arguments.start_byte + 1,
                tuple(_code(arguments.named_children)),
                tuple(_code(template.named_children)) if template is not None else (),
            )
        return None

    def indentation(self, node: tree_sitter.Node) -> str:
        """The white space that the node's line begins with."""
        line = self.source.rfind(b"\n", 0, node.start_byte) + 1
        text = self.source[line : node.start_byte].decode("latin-1")
        return text[: len(text) - len(text.lstrip())]


def statement(node: tree_sitter.Node) -> tree_sitter.Node:
    """The statement that a node is in: of a block, or the whole body of a loop or an `else`, which
    may lack braces. Raises Unclear where none stands by itself."""
    for each in upward(node):
        parent = each.parent
        if parent is None:
            break
        if each.type in _ENCLOSING:
            raise Unclear("it is part of a longer statement")
        if (_is_block(parent) and each.is_named) or lacks_braces(each):
            if each.has_error:
                raise Unclear("its statement cannot be parsed")
            return each
    raise Unclear("it is not in the body of a function")


def is_unbraced(node: tree_sitter.Node) -> bool:
    """Whether the innermost statement around a node is the body of another one, without braces."""
    kinds = ("_statement", "declaration")
    inner = next((each for each in upward(node) if each.type.endswith(kinds)), None)
    if inner is None or inner.parent is None or inner.type == "compound_statement":
        return False
    return not _is_block(inner.parent)


def lacks_braces(whole: tree_sitter.Node) -> bool:
    """Whether a statement is the body of a loop or an `else`, without braces around it."""
    parent = whole.parent
    if parent is None or whole.type == "compound_statement":
        return False
    if parent.type == "else_clause":
        return whole.is_named and whole.type != "comment"
    return parent.type in _LOOPS and _is(whole, parent, "body")


def after(node: tree_sitter.Node) -> int:
    """Where the first statement that runs after a node begins: after its statement; after a loop
    whose condition holds the node; for the condition of an `if`, where control stays when one of
    its two branches leaves. Raises Unclear."""
    whole = statement(node)
    if whole.type not in ("if_statement", "while_statement") or not _in_condition(node, whole):
        if whole.type in _LEAVES:
            raise Unclear("control leaves at its statement")
        return whole.end_byte
    if whole.type == "while_statement":
        return whole.end_byte
    body = whole.child_by_field_name("consequence")
    if whole.child_by_field_name("alternative") is not None or body is None:
        raise Unclear("it decides between two branches")
    last = body
    while last.type == "compound_statement" and (inner := _code(last.named_children)):
        last = inner[-1]
    if last.type in _LEAVES:
        return whole.end_byte
    return body.start_byte + (body.type == "compound_statement")


def starts_line(node: tree_sitter.Node) -> bool:
    """Whether a statement is the first on its line, comments aside."""
    before = _adjacent(node, -1)
    return before is None or before.end_point.row < node.start_point.row


def ends_line(node: tree_sitter.Node) -> bool:
    """Whether a statement is the last on its line, comments aside."""
    behind = _adjacent(node, +1)
    return behind is None or behind.start_point.row > node.end_point.row


def definitions(syntax: Syntax, name: str) -> list[tuple[int, str]]:
    """Where the value of each `#define` of a macro without parameters begins, and the value."""
    found = []
    for node in nodes(syntax.root):
        if node.type != "preproc_def":
            continue
        its_name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if its_name is not None and value is not None and syntax.text(its_name) == name:
            text = syntax.text(value)
            found.append((value.start_byte + len(text) - len(text.lstrip()), text.strip()))
    return found


def macro_line(syntax: Syntax, macro: str) -> int | None:
    """The line in which a macro with parameters is defined, if the file does."""
    for node in nodes(syntax.root):
        name = node.child_by_field_name("name")
        if node.type == "preproc_function_def" and name is not None and syntax.text(name) == macro:
            return node.start_point.row + 1
    return None


def contains(node: tree_sitter.Node, *types: str) -> bool:
    """Whether a node of one of these types is below, or is the node itself."""
    return any(each.type in types for each in nodes(node))


def _code(nodes: Sequence[tree_sitter.Node]) -> list[tree_sitter.Node]:
    return [each for each in nodes if each.type != "comment"]


def _errors(root: tree_sitter.Node) -> int:
    return sum(each.is_error or each.is_missing for each in nodes(root)) if root.has_error else 0


def nodes(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and those below it, in the order of the source."""
    waiting = [node]
    while waiting:
        yield (here := waiting.pop())
        waiting.extend(reversed(here.children))


def upward(node: tree_sitter.Node | None) -> Iterator[tree_sitter.Node]:
    """A node and those around it, the innermost first."""
    while node is not None:
        yield node
        node = node.parent


def _is(child: tree_sitter.Node, parent: tree_sitter.Node, field: str) -> bool:
    return parent.child_by_field_name(field) == child


def _is_block(node: tree_sitter.Node) -> bool:
    """Whether statements stand side by side in a node, or it is the label of one that does."""
    if node.type == "labeled_statement":
        return node.parent is not None and _is_block(node.parent)
    return node.type in _BLOCKS


def _in_condition(node: tree_sitter.Node, whole: tree_sitter.Node) -> bool:
    condition = whole.child_by_field_name("condition")
    return condition is not None and node.end_byte <= condition.end_byte


def _adjacent(node: tree_sitter.Node, step: int) -> tree_sitter.Node | None:
    """The next or the previous node beside, or around, that is no comment."""
    other = node.next_sibling if step > 0 else node.prev_sibling
    while other is not None and other.type == "comment":
        other = other.next_sibling if step > 0 else other.prev_sibling
    return other
