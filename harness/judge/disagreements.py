"""Checkers that contradict each other: WS401."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.agreement import conclusive, contradicts
from weakspot.harness.values.descriptions import evidence_of
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import Record


def between_checkers(record: Record) -> Iterator[Finding]:
    """One finding per test and model, for the first two answers that cannot both be right."""
    for (test, model), verdicts in record.verdicts_of.items():
        decided = conclusive(verdicts)
        pairs = itertools.combinations(decided, 2)
        clash = next(((one, other) for one, other in pairs if contradicts(one, other)), None)
        if clash is None:
            continue
        one, other = clash
        if one.observation == other.observation:
            what = f"{one.checker} and {other.checker} list different states"
        else:
            what = (
                f"{one.checker} answers {one.observation}, "
                f"{other.checker} answers {other.observation}"
            )
        yield Finding(
            id="WS401",
            severity="error",
            message=f"{test} under {model}: {what}",
            subject=test,
            sites=one.sites or other.sites,
            evidence=tuple(map(evidence_of, decided)),
            fix=KINDS["WS401"].advice,
        )
