"""The limits of exploring one program under one model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from weakspot.errors import BadInput

Failures = Literal["always", "once"]

Reduction = Literal[
    "symmetry",
    "elements",
    "arrivals",
    "retries",
    "undone-rounds",
    "spurious-failures",
    "waits",
    "bounded-spins",
    "unnoticed-writes",
    "later-writes",
    "unshared-objects",
    "main-alone",
]
"""The reductions of the explorer that can be switched off, as the engine names them."""

REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)


class Limit(msgspec.Struct, frozen=True):
    """One of the Bounds: the help of its option; for a number of something, its least and greatest
    value, and its key in the table [gate] of a configuration."""

    name: str
    help: str
    least: int = 0
    most: int | None = None
    key: str = ""


LIMITS = {
    each.name: each
    for each in (
        Limit(
            "loops",
            "Follow a loop for N iterations; loops that only wait are not bounded.  [default: 4, "
            "doubled up to 64 where that explores everything in the time that is left]",
            *(0, 2**32 - 1, "unroll"),
        ),
        Limit(
            "executions",
            "Explore at most N executions of a program.  [default: all]",
            *(0, 2**64 - 1, "executions"),
        ),
        Limit(
            "seconds",
            "Time limit for exploring one program under one model, and for generating its tests.",
        ),
        Limit(
            "events",
            "End an execution after N accesses of shared memory.",
            *(1, 2**32 - 1, "events"),
        ),
        Limit(
            "instructions",
            "End a thread after N instructions in one execution.",
            *(1, 2**64 - 1, "instructions"),
        ),
        Limit("calls", "End a thread at N nested calls.", 1, 2**32 - 1, "calls"),
    )
}
"""The limits, in the order of `--help`; each is a field of Limits, and `--NAME` sets it."""

OPTIONS = MappingProxyType({name: f"--{name}" for name in LIMITS})


LOOPS = 4
"""How many rounds of a loop are followed first, if their number is not given."""


class Limits(msgspec.Struct, frozen=True):
    """The values of LIMITS."""

    loops: int = 0
    executions: int = 0
    seconds: float = 20.0
    events: int = 4096
    instructions: int = 2_000_000
    calls: int = 200


class Bounds(Limits, frozen=True):
    """The limits of exploring one program under one model: rounds of loops that end by a shared
    value (0: LOOPS, which the engine doubles up to 64 as long as no other limit is reached and the
    estimated number of executions fits the time that is left), executions (0: no limit), seconds;
    events of one execution; instructions of one thread in an execution; nested calls. `given` names
    the options or keys by which the user sets each of them. Raises BadInput for a number that is
    out of range."""

    given: Mapping[str, str] = OPTIONS

    def __post_init__(self) -> None:
        for limit in LIMITS.values():
            number = getattr(self, limit.name)
            if limit.most is not None and not limit.least <= number <= limit.most:
                raise BadInput(
                    f"{limit.name} is {number}; it must be from {limit.least} to {limit.most}"
                )
        if not 0 <= self.seconds < float("inf"):
            raise BadInput(f"seconds is {self.seconds}; it must be a number of at least 0")

    @property
    def first_loops(self) -> int:
        """How many rounds of a loop are followed at first."""
        return self.loops or LOOPS

    @property
    def of_executions(self) -> tuple[int, ...]:
        """Those that decide which executions there are, not how many of them are explored."""
        return (self.loops, self.events, self.instructions, self.calls)


MOST_DEPARTURES = 2**32 - 2
"""The greatest bound on departures."""


class Part(msgspec.Struct, frozen=True):
    """Which executions are explored: all, or those with at most so many `departures`, by increasing
    numbers of these; or a `sample` that is drawn at random; or as many as tell an `estimate` of how
    many there are. `without` are the reductions that are switched off. `weak_failures` says how
    often a weak compare-exchange may fail spuriously: each time, or once per site and thread.
    Without `mixed_sizes`, a program is Unknown in which atomic accesses of several sizes overlap. A
    departure is a step in which the explorer does not take its default: that a read reads from the
    last write in coherence order, that a write comes last in coherence order, and that no earlier
    read reads from it. `seed` makes what is drawn repeatable.

    `reference` are all executions, explored by the reference: with no reduction. `audit` is for how
    many seconds a program that seems safe is explored by random descents of the reference; None:
    for 3 % of the time that its exploration took.

    With `fallback`, half of the time is for all executions, and the rest for the part, if that half
    does not suffice."""

    departures: int | None = None
    sample: bool = False
    estimate: bool = False
    without: tuple[Reduction, ...] = ()
    reference: bool = False
    weak_failures: Failures = "always"
    mixed_sizes: bool = True
    audit: float | None = None
    seed: int = 1
    fallback: bool = False

    def __post_init__(self) -> None:
        for name in self.without:
            if name not in REDUCTIONS:
                known = ", ".join(REDUCTIONS)
                raise BadInput(f"there is no reduction {name!r}", advice=f"known: {known}")
        parts = self.departures is not None, self.sample, self.estimate, self.reference
        if sum(parts) > 1:
            raise BadInput("departures, sample, estimate and reference exclude one another")
        if not 0 <= (self.departures or 0) <= MOST_DEPARTURES:
            raise BadInput(f"departures must be from 0 to {MOST_DEPARTURES}")
        if not 0 <= self.seed < 2**64:
            raise BadInput("seed must be from 0 to 2**64 - 1")
        if self.weak_failures not in get_args(Failures):
            raise BadInput(f"weak_failures is always or once, not {self.weak_failures!r}")

    @property
    def whole(self) -> Part:
        """All executions, with the same reductions."""
        return msgspec.structs.replace(
            self, departures=None, sample=False, estimate=False, fallback=False
        )


ALL = Part()
"""Every execution."""

DEFAULT = Bounds()
"""What holds for limits that the user does not set, in every command and configuration."""
