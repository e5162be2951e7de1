"""The smallest litmus test that distinguishes two memory models.

In: two models. Out: a test with its answers, or up to which size of critical cycles none of them
distinguishes the models. The tests are those of generators/cycles/enumeration.py, smallest first.
"""

from __future__ import annotations

import itertools
import os

import msgspec

from weakspot import questions
from weakspot.errors import BadInput
from weakspot.generators.cycles.enumeration import LARGEST, SMALLEST, enumerate_tests
from weakspot.generators.emit import isa as isas
from weakspot.generators.litmus import Test
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.checkers import mismatch
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.agreement import distinguishing_tests
from weakspot.harness.values.model_comparison import ModelComparison, Searched
from weakspot.system.deadline import Deadline, ending

_FIRST_BATCH, _LARGEST_BATCH = 64, 2048
_CHECKER = "engine"  # the only one that decides so many
_SHORTEST = 0.001  # seconds


class ModelSearch:
    """A search of `compare_models`, and how far it is."""

    def __init__(
        self,
        one: str | os.PathLike[str],
        other: str | os.PathLike[str],
        *,
        isa: str = "",
        accesses: int | None = None,
    ) -> None:
        self._accesses = LARGEST if accesses is None else accesses
        if not SMALLEST <= self._accesses <= LARGEST:
            raise BadInput(
                f"critical cycles of {accesses} accesses cannot be enumerated",
                advice=f"the number of accesses can be from {SMALLEST} to {LARGEST}",
            )
        self._target = isas.target(isa) if isa else None
        dialect = self._target.dialect if self._target is not None else "C"
        models = [questions.model(each) for each in (one, other)]
        for model in models:
            if why := mismatch(dialect, model):
                raise BadInput(why, advice=_mapping(model))
        self._models = (os.fspath(one), os.fspath(other))
        self.found = ModelComparison((models[0].name, models[1].name))
        """What is known so far."""

    def run(self, seconds: float = 60.0, progress: Progress | None = None) -> ModelComparison:
        """Search for so long. Raises Stopped on Ctrl-C."""
        end, progress = ending(seconds), progress or Quiet()
        for accesses in range(SMALLEST, self._accesses + 1):
            progress.start(0, f"tests of {accesses} accesses")
            tests, batch = enumerate_tests(accesses), _FIRST_BATCH
            self._add(Searched(accesses))
            while not self.found.test and (asked := list(itertools.islice(tests, batch))):
                if end.passed:
                    return self.found
                self._ask(asked, end)
                progress.advance(len(asked))
                batch = min(batch * 2, _LARGEST_BATCH)
            if self.found.test:
                return self.found
            self._add(msgspec.structs.replace(self.found.searched[-1], is_complete=True))
        return self.found

    def _ask(self, asked: list[Test], end: Deadline) -> None:
        """Decide these tests under both models."""
        if self._target is not None:
            asked = [isas.mapped(test, self._target).test for test in asked]
        limit = max(end.left, _SHORTEST)
        record = questions.check(asked, models=self._models, checker=_CHECKER, seconds=limit).wait()
        unknown = {each.test for each in record.verdicts if each.observation == "Unknown"}
        now = self.found.searched[-1]
        self._add(
            Searched(
                now.accesses,
                decided=now.decided + len(asked) - len(unknown),
                undecided=now.undecided + len(unknown),
            )
        )
        distinguishing = distinguishing_tests(record)
        test = next((each for each in asked if each.name in distinguishing), None)
        if test is not None:
            verdicts = questions.check(
                test, models=self._models, checker=_CHECKER, witnesses=True
            ).wait()
            self.found = msgspec.structs.replace(
                self.found, test=test.name, text=test.text, verdicts=verdicts.verdicts
            )

    def _add(self, searched: Searched) -> None:
        """What is known about a size, the largest so far."""
        smaller = [each for each in self.found.searched if each.accesses < searched.accesses]
        self.found = msgspec.structs.replace(self.found, searched=(*smaller, searched))


def _mapping(model: Model) -> str:
    mappings = [name for name, each in isas.targets().items() if each.dialect in model.dialects]
    return f"--isa {mappings[0]} compiles the tests for it" if mappings else ""


def compare_models(
    one: str | os.PathLike[str],
    other: str | os.PathLike[str],
    *,
    isa: str = "",
    accesses: int | None = None,
    seconds: float = 60.0,
    progress: Progress | None = None,
) -> ModelComparison:
    """Search for the smallest test that one model answers differently from the other.

    Tests have up to so many `accesses`; `isa` compiles them for an instruction set, as `generate`
    does, for models of machines. The search ends after `seconds`, and the answer says how far it
    came. Raises BadInput for what is not a model, and for models that these tests are not for.
    """
    return ModelSearch(one, other, isa=isa, accesses=accesses).run(seconds, progress)
