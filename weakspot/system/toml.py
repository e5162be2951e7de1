"""TOML files as values, and the line of what does not fit.

tomllib reports no positions, so the line of a key is looked for in the text: the table that it
stands in, then the key itself.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from weakspot.errors import BadInput, excerpt

Steps = tuple[str | int, ...]
"""The path to a value: names of tables and keys, numbers in arrays."""

T = TypeVar("T")


class Text(msgspec.Struct, frozen=True):
    """A TOML file with its lines, to show where in it something is wrong."""

    path: Path
    lines: tuple[str, ...]

    def wrong(self, steps: Steps, message: str, advice: str | None = None) -> BadInput:
        """An error at the key that the steps lead to, or at the nearest thing around it."""
        line = self.line(steps)
        return BadInput(
            message,
            place=f"{self.path}:{line}" if line else str(self.path),
            excerpt=excerpt("\n".join(self.lines), line),
            advice=advice,
        )

    def line(self, steps: Steps) -> int:
        """The number of the line, 0 when nothing on the path has one."""
        best, found = 0, 0
        for place, number in _places(self.lines):
            common = min(len(place), len(steps))
            if common > best and place[:common] == steps[:common]:
                best, found = common, number
        return found


def read(path: Path) -> tuple[Mapping[str, Any], Text]:
    """What the file holds, still untyped. Raises BadInput, with the line, for what is not TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is not a text file", place=str(path)) from error
    except OSError as error:
        why = error.strerror or error
        raise BadInput(f"cannot read {path.name}: {why}", place=str(path)) from error
    lines = tuple(text.splitlines())
    try:
        return msgspec.toml.decode(text), Text(path, lines)
    except msgspec.DecodeError as error:
        at = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(at[1]), at[2]) if at else (len(lines), "")  # or at its end
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise BadInput(
            f"not TOML: {message[:1].lower()}{message[1:]}",
            place=":".join(filter(None, (str(path), str(line), column))),
            excerpt=excerpt(text, line, int(column or 0)),
        ) from error


def convert(held: object, type_: type[T], text: Text, root: Steps = ()) -> T:
    """The value below `root` as a `type_`, a struct of structs. Raises BadInput, with key and
    line, for a key that is not known or missing, or a value that does not fit."""
    try:
        return msgspec.convert(held, type_)
    except msgspec.ValidationError as error:
        raise _misfit(text, str(error), root, type_) from error


def suggest(word: str, known: Iterable[str]) -> str | None:
    """A question whether the nearest of the known words was meant."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


def _misfit(text: Text, message: str, root: Steps, type_: Any) -> BadInput:
    """msgspec's complaint, with the line it is about and what was probably meant."""
    what, _, where = message.partition(" - at `$")
    what = what.replace(" | null", "")  # TOML has none
    steps = tuple(_steps(where.rstrip("`")))
    if unknown := re.search(r"unknown field `(.*)`", what):
        known = _keys(type_, steps)
        advice = suggest(unknown[1], known) or f"known keys: {', '.join(known)}"
        return text.wrong((*root, *steps, unknown[1]), f"unknown key {unknown[1]}", advice)
    if missing := re.search(r"missing required field `(.*)`", what):
        return text.wrong((*root, *steps), f"the key {missing[1]} is missing")
    names = [step for step in steps if isinstance(step, str)]
    prefix = f"{names[-1]}: " if names else ""
    return text.wrong((*root, *steps), f"{prefix}{what[:1].lower()}{what[1:]}")


def _steps(where: str) -> Iterator[str | int]:
    """`.claim[2].seen` as claim, 2, seen; a value of a table without fixed keys ends it."""
    for name, number in re.findall(r"\.([\w-]+)|\[(\d+|\.\.\.)\]", where):
        if number == "...":
            return
        yield name or int(number)


def _keys(type_: Any, steps: Steps) -> Sequence[str]:
    """The keys of the struct that the steps lead to."""
    info: Any = msgspec.inspect.type_info(type_)
    for step in steps:
        if isinstance(info, msgspec.inspect.StructType):
            info = next(field.type for field in info.fields if field.encode_name == step)
        elif isinstance(info, msgspec.inspect.VarTupleType):
            info = info.item_type
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return [field.encode_name for field in fields]


_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_OPENS = re.compile(rf"\s*(?:(\[\[?)\s*({_NAMES})\s*\]|({_NAMES})\s*=)")


def _places(lines: Sequence[str]) -> Iterator[tuple[Steps, int]]:
    """What each line opens: a table, an element of an array of tables, the value of a key."""
    table: Steps = ()
    elements: Counter[Steps] = Counter()
    for number, line in enumerate(lines, 1):
        opens = _OPENS.match(line)
        if opens is None:
            continue
        names: Steps = tuple(
            name.strip("\"'") for name in re.findall(_NAME, opens[2] or opens[3] or "")
        )
        if opens[3]:
            yield (*table, *names), number
            continue
        table = names
        if opens[1] == "[[":
            table = (*names, elements[names])
            elements[names] += 1
        yield table, number
