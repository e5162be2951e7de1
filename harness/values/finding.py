"""Finding: what is reported to a person. Its JSON form is a contract (`--json`)."""

from __future__ import annotations

from typing import Literal

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """One answer that a finding rests on, in one line; code in several."""

    kind: Literal["verdict", "histogram", "exploration", "claim", "code"]
    text: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong, with its evidence and what to do about it.

    `id` is a key of `judge.kinds.KINDS`. `subject` is the test, program or machine that it is
    about. `recorded` is true if the structure's claims.toml records the same.
    """

    id: str
    severity: Literal["error", "warning", "note"]
    message: str
    subject: str
    sites: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""
    recorded: bool = False
