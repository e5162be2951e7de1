"""The architectures on which a cycle is possible, decided from its litmus test.

The test is mapped to instructions as compilers map it, and checked under the models of those
machines. Reorderings that a compiler makes on its own are not considered.
"""

from __future__ import annotations

from weakspot.errors import Unsupported
from weakspot.generators.binary.isa import ISAS
from weakspot.generators.emit.isa import mapped, targets
from weakspot.generators.litmus import Test
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict

SECONDS = 1.0
"""The time limit of one test on one architecture; a test that takes longer is left out."""


def possible_on(test: Test) -> dict[str, bool]:
    """By architecture, whether the test's outcome is possible under at least one mapping."""
    found: dict[str, bool] = {}
    titles = {isa.dialect: isa.title for isa in ISAS}
    for target in targets().values():
        if not target.model:
            continue
        name = titles[target.dialect]
        try:
            made = mapped(test, target).test
        except Unsupported:
            continue

        def done(verdict: Verdict, name: str = name) -> None:
            if verdict.observation in ("Never", "Sometimes", "Always"):
                found[name] = found.get(name, False) or verdict.observation != "Never"

        model = models.resolve(target.model)
        Engine(witnesses=False).check([made], model, seconds=SECONDS, done=done)
    return found
