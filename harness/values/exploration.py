"""Exploration: what exploring a Program under a Model found. Its JSON form is a contract."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.values.estimate import Estimate, Sample
from weakspot.harness.values.reason import Reason, sentence
from weakspot.harness.values.witness import Execution

Result = Literal["Safe", "Violated", "Unknown"]
ViolationKind = Literal[
    "assertion",
    "race",
    "hang",
    "uninitialised",
    "memory",
    "lock",
    "unjoined",
    "linearizability",
    "flag",
    "missed",
]


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """An error that an execution of the program reaches.

    `sites` are the `file:line` of the failing operation, of both accesses of a race, or of all
    threads that hang. `test` names the litmus test of the witness's critical cycle; it is empty
    if an interleaving reaches the error. `absent_under` is the model of earlier editions of the
    standard if exploring under it does not find the violation; see Model.earlier. `identity` is the
    same under every model: the kind, and the `file:line:column` of the failing operation, of both
    accesses of a race, or of one of the threads that hang; of a flag, its name too. `accesses` are
    the `file:line:column` of the two that the message of a race names. A violation of
    the kind "missed" was found by the audit and not by the search: weakspot is wrong.
    """

    kind: ViolationKind
    message: str
    sites: tuple[str, ...] = ()
    test: str = ""
    witness: Execution | None = None
    absent_under: str = ""
    identity: str = ""
    accesses: tuple[str, ...] = ()

    @property
    def size(self) -> float:
        """How many events its execution has; infinite without one."""
        return len(self.witness.events) if self.witness is not None else math.inf

    @property
    def key(self) -> str:
        """The identity, or what replaces it in an exploration that was stored without."""
        return self.identity or " ".join((self.kind, *self.sites))


def between(accesses: Iterable[str]) -> str:
    """How the message of a race ends, which names its accesses."""
    places = " and ".join(accesses)
    return f" between {places}" if places else ""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """An audit of a program that seems safe: how many random descents of the reference ended, in
    how many seconds; or why it `refused` the program."""

    descents: int = 0
    seconds: float = 0.0
    refused: str = ""


class ExplorationEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What an exploration's result rests on: the `reductions` that were used, whether everything
    else was explored, and how it is known that the `model` forbids what the search does not find:
    it is "proved" from an axiom, "stated" in models.toml, or was "asked" in examples alone, which
    makes no program Safe. `audit` is None if there was none."""

    reductions: tuple[str, ...] = ()
    exhausted: bool = False
    model: Literal["proved", "stated", "asked", "refuted", "unneeded", ""] = ""
    audit: Audit | None = None


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """The result of exploring a Program under a Model.

    Safe: no execution that the model allows violates anything. `incomplete` says which bound
    truncated the exploration, where, and what explores further; without a violation the result is
    then Unknown. `reasons` are the same as sentences, for readers of the JSON form. `limits` names
    the bounds that were reached as the fields of Bounds do ("" is a fixed one, "stopped" an
    interruption). Each execution is counted once: `complete` if every thread ends, `blocked` if a
    thread waits for what does not happen in this execution, `truncated` if a bound ends it,
    `faulty` if an error does. `represented` is how many these stand for at most, with those in
    which threads that behave alike are exchanged: some of these may have been explored too. `tests`
    are the litmus tests that violations name. `warnings` are no violations by themselves: threads
    that may still run when main returns. `threads` is how many the program starts, None if that is
    not known.

    `departures` is the greatest bound of these (see bounds.Part) up to which everything was
    explored, if there is more beyond it; `iterations` is the same for the iterations of loops, if
    time did not suffice for as many as asked for. `estimate` and `sample` are there if they were
    asked for. `loops` is how many rounds of a loop were followed, if that is more than at first
    because a loop had more. `resumed` is how many of the executions an earlier command explored
    before a limit or Ctrl-C ended it; `seconds` include its time. `notes` say what was wrong with
    what it stored, and what the model leaves undecided. `evidence` says what the result rests on.
    """

    program: str
    model: str
    result: Result
    violations: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()
    threads: int | None = None
    complete: int = 0
    blocked: int = 0
    represented: int = 0
    truncated: int = 0
    faulty: int = 0
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    tests: tuple[Test, ...] = ()
    departures: int | None = None
    iterations: int | None = None
    loops: int | None = None
    estimate: Estimate | None = None
    sample: Sample | None = None
    resumed: int = 0
    notes: tuple[str, ...] = ()
    evidence: ExplorationEvidence | None = None
    incomplete: tuple[Reason, ...] = ()

    def __post_init__(self) -> None:
        if self.incomplete:  # answers that an older version stored have the sentences alone
            msgspec.structs.force_setattr(self, "reasons", tuple(map(sentence, self.incomplete)))

    @property
    def sequential(self) -> bool:
        """Whether the program starts no thread in any execution. One that went wrong, or was not
        explored completely, may have ended before it started them."""
        return self.result == "Safe" and self.threads == 0

    @property
    def executions(self) -> int:
        """The number of executions explored, of all four kinds."""
        return self.complete + self.blocked + self.truncated + self.faulty
