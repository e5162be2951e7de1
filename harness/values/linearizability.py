"""Linearizability: whether an object behaves as specified in all clients up to a size. Its JSON
form is a contract."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.exploration import Violation

Result = Literal["Held", "Violated", "Unknown"]


class Linearizability(msgspec.Struct, frozen=True, kw_only=True):
    """What exploring the clients of an object under a model found.

    Held: in every execution of every client of at most so many `calls`, in at most so many
    `threads` at once, what the calls return is what a sequential order of them returns; nothing is
    known of larger clients. Violated: it is not in `client`, the first of the smallest that show
    it, or something else goes wrong there: the `violations`. Unknown: `reasons` say which limit was
    reached; all clients of at most `complete` calls were explored. `clients` is how many were
    explored, in how many `executions`.
    """

    object: str
    specification: str
    model: str
    result: Result
    clients: int
    calls: int
    threads: int
    complete: int
    executions: int
    seconds: float
    client: str = ""
    violations: tuple[Violation, ...] = ()
    reasons: tuple[str, ...] = ()
