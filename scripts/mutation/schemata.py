"""Rust sources in which each condition can be switched off, by its number, while they run.

One build then has all mutants. What can be switched off: an operand of `&&` or `||`, an `if`
without `else`, the guard of a match arm, the condition of a closure that selects (`filter`, `any`,
…) or of `then`, a member of two tuples that are compared, and a field of a state that is compared
as a whole. A pattern's literals cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))

STATES = {b"HeaderState"}
"""The types whose values are compared as a whole, to find out whether two states are the same."""

SELECT = {"all", "filter", "find", "is_none_or", "is_some_and", "position", "retain", "take_while"}
"""Methods whose closure is true of all once its condition is deleted; that of `any` is false."""

LOGICAL = ("&&", "||")

MODULE = """\
//! Which condition is switched off, and which would have decided something.
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::OnceLock;

static CHOSEN: OnceLock<usize> = OnceLock::new();
static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// Whether the condition is switched off; called where that makes a difference.
pub fn off(number: usize) -> bool {
    if !SEEN[number].swap(true, Relaxed) {
        if let Some(path) = std::env::var_os("MUTANTS_SEEN") {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            let line = format!("{number}\\n");
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.expect("a file that can be written");
        }
    }
    let chosen = || std::env::var("MUTANT").ok()?.parse().ok();
    *CHOSEN.get_or_init(|| chosen().unwrap_or(COUNT)) == number
}
"""


class Mutant(NamedTuple):
    """A condition and the place that it is deleted from; of several with one text, its number."""

    number: int
    file: str
    line: int
    function: str
    text: str


def rewrite(sources: Path, files: Mapping[str, Sequence[str]]) -> list[Mutant]:
    """Rewrites files of a crate's sources, of each these functions or all, and adds a module."""
    mutants: list[Mutant] = []
    for name, functions in files.items():
        path = sources / name
        path.write_bytes(_Rewriting(name, functions, mutants).rewritten(path.read_bytes()))
    module = MODULE.replace("COUNT", str(len(mutants)))
    (sources / "mutants.rs").write_text(module, encoding="utf-8")
    with (sources / "lib.rs").open("a", encoding="utf-8") as root:
        root.write("mod mutants;\n")
    return mutants


class _Rewriting:
    def __init__(self, file: str, functions: Sequence[str], mutants: list[Mutant]) -> None:
        self.file = file
        self.functions = functions
        self.mutants = mutants
        self.counts: Counter[tuple[str, str]] = Counter()
        self.line = 1
        self.function = ""

    def rewritten(self, source: bytes) -> bytes:
        return self._render(PARSER.parse(source).root_node)

    def _render(self, node: Node) -> bytes:
        if node.type == "mod_item":  # tests
            return _text(node)
        before = self.function
        if node.type == "function_item":
            self.function = _text(_field(node, "name")).decode()
            if self.functions and self.function not in self.functions:
                return _text(node)
        text = self._children(node)
        self.function = before
        return self._switched(node, text)

    def _children(self, node: Node) -> bytes:
        if node.type == "macro_invocation" and _text(_field(node, "macro")) == b"matches":
            return self._matches(node)
        if members := list(_compared(node)):
            equal = (
                self._off(one, self._render(one) + b" == " + self._render(other), to=True)
                for one, other in members
            )
            return b"(" + b" && ".join(equal) + b")"
        whole, start = _text(node), node.start_byte
        parts, end = [], 0
        for child in node.children:
            parts += [whole[end : child.start_byte - start], self._render(child)]
            end = child.end_byte - start
        return b"".join([*parts, whole[end:]])

    def _matches(self, node: Node) -> bytes:
        """The macro `matches!`, whose guard is no expression for the parser."""
        tokens = next(child for child in node.children if child.type == "token_tree")
        guard = next((child for child in tokens.children if _text(child) == b"if"), None)
        whole = _text(node)
        if guard is None:
            return whole
        start, end = guard.end_byte - node.start_byte, len(whole) - 1
        parsed = PARSER.parse(b"fn f() { while" + whole[start:end] + b" {} }").root_node
        loop = next(each for each in _walk(parsed) if each.type == "while_expression")
        condition = _field(loop, "condition")
        row, self.line = self.line, self.line + guard.end_point.row
        text = self._render(condition)
        if not _is_logical(condition):
            text = self._off(condition, text, to=True)
        self.line = row
        return whole[:start] + b" " + text + whole[end:]

    def _switched(self, node: Node, text: bytes) -> bytes:
        """The text of a node, with a switch if it is a condition."""
        parent = node.parent
        if parent is None or b"Reduction::" in _text(node):  # whether a reduction is on
            return text
        kind, operator = parent.type, _operator(parent)
        operand = operator in LOGICAL and node.is_named and node.type != "block"
        if operand and _operator(node) != operator:
            return self._off(node, text, to=operator == "&&")
        if kind == "if_expression" and parent.child_by_field_name("alternative") is None:
            if node == parent.child_by_field_name("condition"):
                if node.type != "let_condition" and _operator(node) != "||":
                    return self._off(node, text, to=False)
            elif node == parent.child_by_field_name("consequence"):
                condition = _field(parent, "condition")
                if condition.type == "let_condition":
                    number = self._number(condition)
                    return b"{ if !crate::mutants::off(%d) %s }" % (number, text)
        if kind == "match_pattern" and node == parent.child_by_field_name("condition"):
            return text if _is_logical(node) else self._off(node, text, to=True)
        if kind == "closure_expression" and node == parent.child_by_field_name("body"):
            method = _method(parent)
            selects = method in SELECT or method == "any"
            if selects and node.type != "block" and not _is_logical(node):
                return self._off(node, text, to=method != "any")
        if kind == "field_expression" and node == parent.child_by_field_name("value"):
            call = parent.parent
            name = _text(_field(parent, "field"))
            if name in (b"then", b"then_some") and call and not _is_logical(node):
                return self._off(node, text, to=True)
        if kind == "field_initializer" and node == parent.child_by_field_name("value"):
            state = parent.parent and parent.parent.parent
            if state and _text(_field(state, "name")) in STATES:
                number = self._number(parent)
                return b"if crate::mutants::off(%d) { Default::default() } else { %s }" % (
                    number,
                    text,
                )
        return text

    def _off(self, node: Node, text: bytes, *, to: bool) -> bytes:
        switch = b"(%s || crate::mutants::off(%d))" if to else b"(%s && !crate::mutants::off(%d))"
        if not to:
            text = b"(%s)" % text
        return switch % (text, self._number(node))

    def _number(self, node: Node) -> int:
        number = len(self.mutants)
        text = " ".join(_text(node).decode().split())
        self.counts[self.function, text] += 1
        if (count := self.counts[self.function, text]) > 1:
            text += f" ({count})"
        line = self.line + node.start_point.row
        self.mutants.append(Mutant(number, self.file, line, self.function, text))
        return number


def _text(node: Node) -> bytes:
    assert node.text is not None
    return node.text


def _field(node: Node, name: str) -> Node:
    child = node.child_by_field_name(name)
    assert child is not None, (node, name)
    return child


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _operator(node: Node) -> str | None:
    return _field(node, "operator").type if node.type == "binary_expression" else None


def _is_logical(node: Node) -> bool:
    if node.type == "parenthesized_expression":
        return _is_logical(node.named_children[0])
    return _operator(node) in LOGICAL


def _method(closure: Node) -> str | None:
    """The method whose only argument the closure is."""
    call = closure.parent and closure.parent.parent
    if call is None or call.type != "call_expression":
        return None
    function = _field(call, "function")
    return (
        _text(_field(function, "field")).decode() if function.type == "field_expression" else None
    )


def _compared(node: Node) -> Iterator[tuple[Node, Node]]:
    """The members of two tuples that are compared."""
    if _operator(node) == "==":
        one, other = _field(node, "left"), _field(node, "right")
        if one.type == other.type == "tuple_expression":
            yield from zip(one.named_children, other.named_children, strict=True)
