"""Litmus tests in a line: `Wx Wy | Ry Rx` is message passing."""

from __future__ import annotations

import re
from typing import cast

from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import (
    Atom,
    Body,
    Fence,
    Load,
    Order,
    Rmw,
    Statement,
    Store,
    Test,
    Thread,
)

_WORD = re.compile(r"(?P<kind>[RWXAF])(?P<loc>[a-z]?)(?P<value>\d*)(?:\.(?P<order>\w+))?")
_OPS = {"X": "exch", "A": "fetch.add"}


def shape(name: str, threads: str, outcome: str) -> Test:
    """A test of threads that read (R), write (W), exchange (X) or add (A), 1 or what `Wx2` says,
    relaxed or as `Wx.rel` says; F is a fence. What is read goes to r0, r1, … of its thread."""
    lines = tuple(_thread(line) for line in threads.split("|"))
    atoms = tuple(
        Atom(int(thread) if thread else None, place, int(value))
        for thread, place, value in re.findall(r"(?:(\d):)?(\w+)=(\d+)", outcome)
    )
    return litmus(name, lines, atoms)


def litmus(name: str, threads: tuple[Thread, ...], atoms: tuple[Atom, ...]) -> Test:
    locations = {s.loc for line in threads for s in line if isinstance(s, Load | Store | Rmw)}
    body = Body(threads, atoms, tuple(sorted(locations)), {}, frozenset())
    return Test(name=name, arch="C", text=litmus_text(name, "", body), body=body)


def _thread(line: str) -> Thread:
    found: list[Statement] = []
    read = 0
    for word in line.split():
        match = _WORD.fullmatch(word)
        assert match is not None, word
        kind, loc, number = match["kind"], match["loc"], int(match["value"] or 1)
        order = cast(Order, match["order"] or ("sc" if kind == "F" else "rlx"))
        reg = f"r{read}"
        read += kind in "RXA"
        match kind:
            case "R":
                found.append(Load(reg, loc, order))
            case "W":
                found.append(Store(loc, number, order))
            case "F":
                found.append(Fence(order))
            case _:
                found.append(Rmw(reg, loc, _OPS[kind], number, order))
    return tuple(found)


#: what x86-TSO allows and sequential consistency does not; they run perpetually
WEAK = (
    shape("SB", "Wx Ry | Wy Rx", "0:r0=0 1:r0=0"),
    shape("SB+rfi", "Wx Rx Ry | Wy Ry Rx", "0:r0=1 0:r1=0 1:r0=1 1:r1=0"),
    shape("SB+fetch.add", "Wx Ry | Ay.acq_rel Rx", "0:r0=0 1:r0=0 1:r1=0"),
    shape("SB+exch", "Wx Ry | Xy.sc Rx", "0:r0=0 1:r1=0"),
    shape("SB+R", "Wx Ry | Wy Rx | Ry", "0:r0=0 1:r0=0 2:r0=1"),
    shape("3.SB", "Wx Ry | Wy Rz | Wz Rx", "0:r0=0 1:r0=0 2:r0=0"),
    shape("RWC", "Wx | Rx Ry | Wy Rx", "1:r0=1 1:r1=0 2:r0=0"),
    shape("W+RWC", "Wx Wy | Ry Rz | Wz Rx", "1:r0=1 1:r1=0 2:r0=0"),
)

#: what x86-TSO forbids; they run perpetually too
STRONG = (
    shape("MP", "Wx Wy | Ry Rx", "1:r0=1 1:r1=0"),
    shape("LB", "Rx Wy | Ry Wx", "0:r0=1 1:r0=1"),
    shape("SB+fences", "Wx F Ry | Wy F Rx", "0:r0=0 1:r0=0"),
    shape("SB+fetch.adds", "Ax Ry | Ay Rx", "0:r0=0 0:r1=0 1:r0=0 1:r1=0"),
    shape("3.SB+fences", "Wx F Ry | Wy F Rz | Wz F Rx", "0:r0=0 1:r0=0 2:r0=0"),
    shape("3.LB", "Rx Wy | Ry Wz | Rz Wx", "0:r0=1 1:r0=1 2:r0=1"),
    shape("WRC", "Wx | Rx Wy | Ry Rx", "1:r0=1 2:r0=1 2:r1=0"),
    shape("ISA2", "Wx Wy | Ry Wz | Rz Rx", "1:r0=1 2:r0=1 2:r1=0"),
    shape("RWC+F", "Wx | Rx Ry | Wy F Rx", "1:r0=1 1:r1=0 2:r0=0"),
    shape("IRIW", "Wx | Rx Ry | Wy | Ry Rx", "1:r0=1 1:r1=0 3:r0=1 3:r1=0"),
)

#: what does not run perpetually: final memory decides
FINAL = (shape("R", "Wx Wy | Wy2 Rx", "1:r0=0 y=2"), shape("2+2W", "Wx Wy2 | Wy Wx2", "x=1 y=1"))
