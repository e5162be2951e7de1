"""The answer that a litmus file expects, compared with the one it got.

`~exists` expects Never and `forall` expects Always. `exists` expects nothing, unless a comment
states the expected answer as the Linux kernel's litmus tests do: `(* Result: Sometimes *)`. A line
that names models (`Result: Never under sc tso`) applies to these, one without to all others.
"""

from __future__ import annotations

import re

from weakspot.generators.litmus import Test
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.descriptions import evidence_of
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.verdict import Verdict

_RESULT = re.compile(
    r"\bResult:[ \t]*(Never|Sometimes|Always|Undefined)\b(?:[ \t]+under[ \t]+([\w ,.+-]+?)[ \t]*)?"
    r"[ \t]*(?=\*\)|\n|$)"
)


def expectation(test: Test, model: str) -> str:
    """The observation that the file expects under the model; empty if it expects none."""
    general = ""
    for match in _RESULT.finditer(test.text):
        names = re.split(r"[\s,]+", match[2]) if match[2] else []
        if model in names:
            return match[1]
        if not names:
            general = match[1]
    if general:
        return general
    quantifier = test.condition.partition("(")[0].strip()
    return {"~exists": "Never", "forall": "Always"}.get(quantifier, "")


def unmet_expectation(test: Test, verdict: Verdict) -> Finding | None:
    """A WS001 finding if the answer differs from what the file expects."""
    expected = expectation(test, verdict.model)
    if not expected or verdict.observation in (expected, "Unknown"):
        return None
    return Finding(
        id="WS001",
        severity="error",
        message=f"{test.name} under {verdict.model}: the file expects {expected}, "
        f"{verdict.checker} answers {verdict.observation}",
        subject=test.name,
        evidence=(evidence_of(verdict),),
        fix=KINDS["WS001"].advice,
    )
