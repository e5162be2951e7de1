"""The measurement of costs as a job, whose result is stored for `relax`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from weakspot.generators.source.program import Program
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.jobs import MachineJob, Sink
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.costs.measurement import Costing
from weakspot.harness.costs.result import Costs, prices
from weakspot.harness.machines import Machine
from weakspot.harness.machines.prices import Prices
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import RunLimits
from weakspot.harness.values.record import digest, key


class MeasureCosts(MachineJob, frozen=True, kw_only=True):
    """What do the memory orders of the programs cost on the machine? The answer is a Costs, after
    Ctrl-C one of what was measured until then."""

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

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            costing = Costing(job.subject, job.programs, job.on, fences=job.fences, report=sink.at)
            try:
                costing.run(job.limits.seconds, job.limits.end(1))
            except KeyboardInterrupt:
                sink.answered(job, costing.result(), final=False)
                raise
            sink.answered(job, costing.result())


class Measuring:
    """The measurement that a job asks for. Its costs are stored for `relax`, also after Ctrl-C."""

    def __init__(self, job: MeasureCosts, progress: Progress) -> None:
        self._job, self._progress, self._store = job, progress, MemoryStore()

    def run(self) -> None:
        """Measure, and store the costs. Raises Stopped on Ctrl-C, Lost, MissingTool."""
        try:
            ask([self._job], self._store, LocalExecutor(gauge=None), progress=self._progress)
        finally:
            if (found := self.result()) is not None:
                costs = ((site.annotation, prices(site)) for site in found.sites)
                Prices(profile(self._job.on)).remember(costs)

    def result(self) -> Costs | None:
        """What was measured; None before that."""
        found = self._store.get(self._job.key)
        return found if isinstance(found, Costs) else None
