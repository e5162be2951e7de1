"""Litmus tests in a line: `Wx Wy | Ry Rx` is message passing."""

from __future__ import annotations

import re
from typing import cast

from weakspot.generators.emit.c11 import litmus_text
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


def shape(name: str, threads: str, outcome: str) -> Test:
    """A test of threads that read (R), write 1 (W), exchange for 1 (X) or add 1 (A), relaxed or
    as `Wx.rel` says; F is a fence. What is read goes to r0, r1, … of its thread."""
    lines = tuple(_thread(line) for line in threads.split("|"))
    atoms = tuple(
        Atom(int(thread), reg, int(value))
        for thread, reg, value in re.findall(r"(\d):(\w+)=(\d+)", outcome)
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
        what, _, given = word.partition(".")
        order = cast(Order, given or ("sc" if what == "F" else "rlx"))
        kind, loc, reg = what[0], what[1:], f"r{read}"
        read += kind in "RXA"
        match kind:
            case "R":
                found.append(Load(reg, loc, order))
            case "W":
                found.append(Store(loc, 1, order))
            case "F":
                found.append(Fence(order))
            case _:
                found.append(Rmw(reg, loc, {"X": "exch", "A": "fetch.add"}[kind], 1, order))
    return tuple(found)


#: that run perpetually, and that x86-TSO allows
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

#: and that it forbids
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
