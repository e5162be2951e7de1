"""Programs that go wrong, as an exploration or a run of the whole program shows: WS101 to WS108.
Explorations that go wrong, as their audit shows: WS404."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from weakspot.harness.corpus import models
from weakspot.harness.judge.claims import matches_recorded
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.observations import can_contradict, emulator_severity, likely_cause
from weakspot.harness.values.claims import is_violation
from weakspot.harness.values.descriptions import describe_failure, evidence_of
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.numbers import times
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import Record, unique
from weakspot.harness.values.repair import SuggestedRepair

_VIOLATIONS = {
    "assertion": "WS101",
    "race": "WS102",
    "hang": "WS103",
    "uninitialised": "WS104",
    "memory": "WS104",
    "lock": "WS105",
    "unjoined": "WS106",
    "linearizability": "WS107",
    "flag": "WS108",
    "missed": "WS404",
}
_OF_MODEL = ("WS102", "WS108")
"""What a model may define that sc does not."""
_FAILURES = {"assertion": "WS101", "hang": "WS103", "crash": "WS104"}
_CHECK = (
    "`weakspot check` reports the models under which this happens, with an execution that shows it"
)

_MARKED = (
    "mark both accesses, with READ_ONCE or WRITE_ONCE, or order the two: smp_store_release and "
    "smp_load_acquire"
)
_WITHOUT_CYCLE = "threads that merely take turns do this, so no memory order prevents it"
_UNDECIDED = "no execution is shown that tells whether an order or a fence is too weak"
_TOO_WEAK = "threads that merely take turns do not do this: an order or a fence is too weak"

_Found = Sequence[tuple[Exploration, Violation]]
_Same = tuple[str, str, bool]  # identity, what models say of it, whether it is recorded


def violations_of(record: Record, finding: Finding) -> list[tuple[Exploration, Violation]]:
    """The violations that a finding reports, one per model."""
    return [
        (exploration, violation)
        for exploration in record.explorations_of.get(finding.subject, ())
        for violation in (*exploration.violations, *exploration.warnings)
        if exploration.model in finding.models and violation.key == finding.violation
    ]


def explored(record: Record) -> Iterator[Finding]:
    """One finding per violation, with all models that allow it.

    It counts as recorded if a claim records this violation or another one of the same program and
    model: a program that goes wrong in one way often goes wrong in several, and after a data race
    its behaviour is undefined.
    """
    known = {
        (exploration.program, exploration.model)
        for structure, claim in record.claims
        for exploration in record.explorations_of.get(structure.program_of(claim), ())
        for model, expected in claim.explored.items()
        if model == exploration.model
        and exploration.result == "Violated"
        and matches_recorded(exploration, expected)
    }
    for name, explorations in record.explorations_of.items():
        found: dict[_Same, list[tuple[Exploration, Violation]]] = {}
        for exploration in explorations:
            for violation in (*exploration.violations, *exploration.warnings):
                recorded = (name, exploration.model) in known
                key = (violation.key, _aside(exploration, violation, explorations), recorded)
                found.setdefault(key, []).append((exploration, violation))
        for (identity, aside, recorded), given in found.items():
            kind, message = given[0][1].kind, given[0][1].message
            yield Finding(
                id=_VIOLATIONS[kind],
                severity=KINDS[_VIOLATIONS[kind]].severity,
                message=f"{name}: {message}{f' ({aside})' if aside else ''}",
                subject=name,
                sites=unique(site for _, violation in given for site in violation.sites),
                evidence=(
                    *(evidence_of(exploration) for exploration, _ in given),
                    *(
                        Evidence("histogram", describe_failure(run, failure))
                        for run in record.runs_of.get(name, ())
                        for failure in run.failures
                        if _is_same(kind, given, failure)
                    ),
                ),
                fix="" if recorded else _fix(_VIOLATIONS[kind], record, explorations, given),
                recorded=recorded,
                cause=_cause(_VIOLATIONS[kind], record, name, given),
                violation=identity,
                models=tuple(exploration.model for exploration, _ in given),
            )


def run(record: Record) -> Iterator[Finding]:
    """Failures of whole programs on a machine that no exploration found.

    A failure is WS201 if a model that applies to the machine says Safe, else WS101, WS103 or WS104.
    """
    known = {
        structure.program_of(claim)
        for structure, claim in record.claims
        if any(is_violation(each) for each in claim.explored.values())
    }
    for run in record.runs:
        given = record.explorations_of.get(run.program, ())
        safe = [
            each
            for each in given
            if each.result == "Safe" and can_contradict(record.model[each.model], run)
        ]
        for failure in run.failures:
            found = [(each, one) for each in given for one in each.violations]
            if any(_is_same(one.kind, [(each, one)], failure) for each, one in found) and not safe:
                continue  # the finding of the exploration has this run as evidence
            forbidden = f", Safe under {', '.join(each.model for each in safe)}" if safe else ""
            emulated = " (emulated)" if run.emulated else ""
            yield Finding(
                id="WS201" if safe else _FAILURES[failure.kind],
                severity=emulator_severity(run) if safe else "error",
                message=f"{run.program}: {failure.message}: observed {times(failure.count)} on "
                f"{run.machine}{emulated}{forbidden}",
                subject=run.program,
                sites=(failure.site,) if failure.site else (),
                evidence=(
                    Evidence("histogram", describe_failure(run, failure)),
                    *map(evidence_of, safe),
                ),
                fix=likely_cause(run) if safe else _CHECK,
                recorded=_models_differ(record, run, safe) if safe else run.program in known,
            )


def _is_same(kind: str, given: _Found, failure: Failure) -> bool:
    """Whether a machine shows what explorations found: the same assertion, or a hang."""
    sites = {site for _, violation in given for site in violation.sites[:1]}
    return kind == failure.kind and (not failure.site or failure.site in sites)


def _models_differ(record: Record, run: ProgramRun, safe: Sequence[Exploration]) -> bool:
    """Whether a claim records the program as Safe under these models and as Violated under another
    model that applies to the machine: then the failure is what the claim predicts."""
    return any(
        all(claim.explored.get(each.model) == "Safe" for each in safe)
        and any(
            is_violation(expected) and can_contradict(record.model[model], run)
            for model, expected in claim.explored.items()
            if model in record.model
        )
        for structure, claim in record.claims
        if structure.program_of(claim) == run.program
    )


def _aside(
    exploration: Exploration, violation: Violation, explorations: Sequence[Exploration]
) -> str:
    """What the models say of a violation that do not agree: that earlier editions of the standard
    permit the program, or that machines do more than the model of the language says."""
    known = models.load()
    model = known.get(exploration.model)
    if model is not None and violation.absent_under:
        return model.permitted
    if model is not None and model.acyclic == "dependencies" and violation.kind != "unjoined":
        language = {name for name, each in known.items() if each.role == "language"}
        safe = [each.model for each in explorations if each.result == "Safe"]
        safe = [name for name in safe if name in language]
        weaker = next((each.beyond for each in known.values() if each.beyond), "")
        if safe and weaker:
            return f"safe under {' and '.join(safe)}; {weaker}"
    return ""


def repair_of(record: Record, finding: Finding) -> SuggestedRepair | None:
    """The repair that prevents what a finding reports."""
    if finding.recorded or finding.id == "WS106":
        return None
    return _repair(record, finding.subject, finding.models)


def _repair(record: Record, program: str, violated: Container[str]) -> SuggestedRepair | None:
    """The repair that prevents violations of a program under these models."""
    repair = record.repair_of.get(program)
    return repair if repair is not None and repair.fix and repair.model in violated else None


def _cause(name: str, record: Record, program: str, given: _Found) -> str:
    """What one change mends: the annotations that the repair changes, or the critical cycle."""
    if name == "WS106":
        return ""
    if repair := _repair(record, program, {exploration.model for exploration, _ in given}):
        return ", ".join(need.at for need in repair.changes)
    test = next((violation.test for _, violation in given if violation.test), "")
    return f"{program} {test}" if test else ""


def _fix(name: str, record: Record, explorations: Sequence[Exploration], given: _Found) -> str:
    """The memory order that repairs the program, or whether a stronger one can help: it cannot if
    the violation happens under sc."""
    violated = {exploration.model for exploration, _ in given}
    tests = unique(violation.test for _, violation in given if violation.test)
    cycle = f"; the witness's cycle is the test {', '.join(tests)}" if tests else ""
    if name in ("WS106", "WS404"):
        return KINDS[name].advice
    if repair := _repair(record, explorations[0].program, violated):
        return repair.fix + cycle
    kernel = violated.issubset(models.OF_KERNEL)
    if kernel and name == "WS102":
        return _MARKED + cycle
    if name in _OF_MODEL:
        return KINDS[name].advice.rstrip(".") + cycle
    if kernel:
        witnesses = [violation.witness for _, violation in given]
        if any(witness is not None and not witness.cycle for witness in witnesses):
            return _WITHOUT_CYCLE
        return (_UNDECIDED if None in witnesses else _TOO_WEAK) + cycle
    if "sc" in violated:
        return "this also happens under sequential consistency, so no memory order prevents it"
    if any(each.model == "sc" and each.result != "Unknown" for each in explorations):
        return (
            f"this does not happen under sequential consistency: a memory order is too weak{cycle}"
        )
    return (
        "check whether this happens under sc too; if it does, no memory order prevents it" + cycle
    )
