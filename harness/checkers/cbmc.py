"""CBMC as a checker: bounded model checking under its own sc, tso and pso.

It shares neither code nor method with herd7 and the engine (a SAT solver over partial orders), so
it is an independent check of sc.cat, tso.cat and pso.cat. Two assertions distinguish Never,
Sometimes and Always; it lists no states.

A known fault (6.6.0): under tso and pso it treats an array that is indexed by a variable as one
location, and so finds SB impossible on two of its elements. The tests it is asked about use named
variables only; scalars, constant indices, fields and pointers give the textbook's answers, as does
a thread that reads its own store (rfi). On some 3,000 random tests it agrees with herd7.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.checkers import Done, askable, unknown
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.verdict import Observation, Verdict
from weakspot.system import process, tools
from weakspot.system.processors import cores
from weakspot.system.tools import INSTALLED_BY_SCRIPT, Program, Requirement, Tool

PROGRAM = Program(
    "cbmc",
    lost="the second opinion on programs, bounded model checking",
    advice=f"{INSTALLED_BY_SCRIPT}; or put a release of CBMC on PATH",
)
_DECIDED = (0, 10)  # CBMC's exit codes: all assertions hold, or some fail


class Cbmc(msgspec.Struct, frozen=True):
    """The checker. `jobs` processes run at a time, one per test."""

    jobs: int = 2
    name: str = "cbmc"
    rank: int = 2
    requires: tuple[Requirement, ...] = (PROGRAM,)
    explains: bool = False

    def available(self) -> Tool | None:
        return tools.find(PROGRAM)

    def applicable(self, test: Test, model: Model) -> str:
        if model.cbmc is None:
            return f"cbmc knows the models sc, tso and pso, not {model.name}"
        if test.statements is None:
            return "cbmc takes C tests whose threads are straight lines"
        return ""

    def check(self, tests: Sequence[Test], model: Model, *, seconds: float, done: Done) -> None:
        """See Checker. Raises MissingTool."""
        tool = tools.require(PROGRAM)
        asked = askable(self, tests, model, done)
        import tempfile

        with tempfile.TemporaryDirectory(prefix="weakspot-cbmc-") as folder:
            tasks = [
                partial(_check, tool, test, model, Path(folder) / f"t{number}.c", seconds)
                for number, test in enumerate(asked)
            ]
            process.in_parallel(tasks, workers=min(self.jobs, cores(), len(tasks)), done=done)


CHECKER = Cbmc()


def _check(
    tool: Tool,
    test: Test,
    model: Model,
    path: Path,
    seconds: float,
    crew: process.Crew,
    emit: Done,
) -> None:
    from weakspot.generators.emit.cbmc import cbmc_source

    assert test.statements is not None
    assert model.cbmc is not None
    path.write_text(cbmc_source(test.statements, model.cbmc), encoding="utf-8")
    command = [tool.path, path.name, "--mm", model.cbmc, "--json-ui"]
    if (tool.version or "6").split(".")[0] not in ("4", "5"):
        command.append("--no-standard-checks")  # before version 6 there were none
    begin = time.monotonic()
    ended = process.run(command, cwd=path.parent, seconds=seconds, crew=crew)
    took = round(time.monotonic() - begin, 4)
    if ended.timed_out:
        emit(unknown(test, model, "cbmc", f"time limit of {seconds:g} s", took))
        return
    observation = _observation(ended)
    if observation is None:
        emit(unknown(test, model, "cbmc", _why(ended), took))
        return
    emit(
        Verdict(
            test=test.name,
            model=model.name,
            checker="cbmc",
            observation=observation,
            condition_holds=observation != "Never",  # a Body's condition is an exists
            condition=test.condition,
            seconds=took,
            sites=test.sites,
        )
    )


def _observation(ended: process.Ended) -> Observation | None:
    """The answer from the two assertions; None if either is open, or if no execution ends."""
    from weakspot.generators.emit.cbmc import ALWAYS, NEVER

    if ended.code not in _DECIDED:
        return None
    status = {
        result.get("description"): result.get("status")
        for message in _messages(ended)
        for result in message.get("result", [])
    }
    match status.get(NEVER), status.get(ALWAYS):
        case "SUCCESS", "FAILURE":
            return "Never"
        case "FAILURE", "FAILURE":
            return "Sometimes"
        case "FAILURE", "SUCCESS":
            return "Always"
        case _:
            return None


def _messages(ended: process.Ended) -> list[dict[str, Any]]:
    import json

    try:
        messages = json.loads(ended.out)
    except ValueError:
        return []
    return [message for message in messages if isinstance(message, dict)]


def _why(ended: process.Ended) -> str:
    """CBMC's message about its failure."""
    errors = [
        str(message.get("messageText", ""))
        for message in _messages(ended)
        if message.get("messageType") == "ERROR"
    ]
    if not errors:
        errors = (ended.err or ended.out).strip().splitlines()[-1:]
    if ended.code in _DECIDED:
        return "cbmc finds no execution that ends"
    return f"cbmc ended with code {ended.code}: {'; '.join(errors) or 'no message'}"
