"""The search for a repair as a job of the executor: within a time limit, and with the programs that
the repair must not harm; and what `check` and `test` ask about the user's own programs.

A program that is violated under sequential consistency has no repair, since no memory order
prevents that; one whose exploration under it was not finished may have one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import msgspec

from weakspot.errors import BadInput, LimitReached, Unsupported
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.plan import UnderModels, repaired_under
from weakspot.harness.corpus.material import Material, Report
from weakspot.harness.corpus.models import LANGUAGE, Model
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repairs import Change, Repair, Repairing, affordable
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import key
from weakspot.harness.values.repair import Need, SourceEdit, SuggestedRepair
from weakspot.system.deadline import ending

SECONDS = 5.0
"""The time limit of one exploration; a search for a repair may take twice that."""

TWICE_SECONDS = 1.0
"""The time limit of one exploration of a program in which each thread runs twice."""


class _OutOfTime(Exception):
    pass


class SearchRepair(Job, frozen=True, kw_only=True):
    """What repairs the program that is `violated`, without harm to the others, which are explored
    under the same model? What is safe then must be so under the models `also`. `costs` are the
    seconds that exploring each program took, the violated one included. Of the `bounds`, the time
    limit is this module's. The answer is a SuggestedRepair; with the `root` of a project its files
    are relative to that, and it has edits."""

    violated: str
    costs: dict[str, float]
    model: Model
    bounds: Bounds
    also: tuple[Model, ...] = ()
    seconds: float = 2 * SECONDS
    root: Path | None = None

    phase = "searching for repairs"

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model, *self.also)

    def within(self, seconds: float) -> Self:
        return msgspec.structs.replace(self, seconds=min(seconds, self.seconds))

    def program(self, name: str) -> Program:
        """One of the programs. Raises what reading a program raises."""
        raise NotImplementedError

    def answer(self, found: Sequence[Repair], *, out_of_time: bool) -> SuggestedRepair:
        """The answer to this question, of the repairs found; none if the search ran out of time."""
        root = self.root
        found = found if root is None else [each.named(root) for each in found]
        first = found[0] if found else None
        return SuggestedRepair(
            program=self.violated,
            model=self.model.name,
            fix="; or ".join(map(str, found)),
            changes=tuple(map(self._need, first.changes)) if first else (),
            executions=first.executions if first else (),
            edits=_edits(root, first) if first and root else (),
            out_of_time=out_of_time,
        )

    def _need(self, change: Change) -> Need:
        there = change.annotation
        return Need(
            str(there),
            f"{change.needs} under {self.model.name}",
            there.column,
            there.function,
            there.named(change.before) if there.kernel else f"{there.operation} ({change.before})",
        )

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
        repairs: Sequence[Repair] = search.orders()
        with contextlib.suppress(_OutOfTime):
            repairs = search.fences(repairs)
        with contextlib.suppress(_OutOfTime, BadInput, Unsupported, LimitReached):
            repairs = self._checked_twice(programs, repairs, questions, report)
        with contextlib.suppress(_OutOfTime):
            repairs = self._shown(search, repairs, report)
        return [msgspec.structs.replace(each, programs=len(self.costs)) for each in repairs]

    def _shown(
        self, search: Repairing, repairs: Sequence[Repair], report: Report
    ) -> Sequence[Repair]:
        """The repairs; the first one with an execution for each change if these are several. A
        single change is shown by the executions of the program as it stands."""
        if not repairs or len(repairs[0].changes) == 1:
            return repairs
        executions = []
        for change in repairs[0].changes:
            report(f"looking for an execution that shows why {change.annotation} is changed")
            executions.append(search.execution(repairs[0], change))
        return [msgspec.structs.replace(repairs[0], executions=tuple(executions)), *repairs[1:]]

    def _checked_twice(
        self,
        programs: Sequence[tuple[str, Program]],
        repairs: Sequence[Repair],
        questions: Explorations,
        report: Report,
    ) -> Sequence[Repair]:
        """The repairs, those first that suffice where each thread of the program runs twice too. If
        none does, others are looked for that do. Where no memory order makes that program safe, or
        exploring it takes long, the repairs stay as they are."""
        own = dict(programs)[self.violated]
        # a thread of Rust runs std's code around the function
        if not repairs or own.language == "rust":
            return repairs
        report("reading it with each thread run twice")
        twice = own.with_threads_twice(questions.end)
        quick = Explorations(
            self.model,
            msgspec.structs.replace(self.bounds, seconds=TWICE_SECONDS),
            also=self.also,
            end=questions.end,
        )
        search = Repairing([(self.violated, own)], self.violated, quick, twice=twice, report=report)
        if not search.repairable_twice():
            return repairs
        results = [search.result_twice(repair) for repair in repairs]
        if "Violated" not in results or "Unknown" in results:
            return repairs
        marked = [
            msgspec.structs.replace(repair, twice=result == "Safe")
            for repair, result in zip(repairs, results, strict=True)
        ]
        marked.sort(key=lambda repair: not repair.twice)
        if "Safe" in results:
            return marked
        weaker = marked
        search = Repairing(programs, self.violated, questions, twice=twice, report=report)
        with contextlib.suppress(_OutOfTime):
            better: Sequence[Repair] = search.orders()
            marked = [*better, *weaker]
            marked = [*search.fences(better), *weaker]
        return marked[: len(repairs) + 1]


class RepairProgram(SearchRepair, frozen=True, kw_only=True):
    """A repair of a program, without harm to the others of the `group`."""

    group: dict[str, Program]

    def program(self, name: str) -> Program:
        return self.group[name]


def _edits(root: Path, repair: Repair) -> tuple[SourceEdit, ...]:
    """The lines that the repair changes; none if a change is left to be made by hand."""
    from weakspot.harness.edits.rewrite import rewrite

    changed = rewrite(
        [change.annotation for change in repair.changes],
        tuple(change.after for change in repair.changes),
    )
    return () if changed.by_hand else tuple(changed.edits(root))


def jobs(
    material: Material, explorations: Iterable[Exploration], under: UnderModels, bounds: Bounds
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
    questions: list[Job] = []
    for name, by_model in results.items():
        violated = [model for model, each in by_model.items() if each.result == "Violated"]
        if not violated or "sc" in violated:
            continue
        model = LANGUAGE if LANGUAGE in violated else violated[-1]
        group = {other: each for other, each in programs.items() if model in results[other]}
        also = tuple(repaired_under(under.models[model], under.machines))
        digests = " ".join(
            (
                *(program.digest for program in group.values()),
                *(each.of_programs.digest_of_text for each in also),
            )
        )
        questions.append(
            RepairProgram(
                key=key(programs[name].digest, under.digests[model], "repair", digests),
                violated=name,
                group=group,
                costs={other: results[other][model].seconds for other in group},
                model=under.models[model],
                also=also,
                bounds=bounds,
                seconds=min(2 * SECONDS, bounds.seconds),
            )
        )
    return questions
