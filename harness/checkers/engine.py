"""weakspot's own engine as a checker: embedded, with the same answers as herd7.

It takes all tests of a model at once and uses every core. For each test it can give a witness: an
execution with the outcome, or the axioms that forbid it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from weakspot.errors import BadInput, place_of, reported
from weakspot.generators.litmus import Test
from weakspot.harness.checkers import askable, other_dialect, unknown, unread
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.herdhash import herd_hash
from weakspot.harness.values.herdlog import LOOP
from weakspot.harness.values.verdict import Observation, Verdict
from weakspot.harness.values.witness import Witness, WitnessEvent
from weakspot.system import tools
from weakspot.system.tools import Module, Requirement, Tool

if TYPE_CHECKING:
    from weakspot._engine import AnswerDict, Problem, WitnessDict

MODULE = Module(
    "weakspot._engine",
    lost="the engine: exploring programs and checking tests without herd7",
    advice="install weakspot again; in a clone, pip install -e . (which needs Rust)",
    role="weakspot._engine",
)


class Engine(msgspec.Struct, frozen=True):
    """The checker. It uses `jobs` threads, 0 for one per core; `candidates` limits the executions
    of one test that are enumerated, `memory` the bytes that this may take; `witnesses` asks for
    them."""

    jobs: int = 0
    candidates: int = 100_000_000
    memory: int = 2 << 30
    witnesses: bool = True
    name: str = "engine"
    rank: int = 0
    requires: tuple[Requirement, ...] = (MODULE,)
    explains: bool = True

    def available(self) -> Tool | None:
        return tools.find(MODULE)

    def applicable(self, test: Test, model: Model) -> str:
        from weakspot import _engine

        if test.arch not in _engine.DIALECTS:
            return f"the engine reads {', '.join(_engine.DIALECTS)} tests, this is {test.arch}"
        return other_dialect(test, model)

    def check(
        self,
        tests: Sequence[Test],
        model: Model,
        *,
        seconds: float,
        done: Callable[[Verdict], None],
    ) -> None:
        """See Checker. Raises BadInput for a malformed litmus or cat file, MissingTool."""
        tools.require(MODULE)
        from weakspot import _engine

        asked = askable(self, tests, model, done)
        answered = False
        refused: list[tuple[Test, Problem]] = []

        def sort(number: int, answer: AnswerDict) -> None:
            nonlocal answered
            test = asked[number]
            if answer["malformed"]:
                done(self._unread(test, model, answer["malformed"]))
                return
            if answer["error"]:
                refused.append((test, answer["error"]))
                return
            verdict = self._verdict(test, model, answer)
            answered = answered or verdict.observation != "Unknown"
            done(verdict)

        try:
            _engine.check(
                [_given(test) for test in asked],
                str(model.path),
                folders=[str(folder) for folder in models.include_folders(model)],
                seconds=seconds,
                candidates=self.candidates,
                memory=self.memory,
                jobs=self.jobs,
                explained=self.witnesses,
                done=sort,
            )
        except _engine.EngineError as error:
            raise _bad_model(error.problem) from None
        # a cat file is wrong if every test fails with it; else it only does not suit some tests
        for test, problem in refused:
            if not answered:
                raise _bad_model(problem)
            why = f"model {model.name}: {problem['message']} ({place_of(problem)})"
            done(unknown(test, model, self.name, why))

    def _unread(self, test: Test, model: Model, problem: Problem) -> Verdict:
        """The verdict on a test that the engine cannot read. Raises BadInput for a malformed test
        that was named itself; one of a folder, or one in which the engine finds nothing malformed,
        may be left to another checker."""
        if test.path and test.folder is None and problem["kind"] == "invalid":
            message = f"the engine cannot read the test: {problem['message']}"
            raise reported(problem, BadInput, message, source=test.text, advice=_ASK_HERD7)
        why = f"{problem['message']} ({place_of(problem)})"
        return unread(test, model, self.name, why)

    def _verdict(self, test: Test, model: Model, answer: AnswerDict) -> Verdict:
        observation = answer["observation"]
        reason, holds = answer["reason"], answer["condition_holds"]
        if answer["loop_bound_reached"] and observation != "Unknown":
            reason = LOOP
            if observation in ("Never", "Always"):
                # further iterations may show more: this is no answer for the whole test
                reason = f"{LOOP}; within that limit the engine says {observation}"
                observation, holds = "Unknown", None
        decided = observation != "Unknown"
        return Verdict(
            test=test.name,
            model=model.name,
            checker=self.name,
            observation=cast(Observation, observation),
            condition_holds=holds,
            # for a truncated loop, the states that are possible within its limit
            states=answer["states"] if decided or reason.startswith(LOOP) else (),
            flags=answer["flags"],
            seconds=round(answer["seconds"], 6),
            sites=test.sites,
            condition=answer["condition"],
            witnesses=(answer["positive"], answer["negative"]) if decided else None,
            reason=" ".join(reason.split()),
            hash=herd_hash(test),
            witness=_witness(answer["witness"], test),
            forbidden_by=answer["forbidden_by"],
        )


CHECKER = Engine()


def _given(test: Test) -> tuple[str, str]:
    return test.path or f"{test.name}.litmus", test.text


def _witness(found: WitnessDict | None, test: Test) -> Witness | None:
    if found is None:
        return None
    sites = _sites(found, test)
    return Witness(
        events=tuple(
            WitnessEvent(**event, site=sites.get(number, ""))
            for number, event in enumerate(found["events"])
        ),
        rf=tuple(found["rf"]),
        co=tuple(found["co"]),
        fr=tuple(found["fr"]),
        cycle=tuple(found["cycle"]),
        state=found["state"],
        axiom=found["axiom"],
    )


def _sites(found: WitnessDict, test: Test) -> dict[int, str]:
    """The site of each event by its number, for threads that executed all accesses with a site."""
    sites: dict[int, str] = {}
    for thread, of_thread in enumerate(test.thread_sites):
        done = [n for n, event in enumerate(found["events"]) if event["thread"] == thread]
        if len(done) == len(of_thread):
            sites.update(zip(done, of_thread, strict=True))
    return sites


def _bad_model(problem: Problem) -> BadInput:
    message = f"the engine cannot use the model: {problem['message']}"
    return reported(problem, BadInput, message, advice=_ASK_HERD7)


_ASK_HERD7 = "if it is right, weakspot check --checker herd7 asks herd7 instead"
