"""How long the questions of earlier campaigns took, and what they answered.

In: the folder of campaigns. Out: a History, from which `forecast` predicts how long a campaign will
take. An answer has the seconds that its tool took; a manifest has the seconds of each phase, in
which several answers may be found at once, or programs compiled before they run.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from weakspot.errors import BadInput
from weakspot.harness.campaign.check_jobs import COMPARING, Check, Compare
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.folder import answers_in, campaigns, read_manifest
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import RunProgram, RunTest
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Manifest
from weakspot.harness.values.verdict import Verdict

CAMPAIGNS = 10
"""How many campaigns are read, the newest."""

RECENT = 3
"""How many are read for the progress of a campaign."""

_OVERHEAD = 1.0
"""Seconds that a test on hardware takes beside its run, if no campaign has run there."""


class Expected(NamedTuple):
    """The seconds that the answer to a question takes its tool, and from what that is known:
    "repeated" (the same question), "similar" (an older text, tool or limit), "usual" (the mean of
    others), "given" (the options)."""

    source: str
    seconds: float


class History:
    """The answers of earlier campaigns by the keys of their jobs, the newest of each, and times."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        self.campaigns = 0
        self._same: defaultdict[str, list[float]] = defaultdict(list)
        self._alike: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        self._phases: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        self._comparisons: list[float] = []

    @classmethod
    def below(cls, root: Path) -> History:
        """Of the newest campaigns below a folder. Raises BadInput for a damaged file."""
        found = cls()
        for folder in campaigns(root)[-CAMPAIGNS:]:
            found.add(read_manifest(folder), answers_in(folder))
        return found

    @classmethod
    def beside(cls, folder: Path) -> History:
        """Of the newest campaigns beside a campaign's folder, for its progress, for which damaged
        ones do not matter."""
        found = cls()
        for other in campaigns(folder.parent)[-RECENT:]:
            with contextlib.suppress(BadInput):
                found.add(read_manifest(other), answers_in(other))
        return found

    def add(self, manifest: Manifest, answers: Iterable[tuple[str, object]]) -> None:
        """A campaign, younger than those before it."""
        self.campaigns += 1
        spent: defaultdict[str, list[float]] = defaultdict(list)
        given = 0.0 if manifest.plan.budget else manifest.plan.seconds_run
        compared = 0
        for key, answer in answers:
            self.answers[key] = answer
            match answer:
                case Verdict(test=test, model=model, checker=checker, seconds=seconds):
                    self._same[key].append(seconds)
                    for alike in ((test, model, checker), (model, checker), (checker,)):
                        self._alike[alike].append(seconds)
                    spent["checking"].append(seconds)
                case Exploration(program=program, model=model, seconds=seconds):
                    self._same[key].append(seconds)
                    self._alike[program, model].append(seconds)
                    spent["exploring"].append(seconds)
                case Codes(codes=codes):
                    compared += sum(len(each.builds) for each in codes)
                case Histogram(machine=machine, runner=runner, seconds=seconds):
                    spent[f"running on {machine} with {runner}"].append(given or seconds)
                case ProgramRun(machine=machine, seconds=seconds):
                    # a program that hangs takes longer than it is given
                    self._same[key].append(seconds)
                    spent[f"running programs on {machine}"].append(seconds)
        for phase, timing in manifest.timings.items():
            self._phases[phase].append((timing.jobs, timing.seconds, sum(spent[phase])))
        if compared and COMPARING in manifest.timings:
            self._comparisons.append(manifest.timings[COMPARING].seconds / compared)

    def expected(self, job: Job) -> Expected | None:
        """What is known of how long the job takes: the median of the seconds that this question
        took, or the same program or test with another text, another version of the tool, or other
        limits; the mean of the checker's answers."""
        same = _median(self._same.get(job.key))
        alike = usual = None
        match job:
            case RunTest() | RunProgram():
                overhead = self.overhead(job.phase)
                beside = _OVERHEAD if overhead is None else overhead
                if same is not None:
                    return Expected("repeated", same + beside)
                return Expected("given", job.seconds + beside)
            case Explore():
                alike = _median(self._alike.get((job.program.name, job.model.name)))
            case Check():
                asked = job.test.name, job.model.name, job.checker.name
                alike, usual = _median(self._alike.get(asked)), self.usual(job)
            case Compare():
                each = _median(self._comparisons)
                usual = None if each is None else each * len(job.comparison.builds)
            case _:
                usual = self.overhead(job.phase)
        known = (("repeated", same), ("similar", alike), ("usual", usual))
        found = (Expected(source, seconds) for source, seconds in known if seconds is not None)
        return next(found, None)

    def elapsed(self, job: Job) -> float | None:
        """The seconds by which the job is expected to make its phase longer."""
        found = self.expected(job)
        if found is None:
            return None
        factor = self.factor(job.phase) if isinstance(job, Explore | Check) else None
        return found.seconds * (1.0 if factor is None else factor)

    def usual(self, job: Check) -> float | None:
        """The mean of the seconds of the checker's answers under the model, or under any."""
        known = self._alike.get((job.model.name, job.checker.name))
        known = known or self._alike.get((job.checker.name,))
        return sum(known) / len(known) if known else None

    def factor(self, phase: str) -> float | None:
        """The seconds of the phase for each second of its answers: below one if they are found side
        by side."""
        return _median([took / spent for _, took, spent in self._phases.get(phase, ()) if spent])

    def overhead(self, phase: str) -> float | None:
        """The seconds of the phase for each of its jobs, beside those of the answers; of runs,
        beside those that they were given."""
        known = self._phases.get(phase, ())
        return _median([max(0.0, took - spent) / jobs for jobs, took, spent in known if jobs])


def _median(known: list[float] | None) -> float | None:
    """As statistics.median, whose module takes longer to import than a small check."""
    if not known:
        return None
    ordered = sorted(known)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
