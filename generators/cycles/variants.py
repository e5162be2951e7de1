"""Variants of a Test: the same threads and condition, with stronger or weaker memory orders.

They are the control tests of a run on hardware. The fenced variant has a full fence between every
two accesses, so that every outcome must be that of an interleaving. (In RC11 that many fences
restore sequential consistency: Lahav, Vafeiadis, Kang, Hur and Dreyer, PLDI 2017, section 4.) A
weaker variant lacks one memory order or one fence: if a machine shows its outcome but not the
test's, the negative result for the test carries weight.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import (
    Body,
    Cas,
    Fence,
    Guard,
    Load,
    Rmw,
    Statement,
    Store,
    Test,
    Thread,
)

_WORDS = {"acq": "acquire", "rel": "release", "acq_rel": "acquire-release", "sc": "seq_cst"}


class Variant(msgspec.Struct, frozen=True):
    """A variant of a test. `change` describes the difference in a phrase."""

    test: Test
    body: Body
    change: str


def fenced(test: Test, body: Body) -> Variant:
    """All accesses relaxed, with a seq_cst fence between every two of a thread. Tests that differ
    only in memory orders and fences share this variant."""
    threads = tuple(tuple(_fenced(thread)) for thread in body.threads)
    made = msgspec.structs.replace(body, threads=threads, plain=frozenset())
    return _variant(test, "fenced", made, "a full fence between every two accesses")


def weaker(test: Test, body: Body) -> tuple[Variant, ...]:
    """Each variant that lacks one fence or one memory order of the test, and the one that lacks
    all."""
    found: list[Variant] = []
    for number, thread in enumerate(body.threads):
        for at, statement in enumerate(thread):
            weakened = _weakened(statement)
            if weakened is None:
                continue
            put, change = weakened
            changed = (*thread[:at], *put, *thread[at + 1 :])
            threads = (*body.threads[:number], changed, *body.threads[number + 1 :])
            made = msgspec.structs.replace(body, threads=threads)
            found.append(_variant(test, f"weaker{len(found)}", made, f"P{number} {change}"))
    if len(found) > 1:
        bare = tuple(
            tuple(_bare(statement) for statement in thread if not isinstance(statement, Fence))
            for thread in body.threads
        )
        made = msgspec.structs.replace(body, threads=bare)
        found.append(_variant(test, "weakest", made, "all fences removed and all orders relaxed"))
    return tuple(found)


def _variant(test: Test, suffix: str, body: Body, change: str) -> Variant:
    name = f"{test.name}+{suffix}"
    text = litmus_text(name, test.cycle, body)
    return Variant(Test(name=name, arch="C", text=text, body=body), body, change)


def _fenced(thread: Thread) -> Iterator[Statement]:
    accessed = False
    for statement in thread:
        if isinstance(statement, Fence):
            continue
        if accessed and not isinstance(statement, Guard):
            yield Fence("sc")
        accessed = accessed or not isinstance(statement, Guard)
        yield _relaxed(statement)


def _relaxed(statement: Load | Store | Rmw | Cas | Guard) -> Statement:
    match statement:
        case Load() | Store() | Rmw():
            return msgspec.structs.replace(statement, order="rlx")
        case Cas():
            return msgspec.structs.replace(statement, success="rlx", failure="rlx")
        case Guard():
            return statement


def _bare(statement: Load | Store | Rmw | Cas | Guard) -> Statement:
    """The statement relaxed; a plain access stays plain."""
    plain = isinstance(statement, Load | Store) and statement.order == "na"
    return statement if plain else _relaxed(statement)


def _weakened(statement: Statement) -> tuple[tuple[Statement, ...], str] | None:
    """What replaces the statement, and what that lacks; None if it has no memory order to lose."""
    match statement:
        case Fence(order=order):
            return (), f"without its {_WORDS.get(order, order)} fence"
        case Load(order=order, loc=loc) | Store(order=order, loc=loc) | Rmw(order=order, loc=loc):
            if order in _WORDS:
                kind = type(statement).__name__.lower().replace("rmw", "read-modify-write")
                return (_relaxed(statement),), f"with its {_WORDS[order]} {kind} of {loc} relaxed"
        case Cas(success=order, loc=loc) if order in _WORDS:
            return (
                (_relaxed(statement),),
                f"with its {_WORDS[order]} compare-exchange of {loc} relaxed",
            )
    return None
