"""Searches for the weakest memory orders as jobs, for an executor that performs several at once.

In: groups of programs, and models. Out: the same results, in the same order, as one after the
other. A search asks one question after the other, each of which depends on the answers before: what
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
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.program_groups import ProgramGroup
from weakspot.harness.orders.relax import searches
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.values.bounds import Bounds
from weakspot.system.deadline import Deadline


class RelaxGroup(Job, frozen=True, kw_only=True):
    """Which are the weakest memory orders of a group under a model? The answer is a tuple of
    Relaxed, one per version of its source."""

    group: ProgramGroup
    model: Model
    machines: tuple[Model, ...]
    bounds: Bounds
    fences: bool
    prices: Prices
    end: Deadline

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model, *self.machines)

    @property
    def phase(self) -> str:
        return "relaxing"

    @property
    def is_long(self) -> bool:
        return True

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            found = []
            for search in searches(
                (job.group,),
                (job.model,),
                job.bounds,
                machines=job.machines,
                fences=job.fences,
                prices=job.prices,
                report=sink.at,
                end=job.end,
            ):
                search.run()
                found.append(search.result())
            sink.answered(job, tuple(found))


class Known(msgspec.Struct, frozen=True):
    """A search that has ended."""

    relaxed: Relaxed

    def run(self) -> None:
        """There is nothing left to do."""

    def result(self) -> Relaxed:
        return self.relaxed


def performed(
    groups: Sequence[ProgramGroup],
    models: Sequence[Model],
    bounds: Bounds,
    executor: Executor,
    *,
    machines: Sequence[Model],
    fences: bool,
    prices: Prices,
    progress: Progress,
    end: Deadline,
) -> Iterator[Known]:
    """The searches, all performed when the first is asked for. Raises what the executor raises;
    after Ctrl-C those that have ended come first."""
    programs = [program for group in groups for _, program in group.programs]
    prices.read({path.resolve() for each in programs for path in each.files.values()})
    jobs = [
        RelaxGroup(
            key=f"{number}",
            group=group,
            model=model,
            machines=tuple(machines),
            bounds=bounds,
            fences=fences,
            prices=prices,
            end=end,
        )
        for number, (group, model) in enumerate(itertools.product(groups, models))
    ]
    store = MemoryStore()
    interrupted: Interrupted | None = None
    try:
        ask(jobs, store, executor, progress=progress)
    except Interrupted as error:
        interrupted = error
    for job in jobs:
        for each in cast("tuple[Relaxed, ...]", store.get(job.key) or ()):
            yield Known(each)
    if interrupted is not None:
        raise interrupted
