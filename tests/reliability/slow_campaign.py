"""A campaign in a process of its own, to be killed: python slow_campaign.py FOLDER LOG.

Every question that its checker is asked is a line in LOG, written before the answer.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import Generated
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.folder_run import run
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.corpus.models import Model, resolve
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import Plan
from weakspot.harness.values.verdict import Verdict
from weakspot.system import tools
from weakspot.system.tools import Tool

COUNT = 40
PLAN = Plan(what=("flags",), checkers=("slow",))


class Slow:
    name = "slow"
    rank, requires, explains = 0, (), False

    def __init__(self, log: Path) -> None:
        self.log = log

    def available(self) -> Tool:
        return Tool(sys.executable, sys.executable, "PATH", tools.Program(sys.executable))

    def applicable(self, test: Test, model: Model) -> str:  # noqa: ARG002
        return ""

    def check(
        self,
        tests: Sequence[Test],
        model: Model,
        *,
        seconds: float,  # noqa: ARG002
        done: Callable[[Verdict], None],
    ) -> None:
        for test in tests:
            with self.log.open("a") as log:
                log.write(f"{test.name} {model.name}\n")
            time.sleep(0.02)
            done(
                Verdict(
                    test=test.name,
                    model=model.name,
                    checker="slow",
                    observation="Never",
                    condition_holds=False,
                )
            )


class Idle:
    """An explorer that is never asked."""

    version = "1"
    on_one_core = None

    def applicable(self, model: Model) -> str:
        return f"nothing is explored under {model.name} here"

    def explore(self, *_: object, **__: object) -> Exploration:
        raise AssertionError("not applicable")


def generator(structure: Structure, scenario: Scenario) -> Generated:  # noqa: ARG001
    tests = tuple(
        Test(name=f"T{at:02}", arch="C", text=f"C T{at:02}\n{{ }}\nexists (x={at})\n")
        for at in range(COUNT)
    )
    program = Program(
        source=Path("main.c"),
        files={},
        compiler="none",
        digest="main",
        sites=(),
        lowered=None,  # type: ignore[arg-type]
    )
    return Generated(
        program=program,
        tests=tests,
        interleavings=1,
        exhaustive=True,
        how="",
        bounded=(),
        habits=Habits(),
    )


def nothing(name: str) -> None:
    raise AssertionError(f"{name} is not in the plan")


def main(folder: Path, log: Path) -> None:
    corpus = folder.parent / "corpus"
    if not corpus.exists():
        (corpus / "flags").mkdir(parents=True)
        (corpus / "flags" / "main.c").write_text("int main(void) { return 0; }\n")
        (corpus / "flags" / "claims.toml").write_text(
            'title = "Flags"\nsource = "a book"\nmodels = ["sc", "tso"]\n'
            '[[scenario]]\nname = "main"\nfile = "main.c"\n'
        )
    tools = Tools(
        checker=lambda _: Slow(log),
        runner=nothing,  # type: ignore[arg-type]
        machine=nothing,  # type: ignore[arg-type]
        profile=lambda _: None,
        model=resolve,
        generator=generator,
        explorer=Idle(),
        corpus=corpus,
    )
    run(PLAN, folder=folder, tools=tools)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
