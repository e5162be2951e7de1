"""How long questions will take that nobody has performed yet.

In: jobs of one phase, what earlier campaigns took, a little time. Out: seconds, and from what they
are known: from history, from the explorer's random descents, from some checks or comparisons now.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from weakspot.errors import WeakspotError
from weakspot.harness.campaign.check_jobs import TESTS_PER_COMPILATION, Check, Compare
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.history import History
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import RunProgram, RunTest
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.values.bounds import Part
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.verdict import Verdict
from weakspot.system.deadline import Deadline, ending

SAMPLE = 5
"""How many tests are checked to find out how long the others take."""

_ESTIMATE, _CHECK = 1.0, 2.0
"""Seconds for the estimate of one exploration, and for one test of a sample."""

_PART = 0.8
"""How much of the time for estimates explorations get."""

_BUILDS = 2
"""How many compiler configurations the comparisons of a sample are made with."""

_SENT = 0.003
"""Seconds that it takes to send a question to a worker and to receive the answer."""


def predicted(
    jobs: Sequence[Job], history: History, limit: float, end: Deadline, threads: int | None
) -> tuple[float, Counter[str]]:
    """The seconds of jobs of one phase, and from what they are known. All runs together take no
    more than a `limit` that is not 0. `threads` are those of a cluster, which does what no machine
    has to itself. Until the `end` there is time for samples."""
    if not jobs:
        return 0.0, Counter()
    factor = None
    match jobs[0]:
        case RunTest() | RunProgram():
            known = [each for job in jobs if (each := history.expected(job)) is not None]
            spent = sum(each.seconds for each in known)
            return min(spent, limit or float("inf")), Counter(each.source for each in known)
        case Explore() | Check():
            found, sources = _answering(jobs, history, end)
            spent, factor = sum(found), history.factor(jobs[0].phase)
        case _:
            expected = history.expected(jobs[0])
            if expected is not None:
                rate, source = expected.seconds, expected.source
            else:
                sampled = _compared([job for job in jobs if isinstance(job, Compare)], end)
                rate, source = sampled or 0.0, "unknown" if sampled is None else "sampled"
            spent, sources = len(jobs) * rate, Counter({source: len(jobs)})
    if threads is not None:
        return max(spent / threads, _SENT * sources.total()), sources
    return spent * (1.0 if factor is None else factor), sources


def _compared(jobs: Sequence[Compare], end: Deadline) -> float | None:
    """The time of a comparison, by comparing some of the tests with the code of some of the
    configurations; None without time for them."""
    if not jobs or not end.left:
        return None
    how = jobs[0].comparison
    chosen = how.builds[:: max(1, len(how.builds) // _BUILDS)][:_BUILDS]
    some = msgspec.structs.replace(how, builds=chosen, seconds=min(how.seconds, _CHECK))
    sample = [
        msgspec.structs.replace(job, comparison=some)
        for job in jobs[:: max(1, len(jobs) // TESTS_PER_COMPILATION)][:TESTS_PER_COMPILATION]
    ]
    begun = time.monotonic()
    try:
        Compare.perform(sample, _Seconds())
    except WeakspotError:
        return None
    return (time.monotonic() - begun) / len(sample) * len(how.builds) / len(chosen)


def _answering(
    jobs: Sequence[Job], history: History, end: Deadline
) -> tuple[list[float], Counter[str]]:
    """The seconds of each answer that something is known of, and from what."""
    sources: Counter[str] = Counter()
    found: list[float] = []
    new: defaultdict[object, list[Job]] = defaultdict(list)
    for job in jobs:
        known = history.expected(job)
        if known is None or known.source == "usual":
            new[job.batch].append(job)
        else:
            found.append(known.seconds)
            sources[known.source] += 1
    for batch in new.values():
        for source, seconds in _new(batch, history, end):
            if seconds is not None:
                found.append(seconds)
            sources[source] += 1
    return found, sources


def _new(
    jobs: Sequence[Job], history: History, end: Deadline
) -> Iterator[tuple[str, float | None]]:
    """What is known of each of some questions that no campaign has answered."""
    if isinstance(jobs[0], Check):
        checks = [job for job in jobs if isinstance(job, Check)]
        sampled = _sampled(checks, end)
        usual = history.usual(jobs[0])
        source, seconds = ("usual", usual) if sampled is None else ("sampled", sampled)
        yield from ((source if seconds is not None else "unknown", seconds) for _ in jobs)
        return
    explorations = [job for job in jobs if isinstance(job, Explore)]
    known: list[float] = []
    end = ending(_PART * end.left)  # the rest is for samples of checks
    # those that the time suffices for are spread over all
    random.Random(len(explorations)).shuffle(explorations)
    for job in explorations:
        if (seconds := _estimated(job, end)) is not None:
            known.append(seconds)
            yield "estimated", seconds
        else:
            yield ("usual", statistics.fmean(known)) if known else ("unknown", None)


def _sampled(jobs: Sequence[Check], end: Deadline) -> float | None:
    """The mean time of some of the checks; None without time for them."""
    if not end.left:
        return None
    sample = [
        msgspec.structs.replace(job, seconds=min(job.seconds, _CHECK))
        for job in jobs[:: max(1, len(jobs) // SAMPLE)][:SAMPLE]
    ]
    sink = _Seconds()
    try:
        Check.perform(sample, sink)
    except WeakspotError:
        return None
    return statistics.fmean(sink.seconds) if sink.seconds else None


class _Seconds:
    """The Sink of a sample."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:  # noqa: ARG002
        if isinstance(answer, Verdict):
            self.seconds.append(answer.seconds)

    def at(self, text: str) -> None: ...


def _estimated(job: Explore, end: Deadline) -> float | None:
    """How long the exploration takes by an estimate, or at most by its limit; None if it failed."""
    if end.passed or not isinstance(job.explorer, EngineExplorer):
        return None
    limit = job.bounds.seconds
    given = msgspec.structs.replace(job.bounds, seconds=min(limit, _ESTIMATE, end.left))
    explorer = msgspec.structs.replace(job.explorer, part=Part(estimate=True))
    asked = msgspec.structs.replace(job, bounds=given, frontier=Frontier(), explorer=explorer)
    try:
        found: Exploration = asked.explored(explorer, lambda *_: None)
    except WeakspotError:
        return None
    if found.estimate is None:
        return None if found.incomplete else found.seconds
    return None if found.estimate.seconds is None else min(limit, found.estimate.seconds)
