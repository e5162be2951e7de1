"""The measurement of costs as a job, whose result is stored for `relax`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from weakspot.generators.source.program import Program
from weakspot.harness.campaign.jobs import MachineJob, SearchJob
from weakspot.harness.corpus.material import Report
from weakspot.harness.costs.measurement import Costing
from weakspot.harness.costs.result import Costs, prices
from weakspot.harness.machines import Machine
from weakspot.harness.machines.prices import Prices
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import RunLimits
from weakspot.harness.values.record import digest, key


class MeasureCosts(SearchJob, MachineJob, frozen=True, kw_only=True):
    """What do the memory orders of the programs cost on the machine? The answer is one Costs."""

    subject: str
    programs: tuple[tuple[str, Program], ...]
    limits: RunLimits
    fences: bool

    @classmethod
    def of(
        cls,
        subject: str,
        programs: Sequence[tuple[str, Program]],
        machine: Machine,
        limits: RunLimits,
        *,
        fences: bool,
    ) -> Self:
        """The job with its key."""
        digests = (f"{name} {program.digest}" for name, program in programs)
        how = (machine.name, machine.arch, "cost", str(fences), f"{limits.seconds:g}")
        return cls(
            key=key(digest(*digests), *how),
            subject=subject,
            programs=tuple(programs),
            on=machine,
            limits=limits,
            fences=fences,
        )

    @property
    def phase(self) -> str:
        return f"measuring {self.subject}"

    def searches(self, report: Report) -> Iterator[_Measurement]:
        yield _Measurement(self, report)


class _Measurement:
    """The measurement of a job. Its costs are stored for `relax`, also after Ctrl-C."""

    def __init__(self, job: MeasureCosts, report: Report) -> None:
        self._job = job
        self._costing = Costing(job.subject, job.programs, job.on, fences=job.fences, report=report)

    def run(self) -> None:
        """Raises Lost, MissingTool."""
        self._costing.run(self._job.limits.seconds, self._job.limits.end(1))

    def result(self) -> Costs:
        """What was measured, which is stored."""
        found = self._costing.result()
        costs = ((site.annotation, prices(site)) for site in found.sites)
        Prices(profile(self._job.on)).remember(costs)
        return found
