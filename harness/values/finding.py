"""Finding: what is reported to a person. Its JSON form is a contract (`--json`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """One answer that a finding rests on, in one line; code in several."""

    kind: Literal["verdict", "histogram", "exploration", "claim", "code"]
    text: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong, with its evidence and what to do about it.

    `id` is a key of `judge.kinds.KINDS`. `subject` is the test, program or machine that it is
    about. `recorded` is true if the structure's claims.toml records the same. Findings with one
    `cause` are mended by one change and reported once; an empty one is shared with no other.
    `violation` is the identity of the violation that a finding reports, `models` are those under
    which it happens.
    """

    id: str
    severity: Literal["error", "warning", "note"]
    message: str
    subject: str
    sites: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""
    recorded: bool = False
    cause: str = ""
    violation: str = ""
    models: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        """The message without the subject."""
        return self.message.removeprefix(f"{self.subject}: ")

    @property
    def unnamed_sites(self) -> list[str]:
        """The sites that the message does not name."""
        return unnamed(self.sites, self.message)


def unnamed(places: Iterable[object], message: str) -> list[str]:
    """The places, `file:line` or `file:line:column`, that the message does not name."""
    return [
        place
        for place in map(str, places)
        if not re.search(rf"(?<![\w./-]){re.escape(place)}(?!\d)", message)
    ]


def by_cause(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings in their order, those of one cause and severity together."""
    found: dict[tuple[object, ...], list[Finding]] = {}
    for at, each in enumerate(findings):
        same = (each.cause, each.severity, each.recorded) if each.cause else (at,)
        found.setdefault(same, []).append(each)
    return list(found.values())
