"""Every finding of a campaign, its exit code, and the questions it left unanswered."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weakspot.harness.judge import (
    claims,
    codegen,
    control_tests,
    disagreements,
    observations,
    violations,
)
from weakspot.harness.values.descriptions import limits_reached
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.numbers import times
from weakspot.harness.values.record import Record

SOURCES: tuple[Callable[[Record], Iterator[Finding]], ...] = (
    violations.explored,
    violations.run,
    observations.disallowed,
    disagreements.between_checkers,
    codegen.weaker_code,
    control_tests.allowed_but_not_observed,
    control_tests.without_observed_variant,
    control_tests.failed_controls,
)
"""The functions that derive findings from what a campaign measured; claims are compared apart."""

_SEVERITIES = {"error": 0, "warning": 1, "note": 2}


def judge(record: Record, *, with_claims: bool = True) -> tuple[Finding, ...]:
    """Every finding of a campaign: errors first, and recorded ones last.

    Without `with_claims` the record is not compared with what its structures claim (WS001);
    claims then only mark findings as recorded.
    """
    found = list(claims.compare(record)) if with_claims else []
    for source in SOURCES:
        found += source(record)

    def order(finding: Finding) -> tuple[bool, int, bool, str]:
        # an outcome that was observed although a model forbids it matters most
        severity = _SEVERITIES[finding.severity]
        return (finding.recorded, severity, finding.id != "WS201", finding.id)

    return tuple(sorted(found, key=order))


def exit_code(record: Record) -> int:
    """1 with an error that is not recorded, 3 with an unanswered question, else 0."""
    if record.errors:
        return 1
    return 3 if undecided(record) else 0


def undecided(record: Record) -> tuple[str, ...]:
    """The questions without an answer, one per line.

    They are: tests that no checker could decide under a model; programs with a claim, and the
    user's own programs, of which not everything was explored; programs whose litmus tests could not
    all be generated in the time; machine code that could not be compared; what did not run: tests
    since a machine was unreachable, the user's own programs and tests, and anything where running
    is all that was asked for.
    """
    return (
        *_tests(record),
        *_programs(record),
        *_generation(record),
        *_code(record),
        *_unreachable(record),
        *_not_run(record),
    )


def _tests(record: Record) -> Iterator[str]:
    for (test, model), verdicts in record.verdicts_of.items():
        if all(verdict.observation == "Unknown" for verdict in verdicts):
            yield f"{test} under {model}: {verdicts[0].reason or 'unknown'}"


def _programs(record: Record) -> Iterator[str]:
    claimed = {
        (structure.program_of(claim), model): expected
        for structure, claim in record.claims
        for model, expected in claim.explored.items()
    }
    for exploration in record.explorations:
        question = (exploration.program, exploration.model)
        asked = (
            exploration.program in record.own_programs
            or claimed.get(question, "Unknown") != "Unknown"
        )
        if asked and exploration.result == "Unknown":
            yield f"{exploration.program} under {exploration.model}: {limits_reached(exploration)}"


def _generation(record: Record) -> Iterator[str]:
    for name in record.manifest.interrupted:
        yield f"{name}: the time limit was reached while its litmus tests were generated"
    for name, why in record.manifest.unread.items():
        yield f"{name}: {why}"


def _not_run(record: Record) -> Iterator[str]:
    """What no runner has run on a machine."""
    only = not record.explorations and not record.verdicts
    names = {each.name for each in record.structures if not each.recorded}
    tests = {each.name for each in record.entries if names.issuperset(each.structures)}
    for run in record.runs:
        if run.reason and (only or run.program in record.own_programs):
            yield f"{run.program} on {run.machine}: {run.reason}"
    ran = {(each.test, each.machine) for each in record.histograms if each.iterations}
    for each in record.histograms:
        asked = only or each.test in tests
        if asked and each.reason and not each.lost and (each.test, each.machine) not in ran:
            yield f"{each.test} on {each.machine}: {each.reason}"


def _code(record: Record) -> Iterator[str]:
    for each in record.compiled:
        if each.result == "Unknown":
            yield f"{each.source} by {', '.join(each.builds)} for {each.target}: {each.reason}"


def _unreachable(record: Record) -> Iterator[str]:
    """Tests that an unfinished campaign could not run, since a machine was unreachable."""
    for machine in () if record.manifest.finished else record.manifest.plan.machines:
        ran = [each for each in record.histograms if each.machine == machine]
        lost = [each for each in ran if each.lost]
        never = len(record.entries) - len({each.test for each in ran})
        if lost:
            yield f"{lost[0].test} on {machine}: {lost[0].reason} (happened {times(len(lost))})"
        if never:
            yield f"{never:,} of {len(record.entries):,} tests did not run on {machine}"
