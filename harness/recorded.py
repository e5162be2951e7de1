"""What claims.toml and the golden tests record, against what a campaign found: WS001.

A claim is compared with every answer to its question. A model that was not checked is not
compared, and that is said; a recorded sighting that did not happen again is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weakspot.harness.agreement import answers
from weakspot.harness.findings import KINDS
from weakspot.harness.record import Record, StructureNote, program
from weakspot.harness.structures import Claim
from weakspot.harness.verdict import Evidence, Finding, Observation, Verdict
from weakspot.harness.words import answered, counted, rounded, said, told


def compare(record: Record) -> Iterator[Finding]:
    """WS001: claims and golden tests against what was found."""
    for structure in record.structures:
        if structure.drift:
            yield _drift(structure)
        unchecked: Counter[str] = Counter()
        for claim in structure.claims:
            if claim.interleavings:
                yield from _interleavings(record, structure, claim)
            else:
                yield from _verdicts(record, structure, claim, unchecked)
                yield from _sight(record, structure, claim)
        for model, count in unchecked.items():
            yield Finding(
                id="WS001",
                severity="note",
                message=f"{structure.name}: {model} was not checked in this run, so {count} "
                f"recorded {'verdict is' if count == 1 else 'verdicts are'} not compared",
                subject=structure.name,
            )


def _drift(structure: StructureNote) -> Finding:
    def names(label: str, tests: Sequence[str]) -> Iterator[Evidence]:
        if tests:
            more = f" and {len(tests) - 5} more" if len(tests) > 5 else ""
            yield Evidence("claim", f"{label}: {', '.join(tests[:5])}{more}")

    drift = structure.drift
    return Finding(
        id="WS001",
        severity="error",
        message=f"{structure.name}: the generated tests differ from the golden files",
        subject=structure.name,
        evidence=(
            *names("no longer generated", drift.missing),
            *names("new", drift.added),
            *names("changed", drift.changed),
        ),
        fix=f"look at the difference, then run `weakspot gen {structure.name} --promote`",
    )


def _interleavings(record: Record, structure: StructureNote, claim: Claim) -> Iterator[Finding]:
    name = program(structure.name, claim.scenario)
    found = [each for each in record.explorations if each.program == name and each.model == "sc"]
    if not found:
        yield _mismatch(structure, claim, f"{name}: its interleavings were not explored")
    for exploration in found:
        if exploration.result not in ("Unknown", claim.interleavings):
            yield _mismatch(
                structure,
                claim,
                f"{name}: recorded as {claim.interleavings} under sequential consistency, "
                f"found {exploration.result}",
                Evidence("exploration", told(exploration)),
            )


def _verdicts(
    record: Record, structure: StructureNote, claim: Claim, unchecked: Counter[str]
) -> Iterator[Finding]:
    entry = record.entry.get(claim.test)
    if entry is None or structure.name not in entry.structures:
        yield _mismatch(structure, claim, f"{claim.test}: no such test is generated")
        return
    scenarios = {
        origin.scenario for origin in entry.test.origins if origin.structure == structure.name
    }
    if claim.scenario and scenarios and claim.scenario not in scenarios:
        yield _mismatch(
            structure,
            claim,
            f"{claim.test}: comes from {', '.join(sorted(scenarios))}, "
            f"recorded for {claim.scenario}",
        )
    for model, expected in claim.verdict.items():
        verdicts = record.verdicts_of.get((claim.test, model))
        if not verdicts:
            unchecked[model] += 1
            continue
        wrong = [each for each in answers(verdicts) if not fits(each, expected)]
        if wrong:
            yield _mismatch(
                structure,
                claim,
                f"{claim.test} under {model}: recorded as {expected}, "
                f"{wrong[0].checker} finds {wrong[0].observation}",
                *(Evidence("verdict", answered(each)) for each in verdicts),
            )


def fits(verdict: Verdict, expected: Observation) -> bool:
    if verdict.observation == expected:
        return True
    if verdict.states:
        return False
    if expected == "Undefined":  # it knows nothing of races
        return True
    return (verdict.observation == "Never") == (expected == "Never")


def _sight(record: Record, structure: StructureNote, claim: Claim) -> Iterator[Finding]:
    """A recorded sighting that did not happen again is a note: chance, not contradiction."""
    for arch in claim.seen:
        tried = [
            each
            for each in record.histograms_of.get(claim.test, ())
            if each.arch == arch and not each.emulated and each.iterations
        ]
        if tried and not any(each.target for each in tried):
            runs = rounded(sum(each.iterations for each in tried))
            yield Finding(
                id="WS001",
                severity="note",
                message=f"{claim.test}: recorded as seen on {arch}, not seen this time in {runs} "
                "iterations",
                subject=claim.test,
                evidence=(
                    Evidence("claim", said(structure, claim)),
                    *(Evidence("histogram", counted(each)) for each in tried),
                ),
            )


def _mismatch(structure: StructureNote, claim: Claim, message: str, *evidence: Evidence) -> Finding:
    return Finding(
        id="WS001",
        severity="error",
        message=message,
        subject=claim.test or program(structure.name, claim.scenario),
        evidence=(Evidence("claim", said(structure, claim)), *evidence),
        fix=KINDS["WS001"].advice,
    )
