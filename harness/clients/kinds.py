"""The kinds of object whose sequential behaviour is known, and which function is which of their
operations."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.clients.operations import Operation

Argument = Literal["value", "key", "known"]
"""What an argument stands for: a number that no other call is given; a number that others may be
given too; 0 or a number that some call is given as a value."""

FOLDER = Path(__file__).parent / "specifications"


class KindOperation(msgspec.Struct, frozen=True):
    """An operation of a kind: the function of its header, without `weakspot_`; the pattern of names
    that stand for it; its arguments. `must`: where the function of the user returns nothing, it is
    not called in a state in which this one returns 0. `waits`: it waits until it can succeed.
    `takes`: how its thread holds the object once it has succeeded; only a thread that holds nothing
    calls it. `gives`: only a thread that holds the object calls it, which then does not. `runs`: it
    takes a function, which it calls."""

    name: str
    pattern: str
    arguments: tuple[Argument, ...] = ()
    must: bool = False
    waits: bool = False
    takes: Literal["", "alone", "shared"] = ""
    gives: Literal["", "alone", "shared"] = ""
    runs: bool = False


class Kind(msgspec.Struct, frozen=True):
    """A kind of object. `transfers`: what is written before a value is put in can be read once it
    is taken out. `varies`: the numbers of a Variation that it has a meaning for."""

    name: str
    operations: tuple[KindOperation, ...]
    transfers: bool = False
    varies: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sequential implementation, in C and C++."""
        return (FOLDER / f"{self.name}.h").read_text(encoding="utf-8")


_PUT = r"(?:enqueue|push|emplace|put|send|write|offer|add|insert|produce|publish|append)"
_TAKE = r"(?:dequeue|pop|take|recv|receive|read|poll|get|consume|remove|steal)"
_FRONT, _BACK = r"_?(?:front|head|left|first|top)", r"_?(?:back|tail|right|last|bottom)"
_REMOVE = r"(?:remove|erase|delete|extract)"
_LOCK, _UNLOCK = r"(?:lock|acquire|enter)", r"(?:unlock|release|leave|exit)"
_SHARED = "(?:shared|read|reader)"
_VALUE: tuple[Argument, ...] = ("value",)
_KEY: tuple[Argument, ...] = ("key",)

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "queue",
            (
                KindOperation("enqueue", _PUT, _VALUE, must=True),
                KindOperation("dequeue", _TAKE),
            ),
            transfers=True,
            varies=("capacity", "relaxed", "quasi", "per_producer"),
        ),
        Kind(
            "stack",
            (KindOperation("push", _PUT, _VALUE, must=True), KindOperation("pop", _TAKE)),
            transfers=True,
            varies=("capacity", "relaxed"),
        ),
        Kind(
            "deque",
            (
                KindOperation("push_front", _PUT + _FRONT, _VALUE, must=True),
                KindOperation("push_back", f"{_PUT}(?:{_BACK})?", _VALUE, must=True),
                KindOperation("pop_front", rf"{_TAKE}{_FRONT}|steal", ()),
                KindOperation("pop_back", rf"(?!steal){_TAKE}(?:{_BACK})?"),
            ),
            transfers=True,
            varies=("capacity",),
        ),
        Kind(
            "set",
            (
                KindOperation("insert", "insert|add|put", _KEY),
                KindOperation("remove", _REMOVE, _KEY),
                KindOperation("contains", "contains|find|has|lookup|member|get|exists", _KEY),
            ),
        ),
        Kind(
            "map",
            (
                KindOperation("insert", "insert|add|emplace|put_if_absent", ("key", "value")),
                KindOperation("assign", "assign|put|set|insert_or_assign|store", ("key", "value")),
                KindOperation("find", "find|get|lookup|load", _KEY),
                KindOperation("contains", "contains|has|exists", _KEY),
                KindOperation("remove", _REMOVE, _KEY),
            ),
        ),
        Kind(
            "register",
            (
                KindOperation("read", "read|load|get|snapshot"),
                KindOperation("write", "write|store|set|publish|update", _VALUE),
                KindOperation("exchange", "exchange|swap|xchg", _VALUE),
                KindOperation(
                    "compare_and_set",
                    "cas|compare_(?:and_)?(?:set|swap|exchange)",
                    ("known", "value"),
                ),
            ),
        ),
        Kind(
            "counter",
            (
                KindOperation("increment", "increment|inc|add|up|arrive|acquire|fetch_add"),
                KindOperation("decrement", "decrement|dec|sub|down|release|fetch_sub"),
                KindOperation("get", "get|read|load|count|value"),
            ),
        ),
        Kind(
            "lock",
            (
                KindOperation(
                    "lock", rf"{_LOCK}(?:_write)?|write_{_LOCK}", waits=True, takes="alone"
                ),
                KindOperation("try_lock", rf"try_?{_LOCK}|try_write_{_LOCK}", takes="alone"),
                KindOperation("unlock", rf"{_UNLOCK}(?:_write)?|write_{_UNLOCK}", gives="alone"),
                KindOperation(
                    "lock_shared",
                    rf"{_LOCK}_{_SHARED}|{_SHARED}_{_LOCK}",
                    waits=True,
                    takes="shared",
                ),
                KindOperation(
                    "try_lock_shared",
                    rf"try_?{_LOCK}_{_SHARED}|try_{_SHARED}_{_LOCK}",
                    takes="shared",
                ),
                KindOperation(
                    "unlock_shared", rf"{_UNLOCK}_{_SHARED}|{_SHARED}_{_UNLOCK}", gives="shared"
                ),
            ),
        ),
        Kind(
            "once", (KindOperation("call_once", "(?:call_|run_)?once|run|call|invoke", runs=True),)
        ),
    )
}


def kind(name: str) -> Kind | None:
    """The kind of that name; None for what is a file's name. Raises BadInput for another word."""
    if name in KINDS:
        return KINDS[name]
    if "." in name or "/" in name:
        return None
    close = difflib.get_close_matches(name, KINDS, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    raise BadInput(
        f"unknown kind of object {name!r}",
        advice=f"{meant}the kinds are {', '.join(KINDS)}; or name a file with a sequential "
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
