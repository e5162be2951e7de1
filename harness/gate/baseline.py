"""The baseline: the findings that a project accepts, in a file under review like its source.

A finding is identified by its id, file, function and the text of its line: moving the line keeps
it accepted, changing the line makes it a new finding.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.gate.outcome import BAD_INPUT, AcceptedFinding, GateOutcome
from weakspot.harness.values.record import digest
from weakspot.system.files import pretty, replace, value


class _File(msgspec.Struct, forbid_unknown_fields=True):
    accepted: tuple[AcceptedFinding, ...] = ()


def fingerprint(id: str, file: str, function: str, text: str) -> str:
    """The identity of a finding, which does not change when lines move."""
    return digest(id, file, function, " ".join(text.split()))


def read(path: Path, *, needed: bool) -> tuple[AcceptedFinding, ...]:
    """The accepted findings; none without a file. Raises BadInput if a `needed` file is missing, or
    if it is not a baseline."""
    advice = "run `weakspot gate --write-baseline` to rewrite it"
    found = value(path, _File, "not a baseline", advice)
    if found is None and needed:
        raise BadInput(
            "the baseline does not exist",
            place=str(path),
            advice="run `weakspot gate --write-baseline` to write one",
        )
    return found.accepted if found else ()


def accept(outcome: GateOutcome) -> int:
    """Write a baseline of the failing findings and the accepted ones still found, one for each
    project; their number.

    Accepted findings that the run did not find are dropped only if it covered the whole project.
    """
    if outcome.projects:
        return sum(map(accept, outcome.projects))
    path = Path(outcome.baseline)
    known = {each.fingerprint: each for each in read(path, needed=False)}
    found = [
        each
        for each in outcome.findings
        if each.status in ("fails", "accepted") and each.finding.id not in BAD_INPUT
    ]
    accepted = {} if outcome.whole else dict(known)
    for each in found:
        there = each.places[0]
        accepted[each.fingerprint] = known.get(each.fingerprint) or AcceptedFinding(
            fingerprint=each.fingerprint,
            id=each.finding.id,
            file=there.file,
            function=there.function,
            text=there.text.strip(),
            message=each.message,
        )
    ordered = sorted(accepted.values(), key=lambda each: (each.file, each.id, each.text))
    replace(path, pretty(_File(tuple(ordered))))
    return len(accepted)
