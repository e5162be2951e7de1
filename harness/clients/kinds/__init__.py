"""The kinds of object whose sequential behaviour is known, and which function is which of their
operations.

To add a kind, add a file NAME.py that defines KIND, with the sequential implementation in NAME.h
beside it. Nothing else names it.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.clients.operations import Operation
from weakspot.system.registry import Registry

Argument = Literal["value", "key", "known"]
"""What an argument stands for: a number that no other call is given; a number that others may be
given too; 0 or a number that some call is given as a value."""


class KindOperation(msgspec.Struct, frozen=True):
    """An operation of a kind: the function of its header, without `weakspot_`; the pattern of names
    that stand for it; its arguments. `must`: where the function of the user returns nothing, it is
    not called in a state in which this one returns 0. `waits`: it waits until it can succeed.
    `takes`: how its thread holds the object once it has succeeded; only a thread that holds nothing
    calls it. `gives`: only a thread that holds the object calls it, which then does not. `runs`: it
    takes a function, which it calls. `finds`: it returns a value that was there; else whether it
    succeeded, if it returns anything."""

    name: str
    pattern: str
    arguments: tuple[Argument, ...] = ()
    must: bool = False
    waits: bool = False
    takes: Literal["", "alone", "shared"] = ""
    gives: Literal["", "alone", "shared"] = ""
    runs: bool = False
    finds: bool = False


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of object, and its `rank` in lists. `header` is its sequential implementation, in C
    and C++. `transfers`: what is written before a value is put in can be read once it is taken out.
    `varies`: the numbers of a Variation that it has a meaning for."""

    name: str
    rank: int
    header: Path
    operations: tuple[KindOperation, ...]
    transfers: bool = False
    varies: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.header.read_text(encoding="utf-8")


KINDS: Registry[Kind] = Registry("object kind", __name__, "KIND", others=("words",))
"""The kinds of object by name."""


def kind(name: str) -> Kind | None:
    """The kind of that name; None for what is a file's name. Raises BadInput for another word."""
    if (found := KINDS.find(name)) is not None:
        return found
    if "." in name or "/" in name:
        return None
    close = difflib.get_close_matches(name, KINDS.names(), n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    raise BadInput(
        f"unknown kind of object {name!r}",
        advice=f"{meant}the kinds are {', '.join(KINDS.names())}; or name a file with a sequential "
        "implementation",
    )


def stands_for(kind: Kind, operation: Operation, given: str = "") -> KindOperation:
    """Which operation of a kind a function is: the one that is `given`, or the one that its name
    tells. Raises BadInput."""
    if given:
        for each in kind.operations:
            if each.name == given:
                return each
    elif (found := matching(kind, operation.name)) is not None:
        return found
    names = ", ".join(each.name for each in kind.operations)
    raise BadInput(
        f"{given or operation.name} is no operation of a {kind.name}",
        place=operation.place,
        advice=f"say which it is with --operation {operation.name}=NAME; the operations of a "
        f"{kind.name} are {names}",
    )


def matching(kind: Kind, function: str) -> KindOperation | None:
    """The operation of a kind that the name of a function tells."""
    full = function.lower()
    words = re.sub(r"^(?:try|do|my)_|_(?:try|op)$", "", full)
    for name in (full, *_endings(full), words, *_endings(words)):
        for each in kind.operations:
            if name == each.name or re.fullmatch(each.pattern, name):
                return each
    return None


def _endings(name: str) -> list[str]:
    """The name without its first words, one after the other: try_push, push of queue_try_push."""
    words = name.split("_")
    return ["_".join(words[at:]) for at in range(1, len(words))]
