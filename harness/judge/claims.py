"""What claims.toml and the golden tests record, compared with what a campaign found: WS001.

A claim is compared with every answer to its question. If a claim's model was not checked in this
campaign, a note says so; a recorded observation on hardware that did not happen again is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.agreement import conclusive
from weakspot.harness.values.claims import Claim, Explored
from weakspot.harness.values.descriptions import describe_claim, evidence_of, exploration_outcome
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount, rounded
from weakspot.harness.values.record import Record, StructureInfo, program_name, unique
from weakspot.harness.values.verdict import Observation, Verdict


def compare(record: Record) -> Iterator[Finding]:
    """Every difference between what is recorded and what the campaign found."""
    for structure in record.structures:
        if structure.drift:
            yield _drift(structure)
        unchecked: Counter[str] = Counter()
        for claim in structure.claims:
            yield from _compared(record, structure, claim, unchecked)
        for model, count in (+unchecked).items():
            yield Finding(
                id="WS001",
                severity="note",
                message=f"{structure.name}: {amount(count, 'recorded answer')} for {model} not "
                "compared, since this run did not check it",
                subject=structure.name,
            )


def _compared(
    record: Record, structure: StructureInfo, claim: Claim, unchecked: Counter[str]
) -> Iterator[Finding]:
    if not claim.explored and (why := _not_generated(record, structure, claim)):
        yield _mismatch(structure, claim, f"{claim.test}: {why}")
        return
    for each, found, answers in _answers(record, structure.name, claim):
        if each.fits is False:
            subject = f"{each.test or structure.program_of(claim)} under {each.under}"
            yield _mismatch(
                structure, claim, f"{subject}: recorded as {each.recorded}, {found}", answers
            )
        elif each.under in claim.seen:
            if answers and not each.fits:  # chance, not contradiction
                observed = f"{claim.test}: recorded as observed on {each.under}; {found}"
                yield _mismatch(structure, claim, observed, answers, severity="note")
        elif not answers:
            unchecked[each.under] += 1


def standing(record: Record, structures: Iterable[StructureInfo]) -> str:
    """How the claims of structures stand: `238 of 239 claims confirmed; 1 not observed this time`;
    empty without claims.

    A claim differs, or was not observed, if `compare` finds that. Else it is confirmed as far as
    its answers are known: for all of its models and kinds of machine, for some, or for none.
    """
    counts = Counter(
        _standing(record, structure, claim)
        for structure in structures
        for claim in structure.claims
    )
    if not counts:
        return ""
    differing = counts["differ"]
    rest = [
        ("differs" if differing == 1 else "differ", differing),
        *((name, counts[name]) for name in _PARTIAL),
    ]
    return "; ".join(
        [
            f"{counts['confirmed']} of {amount(counts.total(), 'claim')} confirmed",
            *(f"{count} {name}" for name, count in rest if count),
        ]
    )


def confirmed(record: Record) -> int:
    """How many claims are confirmed for all of their models and kinds of machine."""
    return sum(_standing(record, *each) == "confirmed" for each in record.claims)


_PARTIAL = ("not observed this time", "confirmed in part", "not checked")


def _standing(record: Record, structure: StructureInfo, claim: Claim) -> str:
    found = [each.severity for each in _compared(record, structure, claim, Counter())]
    if found:
        return "differ" if "error" in found else "not observed this time"
    fits = [each.fits for each in claim_answers(record, structure.name, claim)]
    if not any(fits):
        return "not checked"
    return "confirmed" if all(fits) else "confirmed in part"


def _drift(structure: StructureInfo) -> Finding:
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
        fix=f"review the difference, then run `weakspot gen {structure.name} --promote`",
    )


def matches_recorded(exploration: Exploration, expected: Explored) -> bool | None:
    """Whether an exploration found what is recorded; None if a limit left that open."""
    if exploration.result == "Violated":
        return any(f"Violated: {each.kind}" == expected for each in exploration.violations)
    if exploration.result == expected:
        return True
    return None if exploration.result == "Unknown" else False


def _not_generated(record: Record, structure: StructureInfo, claim: Claim) -> str:
    """Why the test of a claim is not one that its scenario generates; empty if it is."""
    entry = record.entry.get(claim.test)
    if entry is None or structure.name not in entry.structures:
        return "no scenario generates this test"
    scenarios = {
        origin.scenario for origin in entry.test.origins if origin.structure == structure.name
    }
    if claim.scenario and scenarios and claim.scenario not in scenarios:
        return f"generated from {', '.join(sorted(scenarios))}, but recorded for {claim.scenario}"
    return ""


def is_consistent(verdict: Verdict, expected: Observation) -> bool:
    """Whether the verdict agrees with the expected one, as far as its checker can determine."""
    if verdict.observation == expected:
        return True
    if verdict.states:
        return False
    if expected == "Undefined":  # this checker does not detect data races
        return True
    return (verdict.observation == "Never") == (expected == "Never")


def _mismatch(
    structure: StructureInfo,
    claim: Claim,
    message: str,
    answers: Iterable[Exploration | Verdict | Histogram] = (),
    severity: Literal["error", "note"] = "error",
) -> Finding:
    return Finding(
        id="WS001",
        severity=severity,
        message=message,
        subject=claim.test or structure.program_of(claim),
        evidence=(Evidence("claim", describe_claim(structure, claim)), *map(evidence_of, answers)),
        fix=KINDS["WS001"].advice if severity == "error" else "",
    )


# --- which tool answered what -----------------------------------------------------------------


class ClaimAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim records for one model, or one kind of machine, and what a campaign found.

    `under` is the model, or the kind of machine of an observation. `by` are the tools that answered
    ("exploration", names of checkers) or the machines that showed the outcome; it is empty if the
    campaign did not decide the claim. `fits` is then None, and also if a limit left it open.
    """

    structure: str
    scenario: str
    test: str
    where: str
    says: str
    under: str
    recorded: str
    found: str
    fits: bool | None
    by: tuple[str, ...]


def claim_answers(record: Record | None, structure: str, claim: Claim) -> tuple[ClaimAnswer, ...]:
    """What the campaign found for a claim, model by model; without a campaign, nothing."""
    return tuple(each for each, _, _ in _answers(record, structure, claim))


_Answers = Sequence[Exploration] | Sequence[Verdict] | Sequence[Histogram]


def _answers(
    record: Record | None, structure: str, claim: Claim
) -> Iterator[tuple[ClaimAnswer, str, _Answers]]:
    """See `claim_answers`; each with what was found in words, and the answers that show it."""

    def entry(
        under: str, recorded: str, found: str, fits: bool | None, by: Iterable[str]
    ) -> ClaimAnswer:
        return ClaimAnswer(
            structure=structure,
            scenario=claim.scenario,
            test=claim.test,
            where=claim.where,
            says=claim.says,
            under=under,
            recorded=recorded,
            found=found,
            fits=fits,
            by=tuple(by),
        )

    name = program_name(structure, claim.scenario)
    explorations = record.explorations_of.get(name, ()) if record else ()
    explored = {each.model: each for each in explorations}
    for model, expected in (claim.explored | claim.machines).items():
        each = explored.get(model)
        if each is not None:
            found, fits = exploration_outcome(each), matches_recorded(each, expected)
            by = ["exploration"] if fits is not None else []
            yield entry(model, expected, found, fits, by), f"found {found}", (each,)
        elif model in claim.explored:
            yield entry(model, expected, "", None, ()), "", ()
    for model, observation in claim.verdict.items():
        verdicts = record.verdicts_of.get((claim.test, model), ()) if record else ()
        decided = conclusive(verdicts)
        wrong = [verdict for verdict in decided if not is_consistent(verdict, observation)]
        first = next(iter(wrong or decided), None)
        answer = entry(
            model,
            observation,
            first.observation if first else "",
            not wrong if decided else None,
            unique(verdict.checker for verdict in decided),
        )
        yield answer, f"{first.checker} answers {first.observation}" if first else "", verdicts
    for arch in claim.seen:
        runs = record.histograms_of.get(claim.test, ()) if record else ()
        ran = [each for each in runs if each.arch == arch and not each.emulated and each.iterations]
        by = [*unique(each.machine for each in ran if each.target)]
        found = "seen" if by else "not seen" if ran else ""
        iterations = rounded(sum(each.iterations for each in ran))
        yield (
            entry(arch, "seen", found, True if by else None, by),
            f"not observed this time in {iterations} iterations",
            ran,
        )
