"""The findings that a project accepts, in a file that its people review.

An accepted finding is known by its id, file, function and the text of its line: moving it does
not make it a new one, changing the line does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.gate.outcome import Accepted, Told
from weakspot.harness.journal import pretty, replace, unreadable
from weakspot.harness.record import digest


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


def write(path: Path, told: Iterable[Told], known: Sequence[Accepted]) -> int:
    """Accept these findings, and keep the reasons that are given in `known`; how many they are."""
    reasons = {each.fingerprint: each.reason for each in known}
    accepted = {
        each.fingerprint: Accepted(
            fingerprint=each.fingerprint,
            id=each.finding.id,
            file=each.places[0].file,
            function=each.places[0].function,
            text=each.places[0].text.strip(),
            message=each.message,
            reason=reasons.get(each.fingerprint, ""),
        )
        for each in told
    }
    ordered = sorted(accepted.values(), key=lambda each: (each.file, each.id, each.text))
    replace(path, pretty(_File(tuple(ordered))))
    return len(accepted)
