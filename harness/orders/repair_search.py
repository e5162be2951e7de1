"""The search for a repair as a job of the executor: within a time limit, and with the programs that
the repair must not harm."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Self

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.corpus.models import Model
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repairs import Change, Repair, Repairing, affordable
from weakspot.harness.values.bounds import Bounds
from weakspot.system.deadline import ending

SECONDS = 5.0
"""The time limit of one exploration; a search for a repair may take twice that."""


class _OutOfTime(Exception):
    pass


class SearchRepair(Job, frozen=True, kw_only=True):
    """What repairs the program that is `violated`, without harm to the others, which are explored
    under the same model? What is safe then must be so under the models `also`. `costs` are the
    seconds that exploring each program took, the violated one included. Of the `bounds`, the time
    limit is this module's."""

    violated: str
    costs: dict[str, float]
    model: Model
    bounds: Bounds
    also: tuple[Model, ...] = ()
    seconds: float = 2 * SECONDS

    @property
    def phase(self) -> str:
        return "searching for repairs"

    def within(self, seconds: float) -> Self:
        return msgspec.structs.replace(self, seconds=min(seconds, self.seconds))

    def program(self, name: str) -> Program:
        """One of the programs. Raises what reading a program raises."""
        raise NotImplementedError

    def answer(self, found: Sequence[Repair], *, out_of_time: bool) -> Any:
        """The answer to this question, of the repairs found; none if the search ran out of time."""
        raise NotImplementedError

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            try:
                sink.answered(job, job.answer(job._found(sink), out_of_time=False))
            except _OutOfTime:
                sink.answered(job, job.answer((), out_of_time=True), final=False)

    def _found(self, sink: Sink) -> Sequence[Repair]:
        end = ending(self.seconds)

        def report(text: str) -> None:
            sink.at(f"a repair for {self.violated}: {text}")
            if end.passed:
                raise _OutOfTime

        report("reading")
        names = affordable(self.costs, self.violated, self.seconds / 2)
        programs = [(name, self.program(name)) for name in names]
        limits = msgspec.structs.replace(self.bounds, seconds=SECONDS)
        questions = Explorations(self.model, limits, also=self.also, end=end)
        search = Repairing(programs, self.violated, questions, report=report)
        found = search.orders()
        with contextlib.suppress(_OutOfTime):
            found = search.fences(found)
        return [msgspec.structs.replace(each, programs=len(self.costs)) for each in found]

    def needed(self, change: Change) -> str:
        """What an annotation needs, as the end of a sentence."""
        return f"needs {change.needs} under {self.model.name}"
