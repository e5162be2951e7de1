"""The memory order that repairs a violated scenario, and for how many scenarios it was confirmed.

Repairs are stored in the project's cache like the answers of the gate.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.checkers.explorer import Bounds
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.outcome import RequiredOrder
from weakspot.harness.gate.source_spans import source_span
from weakspot.harness.gate.work import Answered, Work
from weakspot.harness.orders.repairs import Repair, repairs
from weakspot.harness.values.strength import spelled
from weakspot.system import cache

SECONDS = 5.0
"""The time limit of one exploration; a search for a repair may take twice that."""


class SuggestedRepair(msgspec.Struct, frozen=True):
    """The orders to strengthen, and a sentence that says so; both empty if no repair was found."""

    needs: tuple[RequiredOrder, ...] = ()
    fix: str = ""


class _OutOfTime(Exception):
    pass


def suggested_repairs(work: Work) -> dict[str, SuggestedRepair]:
    """By scenario, a repair under the first model that shows a violation."""
    found: dict[str, SuggestedRepair] = {}
    for answered in work.answered:
        exploration, job = answered.answer.exploration, answered.job
        if exploration is None or not exploration.violations or job.compared or job.file in found:
            continue
        together = [
            each
            for each in work.answered
            if each.answer.exploration is not None and each.job.model == job.model
        ]
        found[job.file] = _known(work, answered, together)
    return found


def _known(work: Work, violated: Answered, together: Sequence[Answered]) -> SuggestedRepair:
    parts = [part for each in together for part in (each.job.file, *each.answer.inputs.hashes)]
    path = work.place_of(f"repair {work.key(violated.job)} {' '.join(parts)}")
    repair = cache.read(path, SuggestedRepair)
    if repair is not None:
        return repair
    try:
        repair = _searched(work, violated, together)
    except _OutOfTime:
        work.notes.append(f"{violated.job.file}: no repair found within the time budget")
        return SuggestedRepair()
    cache.write(path, repair)
    return repair


def _searched(work: Work, violated: Answered, together: Sequence[Answered]) -> SuggestedRepair:
    seconds = min(work.end - time.monotonic(), 2 * SECONDS)
    end = time.monotonic() + seconds

    def report(text: str) -> None:
        work.progress.at(f"a repair for {violated.job.file}: {text}")
        if time.monotonic() > end:
            raise _OutOfTime

    report("reading")
    costs = {each.job.file: each.answer.seconds for each in together}
    programs: list[tuple[str, Program]] = []
    for file in affordable(costs, violated.job.file, seconds / 2):
        gate = work.config.gate
        program = read_program(work.path(file), defines=gate.defines, include=work.config.include)
        programs.append((file, program))
    model = violated.job.model
    bounds = Bounds(loops=work.config.gate.unroll, seconds=SECONDS)
    found = repairs(programs, violated.job.file, model, bounds, report=report)
    if not found:
        return SuggestedRepair()
    root = work.config.root
    named = [
        msgspec.structs.replace(_named(root, repair), programs=len(together)) for repair in found
    ]
    return SuggestedRepair(
        needs=tuple(_needs(root, named[0], model)), fix="; or ".join(map(str, named))
    )


def affordable(costs: Mapping[str, float], first: str, seconds: float) -> list[str]:
    """The programs on which a repair can be confirmed in so many seconds: `first`, then the
    others as long as they fit, the cheapest first. Each is explored with the repair, and again
    without it where it is not safe."""
    chosen = [first]
    spent = 2 * costs[first]
    for name in sorted(costs.keys() - {first}, key=lambda name: (costs[name], name)):
        spent += 2 * costs[name]
        if spent > seconds:
            break
        chosen.append(name)
    return chosen


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
