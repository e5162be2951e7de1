"""weakspot's own engine as a checker: embedded, with the same answers as herd7.

It takes all tests of a model at once and uses every core. For each test it can give a witness: an
execution with the outcome, or the axioms that forbid it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from weakspot.errors import BadInput, place_of, reported
from weakspot.generators.litmus import Test, file_test
from weakspot.harness.checkers import Done, FilesCheck, askable, other_dialect, unknown, unread
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.verdict import Observation, PrintedVerdict, Verdict
from weakspot.harness.values.witness import Witness, WitnessEvent
from weakspot.system import processors, tools
from weakspot.system.tools import Module, Requirement, Tool

if TYPE_CHECKING:
    from weakspot._engine import Answer, LitmusFile, PrintedAnswer, Problem, WitnessDict

A = TypeVar("A", "Answer", "PrintedAnswer")

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

    def check(self, tests: Sequence[Test], model: Model, *, seconds: float, done: Done) -> None:
        """See Checker. Raises BadInput for a malformed litmus or cat file, MissingTool."""
        tools.require(MODULE)
        from weakspot import _engine

        asked = askable(self, tests, model, done)

        def ask(sort: Callable[[int, Answer], None]) -> None:
            _engine.check(
                [_given(test) for test in asked],
                str(model.path),
                folders=[str(folder) for folder in models.include_folders(model)],
                seconds=seconds,
                candidates=self.candidates,
                memory=self.memory,
                jobs=self.jobs or processors.most(),
                explained=self.witnesses,
                done=sort,
            )

        self._ask(
            ask,
            model,
            lambda number: asked[number],
            lambda number, answer: done(self._verdict(asked[number], model, answer)),
            lambda _, verdict: done(verdict),
        )

    def files_check(self, model: Model, *, form: str, seconds: float) -> FilesCheck:
        """See FileChecker."""
        tools.require(MODULE)
        from weakspot import _engine
        from weakspot.harness.values.herdlog import printed

        folders = [str(folder) for folder in models.include_folders(model)]
        try:
            loaded = _engine.LoadedModel(str(model.path), folders=folders)
        except _engine.EngineError as error:
            raise _bad_model(error.problem) from None
        applicable = functools.cache(
            lambda arch: not self.applicable(Test(name="", arch=arch, text=""), model)
        )

        def check(files: Sequence[LitmusFile], done: Callable[[int, PrintedVerdict], None]) -> None:
            def put(number: int, verdict: Verdict) -> None:
                done(number, printed(verdict, form))

            asked = []
            for number, file in enumerate(files):
                if file.arch and applicable(file.arch):
                    asked.append(number)
                else:
                    askable(self, [file_test(file)], model, partial(put, number))

            def answered(at: int, answer: PrintedAnswer) -> None:
                number = asked[at]
                verdict = Verdict(
                    test=files[number].name,
                    model=model.name,
                    checker=self.name,
                    observation=cast("Observation", answer.observation),
                    condition_holds=None,
                    reason=answer.reason,
                    seconds=answer.seconds,
                )
                done(number, PrintedVerdict(verdict, answer.text))

            def ask(sort: Callable[[int, PrintedAnswer], None]) -> None:
                _engine.check_files(
                    [files[number] for number in asked],
                    loaded,
                    names=(model.name, self.name),
                    form=form,
                    seconds=seconds,
                    candidates=self.candidates,
                    memory=self.memory,
                    jobs=self.jobs or processors.most(),
                    done=sort,
                )

            self._ask(
                ask,
                model,
                lambda at: file_test(files[asked[at]]),
                answered,
                lambda at, verdict: put(asked[at], verdict),
            )

        return check

    def _ask(
        self,
        ask: Callable[[Callable[[int, A], None]], None],
        model: Model,
        test: Callable[[int], Test],
        answered: Callable[[int, A], None],
        done: Callable[[int, Verdict], None],
    ) -> None:
        """Have the engine decide tests by number: `ask` calls what it gets with each answer. `test`
        is asked for one that cannot be read, or that the model does not suit, and `done` gets the
        verdict on it."""
        from weakspot import _engine

        decided = False
        refused: list[tuple[int, Problem]] = []

        def sort(number: int, answer: A) -> None:
            nonlocal decided
            if answer.observation != "Unknown":
                decided = True
            elif answer.malformed:
                done(number, self._unread(test(number), model, answer.malformed))
                return
            elif answer.error:
                refused.append((number, answer.error))
                return
            answered(number, answer)

        try:
            ask(sort)
        except _engine.EngineError as error:
            raise _bad_model(error.problem) from None
        # a cat file is wrong if every test fails with it; else it only does not suit some tests
        for number, problem in refused:
            if not decided:
                raise _bad_model(problem)
            why = f"model {model.name}: {problem['message']} ({place_of(problem)})"
            done(number, unknown(test(number), model, self.name, why))

    def _unread(self, test: Test, model: Model, problem: Problem) -> Verdict:
        """The verdict on a test that the engine cannot read. Raises BadInput for a malformed test
        that was named itself; one of a folder, or one in which the engine finds nothing malformed,
        may be left to another checker."""
        if test.path and test.folder is None and problem["kind"] == "invalid":
            message = f"the engine cannot read the test: {problem['message']}"
            raise reported(problem, BadInput, message, source=test.text, advice=_ASK_HERD7)
        why = f"{problem['message']} ({place_of(problem)})"
        return unread(test, model, self.name, why)

    def _verdict(self, test: Test, model: Model, answer: Answer) -> Verdict:
        verdict = _DECODER.decode(answer.json(test.name, model.name, self.name))
        if not self.witnesses and not test.origins:
            return verdict
        witness = _witness(answer.witness, test)
        return msgspec.structs.replace(verdict, sites=test.sites, witness=witness)


CHECKER = Engine()

_DECODER = msgspec.json.Decoder(Verdict)


def _given(test: Test) -> tuple[str, str]:
    return test.path or f"{test.name}.litmus", test.text


def _witness(found: WitnessDict | None, test: Test) -> Witness | None:
    if found is None:
        return None
    sites = _sites(found, test)
    events = [
        WitnessEvent(**event, site=sites.get(number, ""))
        for number, event in enumerate(found["events"])
    ]
    return msgspec.convert({**found, "events": events}, Witness)


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
