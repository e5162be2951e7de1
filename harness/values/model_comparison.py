"""What a search for tests that distinguish two models found."""

from __future__ import annotations

import msgspec

from weakspot.harness.values.verdict import Verdict


class Searched(msgspec.Struct, frozen=True):
    """The tests of one number of accesses: how many were decided under both models, how many could
    not be, and whether these are all."""

    accesses: int
    decided: int = 0
    undecided: int = 0
    is_complete: bool = False


class ModelComparison(msgspec.Struct, frozen=True):
    """What the search found: the answers of both models for the first test that distinguishes them,
    with executions; none if no test of `searched` does."""

    models: tuple[str, str]
    searched: tuple[Searched, ...] = ()
    test: str = ""
    text: str = ""
    verdicts: tuple[Verdict, ...] = ()

    @property
    def is_conclusive(self) -> bool:
        """Whether a test was found, or every test was decided."""
        return bool(self.test) or all(
            each.is_complete and not each.undecided for each in self.searched
        )
