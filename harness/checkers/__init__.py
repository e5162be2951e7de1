"""Checkers: each decides a Test under a Model.

In: Tests and a Model. Out: Verdicts. To add a checker, add a file NAME.py that defines CHECKER, a
value with what `Checker` asks for: how to find the tool, how to phrase the question, how to read
the answer, and what is lost without the tool. Nothing else names it. The explorer, which decides
whole Programs, is in explorer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.verdict import PrintedVerdict, Verdict, cannot_read
from weakspot.system.registry import Registry, ToolEntry
from weakspot.system.tools import Tool

if TYPE_CHECKING:
    from weakspot._engine import LitmusFile


Done = Callable[[Verdict], None]
"""Takes the verdict on a test."""


class Checker(ToolEntry, Protocol):
    """What every checker offers. One that `explains` can give witnesses, and has a field
    `witnesses` that asks for them."""

    @property
    def explains(self) -> bool: ...

    def available(self) -> Tool | None:
        """The tool behind the checker, or None if it is not installed."""
        ...

    def applicable(self, test: Test, model: Model) -> str:
        """ "" if the checker can be asked, else why not, in one phrase."""
        ...

    def check(self, tests: Sequence[Test], model: Model, *, seconds: float, done: Done) -> None:
        """Ask about each test for `seconds` at most.

        `done` is called once per test, in the caller's thread, as soon as its verdict is known, in
        no particular order. A test without an answer has the verdict Unknown, whose reason says
        why. Raises BadInput for a malformed file of the user's, MissingTool, ToolFailed.
        """
        ...


def version_of(checker: Checker) -> str:
    """The version of the tool behind a checker; "unknown" if it does not say."""
    tool = checker.available()
    return (tool and tool.version) or "unknown"


class FilesCheck(Protocol):
    """Decides files that were found in folders under one model."""

    def __call__(
        self, files: Sequence[LitmusFile], done: Callable[[int, PrintedVerdict], None]
    ) -> None:
        """`done` gets the number of each file with the verdict. Raises as `Checker.check`."""
        ...


@runtime_checkable
class FileChecker(Checker, Protocol):
    """A checker that reads the files of tests itself."""

    def files_check(self, model: Model, *, form: str, seconds: float) -> FilesCheck:
        """Reads the model, and returns what decides parts of the files of folders under it, with
        the verdicts printed in the `form` json or herd, or without a text for "". Raises as
        `check`."""
        ...


CHECKERS: Registry[Checker] = Registry(
    "checker",
    __name__,
    "CHECKER",
    others=("engine_answers", "exploration_notes", "explorer", "library_calls"),
)
"""The checkers by name."""


def askable(checker: Checker, tests: Sequence[Test], model: Model, done: Done) -> list[Test]:
    """The tests that the checker can be asked about; the others are Unknown, with the reason."""
    asked = []
    for test in tests:
        if test.unread:
            done(unread(test, model, checker.name, test.unread))
        elif why_not := checker.applicable(test, model):
            done(unknown(test, model, checker.name, why_not))
        else:
            asked.append(test)
    return asked


def other_dialect(test: Test, model: Model) -> str:
    """Why the model does not apply to the test, which is in another dialect, and how to check it
    all the same; "" if it does."""
    why = mismatch(test.arch, model)
    return why + (_mapping(model) if why and test.arch == "C" else "")


def mismatch(dialect: str, model: Model) -> str:
    """Why the model does not apply to tests in a dialect; "" if it does."""
    if not model.dialects or dialect in model.dialects:
        return ""
    readable = " and ".join(model.dialects)
    return f"model {model.name} applies to {readable} tests, not to {dialect} tests"


def _mapping(model: Model) -> str:
    """How a C test can be checked under a machine's model. It is not mapped silently: what the
    machine shows of code by another mapping would contradict the answer."""
    from weakspot.generators.emit.isa import targets

    named = [name for name, target in targets().items() if target.model == model.name]
    if not named:
        return ""
    return (
        ": compilers map C to instructions in several ways; `weakspot gen TEST "
        f"--isa {named[0]} -o FOLDER` writes the assembly by the standard one"
    )


def unread(test: Test, model: Model, checker: str, why: str) -> Verdict:
    """The verdict on a test that cannot be read; `why` has the place."""
    verdict = unknown(test, model, checker, f"{cannot_read(checker)}{why}")
    return msgspec.structs.replace(verdict, reason_kind="unread")


def unknown(test: Test, model: Model, checker: str, reason: str, seconds: float = 0.0) -> Verdict:
    """The verdict of a checker that has no answer."""
    return Verdict(
        test=test.name,
        model=model.name,
        checker=checker,
        observation="Unknown",
        condition_holds=None,
        condition=test.condition,
        seconds=seconds,
        sites=test.sites,
        reason=" ".join(reason.split()),
    )
