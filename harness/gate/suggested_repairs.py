"""The memory order that repairs a violated scenario, and for how many scenarios it was confirmed.

Repairs are stored in the project's cache like the answers of the gate.
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.campaign.cache import CacheStore
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.answers import Answered, Answers, bounds
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.outcome import RequiredOrder, SourceEdit
from weakspot.harness.gate.source_spans import source_span
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repairs import Repair, affordable, repairs
from weakspot.harness.orders.rewrite import rewrite
from weakspot.harness.values.strength import spelled

SECONDS = 5.0
"""The time limit of one exploration; a search for a repair may take twice that."""


class SuggestedRepair(msgspec.Struct, frozen=True):
    """The memory orders to strengthen, the edits that do it, and a sentence that says so; all empty
    if no repair was found. A search that ran `out_of_time` may have missed one."""

    needs: tuple[RequiredOrder, ...] = ()
    edits: tuple[SourceEdit, ...] = ()
    fix: str = ""
    out_of_time: bool = False


class _OutOfTime(Exception):
    pass


class FindRepair(Job, frozen=True, kw_only=True):
    """What repairs the scenario that is `violated`, without harm to those of the `group`, which are
    explored under the same model? The answer is a SuggestedRepair."""

    config: Config
    violated: Answered
    group: tuple[Answered, ...]
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
                sink.answered(job, SuggestedRepair(out_of_time=True), final=False)

    def _found(self, sink: Sink) -> SuggestedRepair:
        file = self.violated.job.file
        end = time.monotonic() + self.seconds

        def report(text: str) -> None:
            sink.at(f"a repair for {file}: {text}")
            if time.monotonic() > end:
                raise _OutOfTime

        report("reading")
        costs = {each.job.file: each.answer.seconds for each in self.group}
        paths = {each.job.file: each.job.scenario.path for each in self.group}
        programs: list[tuple[str, Program]] = []
        for name in affordable(costs, file, self.seconds / 2):
            program = read_program(paths[name], build=self.config.build)
            programs.append((name, program))
        model = self.violated.job.model
        limits = msgspec.structs.replace(
            bounds(self.config.gate), seconds=min(SECONDS, self.seconds / 2)
        )
        questions = Explorations(model, limits)
        found = repairs(programs, file, questions, report=report)
        if not found:
            return SuggestedRepair()
        root = self.config.root
        named = [
            msgspec.structs.replace(_named(root, repair), programs=len(self.group))
            for repair in found
        ]
        return SuggestedRepair(
            needs=tuple(_needs(root, named[0], model)),
            edits=tuple(_edits(root, named[0])),
            fix="; or ".join(map(str, named)),
        )


def suggested_repairs(answers: Answers) -> dict[str, SuggestedRepair]:
    """By scenario, a repair under the first model that shows a violation."""
    jobs: dict[str, FindRepair] = {}
    for answered in answers.answered:
        exploration, job = answered.answer.exploration, answered.job
        if exploration is None or not exploration.violations or job.compared or job.file in jobs:
            continue
        together = [
            each
            for each in answers.answered
            if each.answer.exploration is not None and each.job.model == job.model
        ]
        parts = [part for each in together for part in (each.job.file, *each.answer.inputs.hashes)]
        jobs[job.file] = FindRepair(
            key=f"repair {job.key} {' '.join(parts)}",
            config=answers.config,
            violated=answered,
            group=tuple(together),
        )
    store = CacheStore(answers.folder, SuggestedRepair)
    ask(
        jobs.values(),
        store,
        LocalExecutor(ends=answers.ends),
        progress=answers.progress,
    )
    found = {file: store.get(job.key) for file, job in jobs.items()}
    answers.notes += [
        f"{file}: no repair found within the time budget"
        for file, repair in found.items()
        if repair.out_of_time
    ]
    return found


def _named(root: Path, repair: Repair) -> Repair:
    """The repair with its files relative to the project's folder."""
    changes = []
    for change in repair.changes:
        file = os.path.relpath(change.annotation.path, root.resolve())
        annotation = msgspec.structs.replace(change.annotation, file=file)
        changes.append(msgspec.structs.replace(change, annotation=annotation))
    return msgspec.structs.replace(repair, changes=tuple(changes))


def _needs(root: Path, repair: Repair, model: Model) -> Iterator[RequiredOrder]:
    for change in repair.changes:
        there = change.annotation
        wanted = spelled(change.after).replace("memory_order_", "")
        yield RequiredOrder(
            place=source_span(
                root,
                there.file,
                there.line,
                there.column,
                function=there.function,
                does=f"{there.operation} ({change.before})",
            ),
            asks=f"needs at least {wanted} under {model.name}",
        )


def _edits(root: Path, repair: Repair) -> Iterator[SourceEdit]:
    """The lines that the repair changes; none if a change is left to be made by hand."""
    changed = rewrite(
        [change.annotation for change in repair.changes],
        tuple(change.after for change in repair.changes),
    )
    if changed.by_hand:
        return
    for path, before in changed.before.items():
        old, new = (
            text.decode("utf-8", "replace").splitlines(keepends=True)
            for text in (before, changed.after[path])
        )
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, start, end, begin, stop in matcher.get_opcodes():
            if tag != "equal":
                file = Path(os.path.relpath(path, root.resolve())).as_posix()
                yield SourceEdit(file, start + 1, end + 1, "".join(new[begin:stop]))
