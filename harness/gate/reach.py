"""On which kinds of machine a cycle can come about: its test as compilers map it to instructions,
decided under the models of these machines. What a compiler reorders besides is not in it."""

from __future__ import annotations

from weakspot.errors import Unsupported
from weakspot.generators.emit.isa import mapped, targets
from weakspot.generators.litmus import Test
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict

SECONDS = 1.0
"""The limit of one test on one kind of machine; one that takes longer is not told of."""

NAMES = {"X86_64": "x86-64", "AArch64": "AArch64", "PPC": "POWER", "RISCV": "RISC-V"}
"""The machines by their dialects."""


def reach(test: Test) -> dict[str, bool]:
    """By machine, whether the test's outcome is possible there under some mapping."""
    found: dict[str, bool] = {}
    for target in targets().values():
        name = NAMES.get(target.dialect, "")
        if not name or not target.model:
            continue
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
