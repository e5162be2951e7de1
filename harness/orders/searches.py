"""What is searched for in groups of programs, one search after the other, or as jobs of an executor
that performs several at once.

In: groups of programs, and models. Out: the same results, in the same order, either way. A search
asks one question after the other, each of which depends on the answers before: what
is performed at the same time are the searches for several groups, or under several models.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Self, cast

import msgspec

from weakspot.errors import Interrupted
from weakspot.harness.campaign.executor import Executor, ask
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.relax import Relaxing
from weakspot.harness.orders.relaxation import Relaxed
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


class RelaxGroup(Job, frozen=True, kw_only=True):
    """Which are the weakest memory orders of a group under a model? The answer is a tuple of
    Relaxed, one per version of its source."""

    group: ProgramGroup
    search: Search

    phase = "relaxing"
    is_long = True

    @property
    def asked_models(self) -> Iterable[Model]:
        return (*self.search.models, *self.search.machines)

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            results = []
            for search in job.search.of((job.group,), sink.at):
                search.run()
                results.append(search.result())
            sink.answered(job, tuple(results))


class Known(msgspec.Struct, frozen=True):
    """A search that has ended."""

    relaxed: Relaxed

    def run(self) -> None:
        """There is nothing left to do."""

    def result(self) -> Relaxed:
        return self.relaxed


def performed(
    groups: Sequence[ProgramGroup], search: Search, executor: Executor, progress: Progress
) -> Iterator[Known]:
    """The searches, all performed when the first is asked for. Raises what the executor raises;
    after Ctrl-C those that have ended come first."""
    if search.prices is not None:
        programs = [program for group in groups for _, program in group.programs]
        search.prices.read({path.resolve() for one in programs for path in one.files.values()})
    jobs = [
        RelaxGroup(
            key=f"{number}", group=group, search=msgspec.structs.replace(search, models=(model,))
        )
        for number, (group, model) in enumerate(itertools.product(groups, search.models))
    ]
    store = MemoryStore()
    interrupted: Interrupted | None = None
    try:
        ask(jobs, store, executor, progress=progress)
    except Interrupted as error:
        interrupted = error
    for job in jobs:
        for relaxed in cast("tuple[Relaxed, ...]", store.get(job.key) or ()):
            yield Known(relaxed)
    if interrupted is not None:
        raise interrupted
