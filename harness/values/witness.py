"""Executions as graphs of events, which a checker or the explorer gives as the reason."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from weakspot.harness.values.state import State

SPURIOUS = ("FAILS", "RETURNS", "CLOCK")
"""The kinds of events to which nothing leads."""


class WitnessEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of a witness.

    `thread` is None for the initial write of a location, which has no `label`. `kind` is R, W,
    RMW, F, LOCK or UNLOCK; in a program also FREE, END (of a local variable), and what happens
    spuriously: FAILS, a weak compare-exchange, RETURNS, a wait, and CLOCK, one that stands still.
    `order` is the memory order as the model's sets name it: rlx, sc, mfence. `read` and `written`
    are values, empty if the event does not read or write. `site` is the `file:line` of the
    operation, empty if it is not known. If the event happens inside a library, `call` is the
    function of it that the project calls. `caller` is where the project calls that function, or the
    one that the event happens in. A folded witness has one event of kind CALL per such call, whose
    `read` is how many events it stands for, and one of kind ROUNDS for rounds of a loop that are
    like the round before, whose `read` is how many.
    """

    thread: int | None
    label: str
    kind: str
    order: str = ""
    location: str = ""
    read: str = ""
    written: str = ""
    site: str = ""
    call: str = ""
    caller: str = ""


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """One execution that shows why an outcome is possible, or which axiom forbids it.

    Edges are pairs of indices of `events`, which are listed per thread in program order. co leads
    from a write to the next write of its location, fr from a read to the first write that is
    co-after the write it reads. `cycle` is a shortest cycle of po, rf, co and fr, with the name of
    each edge; it is empty for an execution that is an interleaving. `axiom` forbids the execution,
    empty when the model allows it.
    """

    events: tuple[WitnessEvent, ...]
    rf: tuple[tuple[int, int], ...] = ()
    co: tuple[tuple[int, int], ...] = ()
    fr: tuple[tuple[int, int], ...] = ()
    cycle: tuple[tuple[int, int, str], ...] = ()
    state: State = {}
    axiom: str = ""


class Wait(msgspec.Struct, frozen=True):
    """A thread that waits for ever: where, and for `what` ("a lock", "another thread's write").
    `column` is that of the operation in its line, 0 if it is not known."""

    thread: int
    what: str
    site: str
    column: int = 0


class ReturnedCall(msgspec.Struct, frozen=True):
    """A call of an operation: in which thread, how it is written, what it returned, and the indices
    of the calls that precede it: those that return before it begins, as happens-before orders
    them. What a call returns is shown if `call` ends with an equals sign."""

    thread: int
    call: str
    result: int
    before: tuple[int, ...] = ()

    def returning(self, result: int) -> str:
        """The call with a result, as in `take() = 1`."""
        return f"{self.call} {result}" if self.call.endswith("=") else self.call


class History(msgspec.Struct, frozen=True):
    """Calls that are not linearizable. `nearest` is the sequential history that has most results in
    common: indices of calls, each with the result that it has there. `differs` is the first call
    in it that returned something else."""

    calls: tuple[ReturnedCall, ...]
    nearest: tuple[tuple[int, int], ...] = ()
    differs: int | None = None


class Execution(Witness, frozen=True, kw_only=True):
    """A witness of a whole program, without the events that the violation does not depend on.

    `functions` are the start functions of the threads. `conflict` are the two accesses of a data
    race; `waits` are the threads that wait for ever in a hang; `history` are the calls of
    operations where these are not linearizable.
    """

    functions: tuple[str, ...] = ()
    conflict: tuple[int, int] | None = None
    waits: tuple[Wait, ...] = ()
    history: History | None = None


def is_at(site: str, place: str) -> bool:
    """Whether a site is that `file:line`, whose path may have more folders."""
    return bool(site) and f"/{place}".endswith(f"/{site}")


def shortest_at(executions: Iterable[Execution | None], place: str) -> Execution | None:
    """The shortest execution with an event at that `file:line`, or in a function called there."""
    there = (
        each
        for each in executions
        if each is not None
        and any(is_at(one.site, place) or is_at(one.caller, place) for one in each.events)
    )
    return min(there, key=lambda each: len(each.events), default=None)
