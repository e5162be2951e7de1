"""What is searched for in groups of programs, as jobs.

In: groups of programs, and models. Out: jobs. A search asks one question after the other, each of
which depends on the answers before: what an executor may perform at the same time are the searches
for several groups, or under several models.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import msgspec

from weakspot.harness.campaign.jobs import SearchJob
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.mutants import ClientOf, Mutating
from weakspot.harness.orders.relax import Relaxing
from weakspot.harness.orders.scenes import versions
from weakspot.harness.values.bounds import Bounds
from weakspot.system.deadline import NEVER, Deadline


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched for: the weakest memory orders under each of the `models`, all of them until
    the `end`. What is safe under a model must be safe under those of `machines` too; the orders of
    the corpus are recorded without."""

    models: tuple[Model, ...]
    machines: tuple[Model, ...] = ()
    bounds: Bounds = Bounds()
    fences: bool = False
    prices: Prices | None = None
    end: Deadline = NEVER

    def of(
        self, groups: Sequence[ProgramGroup], report: Report = lambda _: None
    ) -> Iterator[Relaxing]:
        """The searches to run, one after the other: one per model and version of a group's
        source."""
        for group, model in itertools.product(groups, self.models):
            report(f"{group.name} under {model.name}")
            also = () if group.structure else self.machines
            explorations = Explorations(model, self.bounds, also=also, end=self.end)
            for version in versions(group, explorations, report=report):
                yield Relaxing(
                    version, explorations, fences=self.fences, prices=self.prices, report=report
                )


class RelaxGroup(SearchJob, frozen=True, kw_only=True):
    """Which are the weakest memory orders of a group under a model? The answer is a tuple of
    Relaxed, one per version of its source."""

    group: ProgramGroup
    search: Search

    phase = "relaxing"
    is_long = True

    @property
    def asked_models(self) -> Iterable[Model]:
        return (*self.search.models, *self.search.machines)

    def on_one_core(self) -> Self:
        if self.search.prices is not None:
            programs = (program for _, program in self.group.programs)
            self.search.prices.read({path.resolve() for p in programs for path in p.files.values()})
        return self

    def searches(self, report: Report) -> Iterable[Relaxing]:
        return self.search.of((self.group,), report)


def jobs(groups: Sequence[ProgramGroup], search: Search) -> list[RelaxGroup]:
    """What is searched for, by group and model."""
    return [
        RelaxGroup(
            key=f"{number}", group=group, search=msgspec.structs.replace(search, models=(model,))
        )
        for number, (group, model) in enumerate(itertools.product(groups, search.models))
    ]


class MutateGroup(SearchJob, frozen=True, kw_only=True):
    """Which changes of a group's programs do its scenarios notice? The answer is one Mutated."""

    group: ProgramGroup
    explorations: Explorations
    client_of: ClientOf

    phase = "exploring mutants"

    def searches(self, report: Report) -> Iterable[Mutating]:
        yield Mutating(self.group, self.explorations, report, client_of=self.client_of)
