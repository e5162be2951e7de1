"""What a campaign's verdicts, histograms and explorations mean together: the findings.

In: a Record. Out: Findings, the gravest first. Three rules hold everywhere: an answer that a
limit cut short contradicts nothing; an outcome that was not seen is not called impossible; what
a structure's claims.toml records is told, and marked as recorded, but is no fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from weakspot.harness.judge import claims as recorded
from weakspot.harness.judge.claims import explored_as
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.agreement import agreed_observation, conclusive, contradicts
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_exploration,
    describe_failure,
    describe_histogram,
    describe_verdict,
    has_no_observed_variant,
    limits_reached,
)
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded, times
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import ModelInfo, Record, program_name, unique
from weakspot.harness.values.state import state_text, within
from weakspot.harness.values.verdict import Verdict

_VIOLATIONS = {
    "assertion": "WS101",
    "race": "WS102",
    "hang": "WS103",
    "uninitialised": "WS104",
    "memory": "WS104",
    "lock": "WS105",
}
_SHOWN = "weakspot check says under which models it happens, and shows an execution that does it"
_EMULATOR = (
    "suspect the emulator first: it has to bring the other machine's order of memory to this one; "
    "weakspot check --compiled tells whether the machine code allows the outcome"
)
_FAILURES = {"assertion": "WS101", "hang": "WS103", "crash": "WS104"}
_GRAVITY = {"error": 0, "warning": 1, "note": 2}


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A test's outcome that a machine showed, and what the models say of it."""

    histogram: Histogram
    forbidden: tuple[str, ...]
    allowed: tuple[str, ...]
    broken: tuple[str, ...]  # those that forbid it and make a promise for this machine


def judge(record: Record, *, claims: bool = True) -> tuple[Finding, ...]:
    """Every finding of a campaign, errors first, what is recorded last among equals. Without
    `claims` what is recorded only tells what is known."""
    found = [
        *(recorded.compare(record) if claims else ()),
        *_explorations(record),
        *_failures(record),
        *_disallowed(record),
        *_disagreements(record),
        *_weaker(record),
        *_silence(record),
        *_mute(record),
        *_controls(record),
    ]

    def order(each: Finding) -> tuple[bool, int, bool, str]:
        # what was seen and is forbidden is what people look for
        return (each.recorded, _GRAVITY[each.severity], each.id != "WS201", each.id)

    return tuple(sorted(found, key=order))


def exit_code(record: Record) -> int:
    """1 with a finding of severity error that is not recorded; 3 with something undecided; else
    0."""
    if any(each.severity == "error" and not each.recorded for each in record.findings):
        return 1
    return 3 if undecided(record) else 0


def undecided(record: Record) -> tuple[str, ...]:
    """What was asked and not answered, one a line: a test under a model that every checker gave
    up on, a program that a claim is about, or a user's own, of which not all was explored, a
    machine that was lost."""
    claimed = {
        (program_name(structure.name, claim.scenario), model): expected
        for structure in record.structures
        for claim in structure.claims
        for model, expected in claim.explored.items()
    }
    found = [
        f"{test} under {model}: {verdicts[0].reason or 'unknown'}"
        for (test, model), verdicts in record.verdicts_of.items()
        if all(verdict.observation == "Unknown" for verdict in verdicts)
    ]
    own = {
        program_name(structure.name, scenario.name)
        for structure in record.structures
        for scenario in structure.scenarios
        if not structure.recorded
    }
    found += [
        f"{exploration.program} under {exploration.model}: {limits_reached(exploration)}"
        for exploration in record.explorations
        if exploration.result == "Unknown"
        and (
            exploration.program in own
            or claimed.get((exploration.program, exploration.model), "Unknown") != "Unknown"
        )
    ]
    found += [
        f"{each.source} by {', '.join(each.builds)} for {each.target}: {each.reason}"
        for each in record.compiled
        if each.result == "Unknown"
    ]
    return (*found, *_lost(record))


def _lost(record: Record) -> Iterator[str]:
    """What a campaign that is to go on has not run: a machine was not there, or went away."""
    for machine in () if record.manifest.finished else record.manifest.plan.machines:
        ran = [each for each in record.histograms if each.machine == machine]
        lost = [each for each in ran if each.lost]
        never = len(record.entries) - len({each.test for each in ran})
        if lost:
            yield f"{lost[0].test} on {machine}: {lost[0].reason}; {times(len(lost))} that happened"
        if never:
            yield f"{never:,} of {len(record.entries):,} tests did not run on {machine}"


def sightings(record: Record) -> tuple[Sighting, ...]:
    """Every outcome that a machine showed, by test and machine."""
    found = []
    for histogram in record.histograms:
        if histogram.target > 0:
            forbidden = _models_that(record, histogram.test, forbid=True)
            found.append(
                Sighting(
                    histogram=histogram,
                    forbidden=forbidden,
                    allowed=_models_that(record, histogram.test, forbid=False),
                    broken=tuple(
                        name for name in forbidden if promises(record.model[name], histogram)
                    ),
                )
            )
    return tuple(found)


def promises(model: ModelInfo, histogram: Histogram | ProgramRun) -> bool:
    """Whether an outcome that the model forbids contradicts it when the histogram shows it.

    Sequential consistency is a wish; a hardware model speaks for its machines, and an emulator
    is none of them.
    """
    if model.role == "hardware":
        return not histogram.emulated and model.applies_to(histogram.arch)
    return model.role in ("language", "paper")


def _models_that(record: Record, test: str, *, forbid: bool) -> tuple[str, ...]:
    wanted = ("Never",) if forbid else ("Sometimes", "Always", "Undefined")
    return tuple(
        model for model in record.model if agreed_observation(record, test, model) in wanted
    )


# --- programs ---------------------------------------------------------------------------------


def violations(record: Record, finding: Finding) -> list[tuple[Exploration, Violation]]:
    """The violations that a finding tells of, a model each."""
    return [
        (exploration, violation)
        for exploration in record.explorations_of.get(finding.subject, ())
        for violation in exploration.violations
        if _VIOLATIONS[violation.kind] == finding.id
        and finding.message == _message(exploration, violation)
        and finding.sites[:1] == violation.sites[:1]
        and any(describe_exploration(exploration) == evidence.text for evidence in finding.evidence)
    ]


def _explorations(record: Record) -> Iterator[Finding]:
    """WS101 and its kin: one finding a violation, whatever models allow it; it is an error
    unless a claim says that it is there, or another that is there too: what goes wrong in one
    way often goes wrong in several, and after a data race in any."""
    known = {
        (program_name(structure.name, claim.scenario), model)
        for structure in record.structures
        for claim in structure.claims
        for exploration in record.explorations_of.get(
            program_name(structure.name, claim.scenario), ()
        )
        for model, expected in claim.explored.items()
        if model == exploration.model
        and exploration.result == "Violated"
        and explored_as(exploration, expected)
    }
    for name, explorations in record.explorations_of.items():
        found: dict[_Same, list[tuple[Exploration, Violation]]] = {}
        for exploration in explorations:
            for violation in exploration.violations:
                recorded = (name, exploration.model) in known
                message = _message(exploration, violation)
                key = (violation.kind, message, violation.sites[:1], recorded)
                found.setdefault(key, []).append((exploration, violation))
        for (kind, message, _, recorded), given in found.items():
            yield Finding(
                id=_VIOLATIONS[kind],
                severity="error",
                message=message,
                subject=name,
                sites=unique(site for _, violation in given for site in violation.sites),
                evidence=(
                    *(
                        Evidence("exploration", describe_exploration(exploration))
                        for exploration, _ in given
                    ),
                    *(
                        Evidence("histogram", seen)
                        for run in record.runs_of.get(name, ())
                        for failure in run.failures
                        if _same(kind, given, failure) and (seen := describe_failure(run, failure))
                    ),
                ),
                fix="" if recorded else _mending(_VIOLATIONS[kind], explorations, given),
                recorded=recorded,
            )


def _same(kind: str, given: Sequence[tuple[Exploration, Violation]], failure: Failure) -> bool:
    """Whether a machine shows what explorations found: the same assertion, or a hang."""
    sites = {site for _, violation in given for site in violation.sites[:1]}
    return kind == failure.kind and (not failure.site or failure.site in sites)


def _failures(record: Record) -> Iterator[Finding]:
    """What a machine showed of programs as a whole and no exploration found: WS201 where a model
    that speaks for the machine says Safe, else WS101 and its kin."""
    known = {
        program_name(structure.name, claim.scenario)
        for structure in record.structures
        for claim in structure.claims
        if any(each.startswith("Violated") for each in claim.explored.values())
    }
    for run in record.runs:
        given = record.explorations_of.get(run.program, ())
        safe = [
            each
            for each in given
            if each.result == "Safe" and promises(record.model[each.model], run)
        ]
        for failure in run.failures:
            found = [(each, one) for each in given for one in each.violations]
            if any(_same(one.kind, [(each, one)], failure) for each, one in found) and not safe:
                continue  # told there
            name = "WS201" if safe else _FAILURES[failure.kind]
            forbidden = f", Safe under {', '.join(each.model for each in safe)}" if safe else ""
            emulated = " (emulated)" if run.emulated else ""
            yield Finding(
                id=name,
                severity=_gravity(run) if safe else "error",
                message=f"{run.program}: {failure.message}: seen {times(failure.count)} on "
                f"{run.machine}{emulated}{forbidden}",
                subject=run.program,
                sites=(failure.site,) if failure.site else (),
                evidence=(
                    Evidence("histogram", describe_failure(run, failure)),
                    *(Evidence("exploration", describe_exploration(each)) for each in safe),
                ),
                fix=_suspect(run) if safe else _SHOWN,
                recorded=_differ(record, run, safe) if safe else run.program in known,
            )


def _differ(record: Record, run: ProgramRun, safe: Sequence[Exploration]) -> bool:
    """Whether a claim says that the program is Safe under these models and not under another one
    that speaks for the machine: then a machine that shows it is what is recorded."""
    return any(
        all(claim.explored.get(each.model) == "Safe" for each in safe)
        and any(
            expected.startswith("Violated") and promises(record.model[model], run)
            for model, expected in claim.explored.items()
            if model in record.model
        )
        for structure in record.structures
        for claim in structure.claims
        if program_name(structure.name, claim.scenario) == run.program
    )


_Same = tuple[str, str, tuple[str, ...], bool]  # kind, message, place, and whether it is recorded


def _message(exploration: Exploration, violation: Violation) -> str:
    return f"{exploration.program}: {violation.message}"


def _mending(
    name: str, explorations: Sequence[Exploration], given: Sequence[tuple[Exploration, Violation]]
) -> str:
    """Whether a memory order is to blame: what happens under sc none repairs."""
    violated = {exploration.model for exploration, _ in given}
    tests = unique(violation.test for _, violation in given if violation.test)
    cycle = f"; its cycle is the test {', '.join(tests)}" if tests else ""
    if name == "WS102":  # sequential consistency knows of no races
        return KINDS[name].advice.rstrip(".") + cycle
    if "sc" in violated:
        return "it happens under sequential consistency too: no memory order repairs it"
    if any(each.model == "sc" and each.result != "Unknown" for each in explorations):
        return f"it does not happen under sequential consistency: an order is too weak{cycle}"
    return f"see whether it happens under sc too: then no memory order repairs it{cycle}"


# --- disallowed outcomes ----------------------------------------------------------------------


def _disallowed(record: Record) -> Iterator[Finding]:
    """WS201: one finding a test and machine, naming every model it contradicts."""
    for histogram in record.histograms:
        broken: list[tuple[Verdict, str]] = []
        for model in record.model.values():
            if not promises(model, histogram):
                continue
            decided = conclusive(record.verdicts_of.get((histogram.test, model.name), ()))
            seen = [what for verdict in decided if (what := _outside(verdict, histogram))]
            if seen and len(seen) == len(decided):  # else the checkers disagree: WS401
                broken.append((decided[0], seen[0]))
        for known in (False, True):
            here = [
                (verdict, what)
                for verdict, what in broken
                if _is_recorded(record, verdict, histogram) is known
            ]
            if here:
                yield _contradiction(histogram, here, known)


def _contradiction(
    histogram: Histogram, broken: Sequence[tuple[Verdict, str]], known: bool
) -> Finding:
    models = ", ".join(verdict.model for verdict, _ in broken)
    emulated = " (emulated)" if histogram.emulated else ""
    return Finding(
        id="WS201",
        severity=_gravity(histogram),
        message=f"{histogram.test}: {broken[0][1]} on {histogram.machine}{emulated}, "
        f"forbidden by {models}",
        subject=histogram.test,
        sites=histogram.sites or broken[0][0].sites,
        evidence=(
            Evidence("histogram", describe_histogram(histogram)),
            *(Evidence("verdict", describe_verdict(verdict)) for verdict, _ in broken),
        ),
        fix="" if known else _suspect(histogram),
        recorded=known,
    )


def _gravity(seen: Histogram | ProgramRun) -> Literal["error", "warning"]:
    """How grave a contradiction is: an emulator's mistakes are nobody's who wrote the program."""
    return "warning" if seen.emulated else "error"


def _suspect(seen: Histogram | ProgramRun) -> str:
    return _EMULATOR if seen.emulated else KINDS["WS201"].advice


def _is_recorded(record: Record, verdict: Verdict, histogram: Histogram) -> bool:
    """Whether a claim knows of this outcome on this kind of machine, and no other state is new.
    What is known of any real machine surprises nobody on an emulated one."""
    strange = sum(
        count.count
        for count in histogram.histogram
        if verdict.states and not within(count.state, verdict.states)
    )
    return strange <= histogram.target and any(
        claim.test == verdict.test
        and claim.verdict.get(verdict.model) == "Never"
        and (histogram.arch in claim.seen or (histogram.emulated and len(claim.seen) > 0))
        for structure in record.structures
        for claim in structure.claims
    )


def _outside(verdict: Verdict, histogram: Histogram) -> str:
    """What of the histogram the verdict does not allow, in words; empty when nothing."""
    if verdict.observation == "Undefined":  # a racy program may do anything
        return ""
    if verdict.observation == "Never" and histogram.target > 0:
        return f"the outcome was seen {times(histogram.target)}"
    for count in histogram.histogram:
        if count.count and verdict.states and not within(count.state, verdict.states):
            return f"the state {state_text(count.state)} was seen {times(count.count)}"
    counted_runs = sum(count.count for count in histogram.histogram)
    if verdict.observation == "Always" and histogram.target < counted_runs:
        missed = counted_runs - histogram.target
        return f"the outcome, which always holds, failed {times(missed)}"
    return ""


# --- checkers ---------------------------------------------------------------------------------


def _disagreements(record: Record) -> Iterator[Finding]:
    """WS401: each pair of answers to one question that cannot both be right."""
    for (test, model), verdicts in record.verdicts_of.items():
        decided = conclusive(verdicts)
        clash = next(
            (
                (one, other)
                for index, one in enumerate(decided)
                for other in decided[index + 1 :]
                if contradicts(one, other)
            ),
            None,
        )
        if clash is None:
            continue
        one, other = clash
        if one.observation == other.observation:
            what = f"{one.checker} and {other.checker} list different states"
        else:
            what = f"{one.checker} says {one.observation}, {other.checker} says {other.observation}"
        yield Finding(
            id="WS401",
            severity="error",
            message=f"{test} under {model}: {what}",
            subject=test,
            sites=one.sites or other.sites,
            evidence=tuple(Evidence("verdict", describe_verdict(verdict)) for verdict in decided),
            fix=KINDS["WS401"].advice,
        )


# --- compilers --------------------------------------------------------------------------------


def _weaker(record: Record) -> Iterator[Finding]:
    """WS202: one finding a code that allows what its source forbids."""
    for each in record.compiled:
        if each.result != "Weaker":
            continue
        more = f" and {len(each.beyond) - 1} more" if len(each.beyond) > 1 else ""
        yield Finding(
            id="WS202",
            severity="error",
            message=f"{each.source} by {', '.join(each.builds)} for {each.target}: the code allows "
            f"{state_text(each.beyond[0])}{more}, which {each.model} forbids",
            subject=each.source,
            sites=each.sites,
            evidence=(
                Evidence("code", f"as a test, under {each.machine}:\n{each.test.text}")
                if each.test is not None
                else Evidence("verdict", f"under {each.machine}"),
                Evidence("code", f"the machine code:\n{each.assembly}"),
            ),
            fix=KINDS["WS202"].advice,
        )


# --- silence ----------------------------------------------------------------------------------


def _silence(record: Record) -> Iterator[Finding]:
    """WS402: one note a machine, that counts what is allowed there and was not seen."""
    for machine, histograms in _by_machine(
        each for each in record.histograms if each.iterations and _expected(record, each)
    ):
        seen = {each.test for each in histograms if each.target}
        tests = {each.test for each in histograms}
        if seen == tests:
            continue
        runs = min(each.iterations for each in histograms)
        yield Finding(
            id="WS402",
            severity="note",
            message=f"{machine}: {len(tests) - len(seen)} of {len(tests)} outcomes that every "
            f"model allows were not seen, in {rounded(runs)} iterations or more each"
            f"{_emulated(histograms)}",
            subject=machine,
            evidence=_by_shape(record, tests, seen, "seen"),
            fix=KINDS["WS402"].advice,
        )


def _mute(record: Record) -> Iterator[Finding]:
    """WS402: one note a machine, that counts what a model forbids, was not seen, and could not
    have been expected to be, since no sibling of it was seen either."""
    for machine, histograms in _by_machine(
        each
        for each in record.histograms
        if each.controls
        and each.iterations
        and not each.target
        and _models_that(record, each.test, forbid=True)
    ):
        mute = {each.test for each in histograms if has_no_observed_variant(each)}
        tests = {each.test for each in histograms}
        if mute:
            yield Finding(
                id="WS402",
                severity="note",
                message=f"{machine}: of {len(tests)} outcomes that a model forbids and that were "
                f"not seen, {len(mute)} have no sibling that was: their silence says nothing"
                f"{_emulated(histograms)}",
                subject=machine,
                evidence=_by_shape(record, tests, tests - mute, "with a sibling that was seen"),
                fix=KINDS["WS402"].advice,
            )


def _controls(record: Record) -> Iterator[Finding]:
    """WS403: one finding a machine and runner, whose controls show what cannot be."""
    describe_failure: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for histogram in record.histograms:
        for control in histogram.controls:
            if control.wrong:
                describe_failure[histogram.machine, histogram.runner][histogram.test] = (
                    control.wrong
                )
    for (machine, runner), tests in describe_failure.items():
        first = next(iter(tests))
        yield Finding(
            id="WS403",
            severity="error",
            message=f"{runner} on {machine}: {times(len(tests))} a control failed: with all fences "
            f"{first} showed {tests[first]}",
            subject=machine,
            evidence=tuple(
                Evidence("histogram", f"{test}, fenced: {wrong}") for test, wrong in tests.items()
            ),
            fix=KINDS["WS403"].advice,
        )


def _emulated(histograms: Sequence[Histogram]) -> str:
    return f" ({EMULATED})" if any(each.emulated for each in histograms) else ""


def _by_machine(histograms: Iterable[Histogram]) -> Iterator[tuple[str, list[Histogram]]]:
    found: defaultdict[str, list[Histogram]] = defaultdict(list)
    for histogram in histograms:
        found[histogram.machine].append(histogram)
    yield from found.items()


def _by_shape(
    record: Record, tests: Iterable[str], those: Collection[str], what: str
) -> tuple[Evidence, ...]:
    """How many of the tests of each shape are among those."""
    shapes: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for test in tests:
        entry = record.entry.get(test)
        shapes[(entry.test.shape if entry else "") or "other"][test in those] += 1
    return tuple(
        Evidence("histogram", f"{shape}: {count[True]} of {count.total()} {what}")
        for shape, count in sorted(shapes.items())
    )


def _expected(record: Record, histogram: Histogram) -> bool:
    """Whether every model that speaks of this machine allows the outcome, and one does."""
    said = [
        agreed_observation(record, histogram.test, model.name)
        for model in record.model.values()
        if model.role == "language"
        or (model.role == "hardware" and model.applies_to(histogram.arch))
    ]
    decided = [each for each in said if each is not None]
    return bool(decided) and all(each in ("Sometimes", "Always", "Undefined") for each in decided)
