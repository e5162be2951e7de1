"""The memory orders that repair the user's own programs, for `check` and `test`.

In: programs and their explorations. Out: one question per violated program, whose answer is a
SuggestedRepair. A program that is violated under sequential consistency has none, since no memory
order prevents that; one whose exploration under it was not finished may have one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.plan import UnderModels
from weakspot.harness.checkers.explorer import Bounds
from weakspot.harness.corpus.material import Material
from weakspot.harness.corpus.models import LANGUAGE, Model
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repairs import affordable, repairs
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import key
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.strength import spelled

SECONDS = 5.0
"""The time limit of one exploration; a search for a repair may take twice that."""


class _OutOfTime(Exception):
    pass


class RepairProgram(Job, frozen=True, kw_only=True):
    """What repairs the program `violated`, without harm to the others of the `group`, which are
    explored under the same model? The answer is a SuggestedRepair."""

    violated: str
    group: tuple[tuple[str, Program], ...]
    costs: dict[str, float]
    model: Model
    loops: int
    seconds: float = 2 * SECONDS

    @property
    def phase(self) -> str:
        return "searching for repairs"

    def within(self, seconds: float) -> Self:
        return msgspec.structs.replace(self, seconds=min(seconds, self.seconds))

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            try:
                sink.answered(job, job._found(sink))
            except _OutOfTime:
                late = SuggestedRepair(program=job.violated, model=job.model.name, out_of_time=True)
                sink.answered(job, late, final=False)

    def _found(self, sink: Sink) -> SuggestedRepair:
        end = time.monotonic() + self.seconds

        def report(text: str) -> None:
            sink.at(f"a repair for {self.violated}: {text}")
            if time.monotonic() > end:
                raise _OutOfTime

        names = affordable(self.costs, self.violated, self.seconds / 2)
        of = dict(self.group)
        questions = Explorations(self.model, Bounds(loops=self.loops, seconds=SECONDS))
        found = repairs(
            [(name, of[name]) for name in names], self.violated, questions, report=report
        )
        found = tuple(msgspec.structs.replace(each, programs=len(of)) for each in found)
        return SuggestedRepair(
            program=self.violated,
            model=self.model.name,
            fix="; or ".join(map(str, found)),
            needs=tuple(
                f"{change.annotation} needs at least "
                f"{spelled(change.after).replace('memory_order_', '')} under {self.model.name}"
                for change in (found[0].changes if found else ())
            ),
        )


def jobs(
    material: Material, explorations: Iterable[Exploration], under: UnderModels, loops: int
) -> list[Job]:
    """One question per program of the user's own that a memory order may repair."""
    own = {each.name for each in material.structures if not each.recorded}
    programs = {
        each.name: each.generated.program for each in material.programs if each.structure in own
    }
    results: dict[str, dict[str, Exploration]] = {name: {} for name in programs}
    for each in explorations:
        if each.program in results:
            results[each.program][each.model] = each
    found: list[Job] = []
    for name, by_model in results.items():
        violated = [model for model, each in by_model.items() if each.result == "Violated"]
        if not violated or "sc" in violated:
            continue
        model = LANGUAGE if LANGUAGE in violated else violated[-1]
        group = tuple(each for each in programs.items() if model in results[each[0]])
        digests = " ".join(program.digest for _, program in group)
        found.append(
            RepairProgram(
                key=key(programs[name].digest, under.digests[model], "repair", digests),
                violated=name,
                group=group,
                costs={other: results[other][model].seconds for other, _ in group},
                model=under.models[model],
                loops=loops,
            )
        )
    return found
