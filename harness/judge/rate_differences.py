"""Rates that differ between two records by more than noise.

A rate is how often the outcome of a test's condition was observed. Two rates are compared by the
test in `values.rates`, on the hits of different episodes if the runner counts them; the p-values
are corrected for their number (Holm, Scandinavian Journal of Statistics 6, 1979). Two runs on one
machine differ more than independent hits would, with its load, frequency and placement of memory;
so a rate is reported as changed only if it is at least twice the other one, too. That the rate of a
whole program differs is only noted: its instances are not independent, and the runner chooses how
to start them while it runs. Of two campaigns in succession on a loaded machine, four of six
programs had rates that differed by factors of 2 to 9, and of twelve tests none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator

import msgspec

from weakspot.harness.values.difference import Difference, DifferenceKind, Question
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.rates import equal_rates_p

SIGNIFICANCE = 0.01
FACTOR = 2.0
"""How many times as large the larger of two rates has to be."""


class RatePair(msgspec.Struct, frozen=True):
    """How often something happened in so many runs, in both records."""

    kind: DifferenceKind
    question: Question
    hits: tuple[int, int]
    runs: tuple[int, int]
    machine: str

    @property
    def p(self) -> float:
        """The probability of hits that differ at least as much, if the rates are equal."""
        return equal_rates_p(self.hits, self.runs)

    @property
    def factor(self) -> float:
        """How many times as large the larger rate is."""
        low, high = sorted(hits / runs for hits, runs in zip(self.hits, self.runs, strict=True))
        return high / low if low else math.inf if high else 1.0


def target_rates(question: Question, one: Histogram, other: Histogram) -> RatePair | None:
    """The rates of the target; of its hits in different episodes, if both runners count them."""
    if not one.iterations or not other.iterations:
        return None
    hits = one.target, other.target
    if one.target_independent is not None and other.target_independent is not None:
        hits = one.target_independent, other.target_independent
    return RatePair("rate", question, hits, (one.iterations, other.iterations), one.machine)


def failure_rates(question: Question, one: ProgramRun, other: ProgramRun) -> RatePair | None:
    """The rates of instances that failed."""
    if not one.instances or not other.instances:
        return None
    instances = one.instances, other.instances
    return RatePair("run", question, (one.failed, other.failed), instances, one.machine)


def changed_rates(rates: Iterable[RatePair], replaced: Collection[str]) -> Iterator[Difference]:
    """The rates that differ by more than noise. For programs, and on machines that were `replaced`,
    that is a note."""
    ordered = sorted(rates, key=lambda each: each.p)
    highest = 0.0
    for rank, each in enumerate(ordered):
        highest = max(highest, min(1.0, each.p * (len(ordered) - rank)))
        if highest > SIGNIFICANCE:
            return
        if each.factor >= FACTOR:
            before, after = (
                f"{rounded(hits) if hits else 'not observed'} in {rounded(runs)}"
                for hits, runs in zip(each.hits, each.runs, strict=True)
            )
            yield Difference(
                kind=each.kind,
                subject=each.question[0],
                under=each.question[1],
                before=before,
                after=after,
                weight="note" if each.kind == "run" or each.machine in replaced else "changed",
                p=highest,
                hits=each.hits,
                runs=each.runs,
            )
