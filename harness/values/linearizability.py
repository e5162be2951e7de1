"""Linearizability: whether an object behaves as specified in all clients up to a size. Its JSON
form is a contract."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.exploration import Violation
from weakspot.harness.values.numbers import amount


class Size(msgspec.Struct, frozen=True):
    """The greatest clients: how many calls, in how many threads at once."""

    calls: int = 4
    threads: int = 3

    def covered(self, count: int | None = None) -> str:
        """ "all 1,204 clients of up to 5 calls in 3 threads" """
        number = f" {count:,}" if count is not None else ""
        return (
            f"all{number} clients of up to {amount(self.calls, 'call')} in {self.threads} threads"
        )


Result = Literal["Held", "Violated", "Unknown"]


class Linearizability(msgspec.Struct, frozen=True, kw_only=True):
    """What exploring the clients of an object under a model found.

    Held: in every execution of every client of at most so many `calls`, in at most so many
    `threads` at once, what the calls return is what a sequential order of them returns; nothing is
    known of larger clients. Violated: it is not in `client`, the first of the smallest that show
    it, or something else goes wrong there: the `violations`. Unknown: `reasons` say which limit was
    reached, or the search was `interrupted`; all clients of at most `complete` calls were explored.
    `clients` is how many were explored, in how many `executions`.
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
    interrupted: bool = False
