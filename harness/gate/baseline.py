"""The findings that a project accepts, in a file that its people review.

An accepted finding is known by its id, file, function and the text of its line: moving it does
not make it a new one, changing the line does.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.outcome import Accepted, Outcome
from weakspot.harness.values.record import digest
from weakspot.system.files import pretty, replace, unreadable


class _File(msgspec.Struct, forbid_unknown_fields=True):
    accepted: tuple[Accepted, ...] = ()


def fingerprint(id: str, file: str, function: str, text: str) -> str:
    return digest(id, file, function, " ".join(text.split()))


def read(path: Path, *, needed: bool) -> tuple[Accepted, ...]:
    """The accepted findings; none without a file, unless one is `needed`."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if not needed:
            return ()
        raise BadInput(
            "there is no such baseline",
            place=str(path),
            advice="`weakspot gate --write-baseline` writes one",
        ) from None
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        return msgspec.json.decode(content, type=_File).accepted
    except msgspec.DecodeError as error:
        raise BadInput(
            f"not a baseline: {error}",
            place=str(path),
            advice="`weakspot gate --write-baseline` writes it anew",
        ) from error


def accept(config: Config, outcome: Outcome, *, whole: bool) -> int:
    """Accept what fails, beside what was accepted and is still there; how many that makes. What
    was accepted elsewhere stays where not the whole project was looked at."""
    known = {each.fingerprint: each for each in read(config.baseline, needed=False)}
    found = [each for each in outcome.told if each.status != "told"]
    accepted = {} if whole else dict(known)
    for each in found:
        there = each.places[0]
        accepted[each.fingerprint] = known.get(each.fingerprint) or Accepted(
            fingerprint=each.fingerprint,
            id=each.finding.id,
            file=there.file,
            function=there.function,
            text=there.text.strip(),
            message=each.message,
        )
    ordered = sorted(accepted.values(), key=lambda each: (each.file, each.id, each.text))
    replace(config.baseline, pretty(_File(tuple(ordered))))
    return len(accepted)
