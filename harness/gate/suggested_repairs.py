"""The memory order that repairs a violated scenario, and for how many scenarios it was confirmed.

Repairs are stored in the project's cache like the answers of the gate.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.campaign.cache import CacheStore
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.plan import repaired_under
from weakspot.harness.gate.answers import Answers
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.outcome import Note, RequiredOrder, SourceEdit
from weakspot.harness.gate.scenarios import Scenario
from weakspot.harness.gate.source_spans import source_span
from weakspot.harness.orders.repair_jobs import SearchRepair
from weakspot.harness.orders.repairs import Repair
from weakspot.harness.orders.rewrite import rewrite


class SuggestedRepair(msgspec.Struct, frozen=True):
    """The memory orders to strengthen, the edits that do it, and a sentence that says so; all empty
    if no repair was found. A search that ran `out_of_time` may have missed one."""

    needs: tuple[RequiredOrder, ...] = ()
    edits: tuple[SourceEdit, ...] = ()
    fix: str = ""
    out_of_time: bool = False


class FindRepair(SearchRepair, frozen=True, kw_only=True, dict=True):
    """A repair of a scenario, without harm to the other scenarios. The answer is a
    SuggestedRepair."""

    config: Config
    scenarios: dict[str, Scenario]

    def program(self, name: str) -> Program:
        scenario = self.scenarios[name]
        program = read_program(scenario.path, build=scenario.build, asked=scenario.question)
        self._read[name] = program.key
        return program

    @cached_property
    def _read(self) -> dict[str, str]:
        """The keys of the programs that were read."""
        return {}

    @property
    def is_current(self) -> bool:
        return super().is_current and all(
            self.scenarios[name].is_unchanged(compiled) for name, compiled in self._read.items()
        )

    def answer(self, found: Sequence[Repair], *, out_of_time: bool) -> SuggestedRepair:
        root = self.config.root
        named = [_named(root, repair) for repair in found]
        return SuggestedRepair(
            needs=tuple(self._needs(named[0])) if named else (),
            edits=tuple(_edits(root, named[0])) if named else (),
            fix="; or ".join(map(str, named)),
            out_of_time=out_of_time,
        )

    def _needs(self, repair: Repair) -> Iterator[RequiredOrder]:
        executions = repair.executions or (None,) * len(repair.changes)
        for change, execution in zip(repair.changes, executions, strict=True):
            there = change.annotation
            yield RequiredOrder(
                place=source_span(
                    self.config.root,
                    there.file,
                    there.line,
                    there.column,
                    function=there.function,
                    does=f"{there.operation} ({change.before})",
                ),
                asks=f"needs {self.needed(change)}",
                witness=execution,
            )


def suggested_repairs(answers: Answers) -> dict[str, SuggestedRepair]:
    """By scenario, a repair under the first model that shows a violation."""
    jobs: dict[str, FindRepair] = {}
    for answered in answers.answered:
        exploration, asked = answered.answer.exploration, answered.question
        if (
            exploration is None
            or not exploration.violations
            or asked.compared
            or asked.file in jobs
        ):
            continue
        together = [
            each
            for each in answers.answered
            if each.answer.exploration is not None and each.model == asked.model
        ]
        also = tuple(repaired_under(asked.model, answers.config.machine_models))
        parts = [each.question.key for each in together]
        parts += [each.of_programs.digest_of_text for each in also]
        jobs[asked.file] = FindRepair(
            key=f"repair {asked.key} {' '.join(parts)}",
            violated=asked.file,
            costs={each.file: each.answer.seconds for each in together},
            model=asked.model,
            also=also,
            bounds=answers.config.bounds,
            config=answers.config,
            scenarios={each.file: each.question.scenario for each in together},
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
        Note(file, ": no repair found within the time budget")
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
