"""The jobs of one machine: which programs and tests run there, in which order, and until when.

In: Material, the answers so far, runners, how long each runs or a budget for all. Out: jobs in
their order, and how many the budget leaves out. With a budget, what says most comes first: what
the machine may show although no interleaving does, then what a claim is about, then what the
language permits and the machine does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import msgspec

from weakspot.harness.campaign.jobs import Job, MachineJob
from weakspot.harness.campaign.machine_jobs import ProgramRunner, RunProgram, RunTest
from weakspot.harness.corpus.material import Material, ScenarioProgram
from weakspot.harness.machines import Machine
from weakspot.harness.runners import RunLimits, Runner
from weakspot.harness.values.record import Entry, Record, key
from weakspot.system.deadline import ending

LEAST = 0.5
"""Seconds of a budget that a test or a program gets at least, compiling included."""


RANKS = (
    "allowed on the machine, not by interleavings",
    "subject of a claim",
    "allowed by the language only",
    "forbidden",
    "shown by interleavings",
)
"""Why tests run, the most informative reasons first."""


class Share(msgspec.Struct, frozen=True):
    """A part of the time on a machine: how many of a `count` of programs or tests were `chosen`, to
    run within `seconds`; 0 if there is no limit for all of them. `ranks` counts the chosen tests by
    why they run, in the order of RANKS."""

    what: str
    seconds: float
    chosen: int
    count: int
    ranks: tuple[int, ...] = ()


class Runs(msgspec.Struct, frozen=True):
    """Jobs in their order, and how the time is shared between the kinds of runs."""

    jobs: Sequence[Job]
    shares: Sequence[Share] = ()


def runs(
    material: Material,
    record: Record,
    machine: Machine,
    runners: Sequence[Runner],
    whole: ProgramRunner | None,
    limits: RunLimits,
) -> Runs:
    """Each program, if `whole` runs them, and then each test by each runner. Of a budget, the first
    runner gets twice as much as each other one and as the programs."""
    programs: Sequence[ScenarioProgram] = material.programs
    entries: Sequence[Entry] = material.entries
    ranks: list[int] = []
    if limits.budget:
        programs = sorted(programs, key=partial(_rank_of_program, record, machine))
        entries = sorted(entries, key=partial(_rank_of_test, record, machine))
        ranks = [_rank_of_test(record, machine, each) for each in entries]
    seconds = limits.seconds
    groups: list[tuple[str, int, list[MachineJob], list[int]]] = []
    if whole is not None:
        waiting = [_run_program(each, machine, whole, seconds) for each in programs]
        groups.append(("programs", 1, waiting, []))
    for number, runner in enumerate(runners):
        waiting = [_run_test(each, machine, runner, seconds) for each in entries]
        groups.append((f"tests by {runner.name}", 1 if number else 2, waiting, ranks))
    jobs: list[Job] = []
    shares = []
    total = sum(share for _, share, waiting, _ in groups if waiting)
    time = 0.0
    for what, share, waiting, ranks in groups:
        chosen, part = waiting, 0.0
        if limits.budget and waiting:
            part = limits.budget * share / total
            chosen, time = waiting[: max(1, int(part / LEAST))], time + part
            end = ending(time)
        else:
            end = limits.end(len(jobs) + len(waiting))
        jobs += [msgspec.structs.replace(job, end=end) for job in chosen]
        counts = Counter(ranks[: len(chosen)])
        by_rank = tuple(counts[rank] for rank in range(len(RANKS))) if ranks else ()
        shares.append(Share(what, part, len(chosen), len(waiting), by_rank))
    return Runs(jobs, shares)


def _run_program(
    each: ScenarioProgram, machine: Machine, runner: ProgramRunner, seconds: float
) -> MachineJob:
    digest = each.generated.program.digest
    return RunProgram(
        key=key(digest, machine.key, machine.arch, "whole", f"{seconds:g}", each.name),
        name=each.name,
        program=each.generated.program,
        on=machine,
        seconds=seconds,
        runner=runner,
    )


def _run_test(entry: Entry, machine: Machine, runner: Runner, seconds: float) -> MachineJob:
    return RunTest(
        key=key(entry.digest, machine.key, machine.arch, runner.name, f"{seconds:g}"),
        test=entry.test,
        on=machine,
        runner=runner,
        seconds=seconds,
    )


def _rank_of_test(record: Record, machine: Machine, entry: Entry) -> int:
    """Where a test comes in a budget. The answers of checkers decide, which a campaign that is
    resumed has too; not what was seen."""
    allowed = {
        each.model: each.observation != "Never"
        for model in entry.models
        for each in record.verdicts_of.get((entry.name, model), ())
    }
    sc, here, language = _by_role(record, machine, allowed)
    if any(sc):
        return 4  # interleavings show it
    if here and all(here):
        return 0
    if any(claim.test == entry.name for each in record.structures for claim in each.claims):
        return 1
    return 2 if any(language) else 3


def _rank_of_program(record: Record, machine: Machine, program: ScenarioProgram) -> int:
    """Where a program comes in a budget: first those whose violations the machine may show, then
    those without any."""
    explorations = record.explorations_of.get(program.name, ())
    violated = {each.model: each.result == "Violated" for each in explorations}
    sc, here, language = _by_role(record, machine, violated)
    if here and all(here) and not any(sc):
        return 0
    return 2 if any((*sc, *here, *language)) else 1


def _by_role(
    record: Record, machine: Machine, answers: dict[str, bool]
) -> tuple[list[bool], list[bool], list[bool]]:
    """The answers under sequential consistency, under models of the machine, and under others."""
    sc, here, others = [], [], []
    for name, answer in answers.items():
        model = record.model[name]
        if model.role == "reference":
            sc.append(answer)
        elif machine.arch in model.machines:
            here.append(answer)
        else:
            others.append(answer)
    return sc, here, others
