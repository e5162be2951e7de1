"""Where the functions, variables and instructions of LLVM IR stand in the source.

In: the text of a module, whose file names are as `relative_names` writes them. Out: the places that
its debug information names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weakspot.generators.litmus import of_library
from weakspot.generators.source.file_names import unescape

_LINE = re.compile(r"[^\n]*")


def definition(text: str, name: str) -> tuple[str, int] | None:
    """Where a function or variable is defined: the file, as `relative_names` names it; the line."""
    at = re.search(
        rf'^define [^\n]*@"?{re.escape(name)}"?\([^\n]*!dbg !(\d+)', text, re.MULTILINE
    ) or re.search(rf'^@"?{re.escape(name)}"? = [^\n]*!dbg !(\d+)', text, re.MULTILINE)
    if at is None:
        return None
    node = _node(text, at[1])
    if expression := _field(node, "var"):
        node = _node(text, expression)
    return _file(text, node), int(_field(node, "line") or 0)


def defines(text: str, parts: Sequence[str]) -> bool:
    """Whether a module defines a function or variable of this qualified name."""
    *scopes, last = parts
    mangled = [f"{len(each)}{each}" for each in parts]
    if scopes and last.removeprefix("~") == scopes[-1]:
        mangled[-1] = "D[012]" if last.startswith("~") else "C[12]"
    symbol = r"_Z\w*?" + r"\w*?".join(mangled) + r"\w*"
    if not scopes:  # of C, or of C++
        symbol = f"(?:{re.escape(last)}|{symbol})"
    pattern = rf'^(?:define [^@\n]*@"?{symbol}"?\(|@"?{symbol}"? = (?![^\n]*\bexternal\b))'
    return re.search(pattern, text, re.MULTILINE) is not None


def place_of_line(text: str, number: int) -> tuple[str, int, int] | None:
    """The file, line and column in the user's code that a line of the IR comes from: those of its
    instruction, else of the next in its function, else of the function."""
    lines = text.split("\n")
    for line in [*lines[number - 1 : number + 20], *reversed(lines[: number - 1])]:
        found = re.search(r"!dbg !(\d+)", line)
        if line.startswith(("define", "}")) and not found:
            return None
        if found is None:
            continue
        node = _node(text, found[1])
        while "DILocation(" in node:
            file = _file(text, _node(text, _field(node, "scope")))
            outer = _node(text, _field(node, "inlinedAt"))
            if not of_library(file) or not outer:
                return file, int(_field(node, "line") or 0), int(_field(node, "column") or 0)
            node = outer
        return _file(text, node), int(_field(node, "line") or 0), 0
    return None


def _file(text: str, node: str) -> str:
    """The name of the file that a metadata node names."""
    name = re.search(r'filename: "([^"]*)"', _node(text, _field(node, "file")))
    return unescape(name[1] if name else "")


def _node(text: str, number: str) -> str:
    """The line of a metadata node."""
    start = f"\n!{number} = "
    at = text.rfind(start) if number else -1
    found = _LINE.match(text, at + len(start))
    return found[0] if found and at >= 0 else ""


def _field(node: str, name: str) -> str:
    """A field that is a number or names a node by its number."""
    found = re.search(rf"\b{name}: !?(\d+)", node)
    return found[1] if found else ""
