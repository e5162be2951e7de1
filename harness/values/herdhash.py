"""herdtools7's digest of a test, the `Hash=` of its logs.

mcompare7 and msum7 treat two logs as being about the same test only if their digests are equal. The
digest is the MD5 of the MD5s of the initial state, the program and the observed locations, each
printed in a canonical form (herdtools7 7.58: lib/testHash.ml, lib/CTestHash.ml). For C the text of
the program is used unchanged. Assembly is pretty-printed by herdtools7; only text written by diy7
is known to be in that form, so only its digest is computed here. A test that states its hash keeps
that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import md5
from typing import TYPE_CHECKING

from weakspot.generators.litmus import Test

if TYPE_CHECKING:
    from weakspot._engine import OutlineDict

_COMMENT = re.compile(r"\(\*.*?\*\)", re.S)
_METADATA = re.compile(r"^(hash|variant|tthm)[ \t]*=[ \t]*(.*?)[ \t]*$", re.M | re.I)
_DECLARED = re.compile(
    r"(?P<type>[\w ]*?)\s*(?P<star>\*?)\s*(?P<place>\[\w+\]|\d+\s*:\s*%?\w+|\w+)"
)
_ARRAY = re.compile(r"(?P<type>[\w ]+?)\s*(?P<place>\w+)\s*\[(?P<size>\d+)\]")
_OBSERVED = re.compile(r"\d+\s*:\s*%?\w+|\[\w+\]|\b[A-Za-z_]\w*(?=\s*!?=)")
_LISTED = re.compile(r"\s*locations\s*\[(?P<places>(?:[^\[\];]|\[\w+\]|;)*)\]")
_FUNCTION = re.compile(r"\bP(?P<number>\d+)\s*\((?P<parameters>[^()]*)\)\s*\{")
_PARAMETER = re.compile(r"(?P<type>\w+)\s*(?P<stars>\*+)\s*(?P<name>\w+)")
_BRACE = re.compile(r"[{}]")
_LABEL = re.compile(r"\b([A-Za-z_]\w*)\s*:")
_DIGESTED = {"variant", "tthm"}
"""Metadata that is part of the digest; diy7 writes none of it."""

_Location = tuple[int, int, str]  # registers by thread and name, then locations by name


def herd_hash(test: Test) -> str:
    """herd7's hash of the test; empty if it cannot be computed with certainty."""
    return _hash(test.arch, test.text)


@lru_cache(maxsize=1 << 14)  # a test is checked under several models
def _hash(arch: str, text: str) -> str:
    from weakspot import _engine

    try:
        outline = _engine.outline(text)
    except _engine.EngineError:
        return ""
    for key, value in _METADATA.findall(outline["preamble"]):
        if key.lower() == "hash":
            return str(value)
        if key.lower() in _DIGESTED:
            return ""
    if arch != "C" and "\nGenerator=diy" not in outline["preamble"]:
        return ""
    try:
        return _digest(arch, outline)
    except ValueError:
        return ""


def _digest(arch: str, outline: OutlineDict) -> str:
    if not outline["end"]:
        raise ValueError("no final condition")
    program = outline["program"]
    parts = (
        _initial(_bare(outline["initial"])),
        _functions(program) if arch == "C" else _columns(_bare(program)),
        _observed(_bare(outline["end"])),
    )
    return md5(b"".join(md5(part.encode()).digest() for part in parts)).hexdigest()


def _bare(text: str) -> str:
    """Without comments."""
    return _COMMENT.sub(" ", text) if "(*" in text else text


def _closing(text: str, begin: int) -> int:
    """The place after the brace that closes the one at `begin`."""
    depth = 0
    for brace in _BRACE.finditer(text, begin):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    raise ValueError("a brace is open")


@lru_cache(maxsize=1024)
def _place(written: str) -> _Location:
    bare = re.sub(r"[\[\]\s%]", "", written)
    thread, colon, register = bare.partition(":")
    return (0, int(thread), register) if colon else (1, 0, bare)


def _name(place: _Location) -> str:
    kind, thread, name = place
    return name if kind else f"{thread}:{name}"


def _type(written: str) -> str:
    """herd7 has atomic_int for `_Atomic int`, and what it does with other atomic types varies."""
    if written.startswith("atomic_") and written != "atomic_int":
        raise ValueError(written)
    return "_Atomic int" if written == "atomic_int" else written


def _declared(written: str) -> str:
    if "tomic" in written:
        raise ValueError(written)
    return " ".join(written.split())


def _initial(text: str) -> str:
    given = dict(map(_declaration, filter(None, map(str.strip, text.split(";")))))
    return "; ".join(given[place] for place in sorted(given))


@lru_cache(maxsize=1024)
def _declaration(text: str) -> tuple[_Location, str]:
    left, _, value = (part.strip() for part in text.partition("="))
    if array := _ARRAY.fullmatch(left):
        place = _place(array["place"])
        return place, f"{_declared(array['type'])} {_name(place)}[{array['size']}]"
    match = _DECLARED.fullmatch(left)
    if match is None or not re.fullmatch(r"[\w-]*", value):
        raise ValueError(text)
    place = _place(match["place"])
    before = f"{_declared(match['type'])} {match['star']}" if match["type"] else match["star"]
    return place, f"{before}{_name(place)}={value or 0}"


def _functions(text: str) -> str:
    """The threads of a C test, with their bodies unchanged."""
    printed = []
    for match in _FUNCTION.finditer(text):
        body = text[match.end() : _closing(text, match.end() - 1) - 1]
        if re.search(r"//|/\*|\(\*|\"", body):
            raise ValueError("braces that are none")
        parameters = _parameters(match["parameters"])
        printed.append(f"P{match['number']}({parameters}) {{\n{body}\n}}\n")
    return "|".join(f" {function} " for function in printed) + ";\n"


@lru_cache(maxsize=1024)
def _parameters(text: str) -> str:
    printed = []
    for written in filter(None, map(str.strip, text.split(","))):
        parameter = _PARAMETER.fullmatch(written)
        if parameter is None:
            raise ValueError(written)
        printed.append(f"{_type(parameter['type'])}{parameter['stars']} {parameter['name']}")
    return ", ".join(printed)


def _columns(text: str) -> str:
    """An assembly program: one column per thread without padding, labels numbered in order."""
    text = text.partition(";")[2]
    labels = sorted(set(_LABEL.findall(text))) if ":" in text else []
    rows = [[cell.strip() for cell in row.split("|")] for row in text.split(";")]
    rows = [row for row in rows if any(row)]
    if labels:
        number = {label: f"L{at:02}" for at, label in enumerate(labels)}
        known = re.compile(r"\b(" + "|".join(labels) + r")\b")
        rows = [[known.sub(lambda found: number[found[1]], cell) for cell in row] for row in rows]
    columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
    return "".join(_lines(columns))


def _lines(columns: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column), default=0) for column in columns]
    for at in range(max(map(len, columns), default=0)):
        cells = [column[at] if at < len(column) else "" for column in columns]
        yield (
            "|".join(f" {cell:<{width}} " for cell, width in zip(cells, widths, strict=True))
            + ";\n"
        )


def _observed(text: str) -> str:
    """The locations that `locations` lists and the condition mentions, not those of `filter`."""
    found: set[_Location] = set()
    if listed := _LISTED.match(text):
        text = text[listed.end() :]
        for written in filter(None, map(str.strip, listed["places"].split(";"))):
            found.add(_place(written.split()[0] if " " in written else written))
    condition = re.search(r"(?:exists|forall|final)\b.*", text, re.S)
    found.update(map(_place, _OBSERVED.findall(condition[0] if condition else "")))
    return "; ".join(map(_name, sorted(found)))
