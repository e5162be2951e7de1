"""herd7 as a checker: enumerates every execution of a litmus test under any cat file.

One process takes many tests (loading a model costs more than most tests). It announces each test
that it begins (-debug files) and each that ran out of time (-debug timeout), so a test that hangs,
throws or crashes the process is known by name and costs only itself: the process is restarted for
the remaining tests. Each test gets a unique name within its process: of two tests with one name,
herd7 silently leaves out the second.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, ToolFailed, excerpt
from weakspot.generators.litmus import Test
from weakspot.harness.checkers import Done, askable, other_dialect, unknown
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.verdict import Verdict
from weakspot.system import process, tools
from weakspot.system.herdtools import DIY7, HERD7, MCOMPARE7, libdir
from weakspot.system.processors import cores
from weakspot.system.tools import Requirement, Tool

_RMW = re.compile(r"\batomic_(exchange|fetch_|compare_exchange)")
_OPENED = re.compile(r"Found and opened: '(?P<file>.*)'$")
_TEST_FILE = re.compile(r"(\d+)\.litmus$")
_PLACE = re.compile(
    r'File "(?P<file>[^"]*)", line (?P<line>\d+), '
    r"characters? (?P<from>\d+)(?:-(?P<to>\d+))?: (?P<message>.*)"
)
_ABOUT_FILE = re.compile(r'(?:Warning|Fatal): File "\d+\.litmus":? ?(?P<message>.*)')
_SYNTAX = re.compile(r" \(in (?P<part>\w+)\)|splitter error")
_USER_ERROR = re.compile(r' \(User error\)\s*$|"\)$| \(in model\)')

_OUT_OF_TIME = "Timeout for "
_LOADING = 20.0  # seconds for starting herd7 and loading a model: milliseconds, if nothing is wrong

_KNOWN = {
    "init": "an initial state has the form { x=1; 0:r0=2; }",
    "prog": "see herd7's manual for the instructions and the C that it reads",
    "final": "a final condition has the form exists (0:r0=0 /\\ x=1)",
}


class Herd7(msgspec.Struct, frozen=True):
    """The checker. `jobs` processes run at a time, with at most `batch` tests each."""

    jobs: int = 2
    batch: int = 200
    name: str = "herd7"
    rank: int = 1
    requires: tuple[Requirement, ...] = (HERD7, DIY7, MCOMPARE7)
    explains: bool = False

    def available(self) -> Tool | None:
        return tools.find(HERD7)

    def applicable(self, test: Test, model: Model) -> str:
        if test.arch == "C" and model.acyclic == "dependencies" and _RMW.search(test.text):
            return (
                f"{model.name} relates the read and the write of a read-modify-write, which is one "
                "event of C for herd7"
            )
        return other_dialect(test, model)

    def check(self, tests: Sequence[Test], model: Model, *, seconds: float, done: Done) -> None:
        """See Checker. Raises BadInput for a malformed litmus or cat file, MissingTool,
        ToolFailed when herd7 does not start."""
        tool = tools.require(HERD7)
        asked = askable(self, tests, model, done)
        if not asked:
            return
        size = max(1, min(self.batch, -(-len(asked) // (4 * self.jobs))))
        answered = False
        refused: list[_ModelError] = []

        def sort(answer: Verdict | _ModelError) -> None:
            nonlocal answered
            if isinstance(answer, _ModelError):
                refused.append(answer)
            else:
                answered = answered or answer.observation != "Unknown"
                done(answer)

        import tempfile

        with tempfile.TemporaryDirectory(prefix="weakspot-herd7-") as folder:
            batches = [
                _Batch(tool, model, asked[i : i + size], i, Path(folder), seconds).run
                for i in range(0, len(asked), size)
            ]
            process.in_parallel(batches, workers=min(self.jobs, cores(), len(batches)), done=sort)
        # a cat file is wrong if every test fails with it; else it only does not suit some tests
        for error in refused:
            if not answered:
                raise error.as_bad_input()
            done(unknown(error.test, model, self.name, f"model {model.name}: {error.message}"))


CHECKER = Herd7()


class _ModelError(msgspec.Struct, frozen=True):
    """A cat file that herd7 cannot evaluate, found with `test`."""

    test: Test
    message: str
    file: str
    line: int = 0
    column: int = 0
    width: int = 1

    def as_bad_input(self) -> BadInput:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return BadInput(
            f"herd7 cannot use the model: {self.message}",
            place=place,
            excerpt=excerpt(Path(self.file), self.line, self.column, self.width),
            advice="mend the cat file; herd7 looks for included files beside it and in its own "
            "library",
        )


class _Batch:
    """The tests of one process, numbered from `first` on."""

    def __init__(
        self,
        tool: Tool,
        model: Model,
        tests: Sequence[Test],
        first: int,
        folder: Path,
        seconds: float,
    ) -> None:
        self.tool, self.model, self.folder, self.seconds = tool, model, folder, seconds
        self.tests = {first + i: test for i, test in enumerate(tests)}
        # not in `run`: the engine's allocator, mimalloc 3, crashes once the thread that first
        # imports the engine has ended
        from weakspot import _engine

        self.texts = {
            number: _engine.renamed(test.text, f"t{number}") or test.text
            for number, test in self.tests.items()
        }

    def run(self, crew: process.Crew, emit: Callable[[Verdict | _ModelError], None]) -> None:
        for number, text in self.texts.items():
            (self.folder / f"{number}.litmus").write_text(text, encoding="utf-8")
        left = list(self.tests)
        while left and not crew.ended:
            begun = self._start(left, crew, emit)
            left = left[begun:]

    def _command(self, numbers: Sequence[int]) -> list[str]:
        command = [self.tool.path, "-debug", "files,timeout", "-timeout", f"{self.seconds:.3f}"]
        if self.model.path.parent == models.folder():
            command += ["-I", str(libdir())]  # herd7 has its own, quicker cos.cat
        command += ["-I", str(self.model.path.parent)]  # where included files are
        option = "-conf" if self.model.is_configuration else "-model"
        command += [option, str(self.model.path)]
        return command + [f"{number}.litmus" for number in numbers]

    def _start(
        self,
        numbers: Sequence[int],
        crew: process.Crew,
        emit: Callable[[Verdict | _ModelError], None],
    ) -> int:
        """Run one process; returns how many of the tests are finished."""
        current: int | None = None
        finished: set[int] = set()
        printed: list[str] = []
        self.begin = time.monotonic()
        self.limit = max(_LOADING, self.seconds)

        def finish(message: str) -> None:
            if current is not None and current not in finished:
                finished.add(current)
                emit(self._no_answer(current, printed, message, time.monotonic() - self.begin))

        with process.start(
            self._command(numbers), cwd=self.folder, merged=True, crew=crew
        ) as child:
            for line in process.read_lines(child, lambda: self.begin + self.limit):
                if line is None:
                    process.kill(child)
                    if current is None:
                        raise ToolFailed("herd7 does not reach the first test")
                    finish(_OUT_OF_TIME)
                    break
                opened = _OPENED.match(line)
                if opened is None:
                    # OCaml quotes the message of an exception
                    printed.append(line.replace('\\"', '"'))
                    if line.startswith("Hash=") and current is not None:
                        finished.add(current)
                        emit(self._answer(current, printed, time.monotonic() - self.begin))
                elif number := _TEST_FILE.match(opened["file"]):
                    finish("")
                    current, printed, self.begin = int(number[1]), [], time.monotonic()
                    # herd7's own clock counts processor time, which may be scarce
                    self.limit = 1.1 * self.seconds + 2.0
            else:
                code = child.wait()
                if code != 0 and current is None and not crew.ended:
                    raise self._broken(printed, code)
                finish(f"herd7 ended with code {code}" if code else "")
        # a process that ended by itself has finished every test, or crashed at the current one
        if current is None or child.returncode == 0:
            return len(numbers)
        return list(numbers).index(current) + 1

    def _answer(self, number: int, printed: Sequence[str], seconds: float) -> Verdict | _ModelError:
        from weakspot.harness.values.herdlog import parse_verdicts

        test = self.tests[number]
        found = parse_verdicts("\n".join(printed), model=self.model.name)
        if len(found) != 1:
            return unknown(test, self.model, "herd7", "herd7's answer is not understood", seconds)
        verdict = msgspec.structs.replace(
            found[0], test=test.name, seconds=round(seconds, 4), sites=test.sites
        )
        if verdict.reason_kind == "loop" and verdict.observation in ("Never", "Always"):
            # further iterations may show more: this is no answer for the whole test
            return msgspec.structs.replace(
                verdict,
                observation="Unknown",
                condition_holds=None,
                reason=f"{verdict.reason}; within that limit herd7 says {verdict.observation}",
            )
        return verdict

    def _no_answer(
        self, number: int, printed: Sequence[str], message: str, seconds: float
    ) -> Verdict | _ModelError:
        """The answer for a test for which herd7 printed no block.

        Raises BadInput if herd7 cannot read the test and it came from a file.
        """
        test = self.tests[number]
        text = [*printed, message]
        if any(line.startswith(_OUT_OF_TIME) for line in text):
            reason = f"time limit of {self.seconds:g} s"
            return unknown(test, self.model, "herd7", reason, seconds)
        for line in text:
            place = _PLACE.search(line)
            if place is None:
                continue
            if place["file"] != f"{number}.litmus":
                return _model_error(test, place)
            if _SYNTAX.search(place["message"]):
                if test.path:
                    raise _malformed(test, place)
                why = f"herd7 cannot read it: line {place['line']}: {_clean(place['message'])}"
                return unknown(test, self.model, "herd7", why, seconds)
        problem = " ".join(filter(None, (_clean(line) for line in text if "Adios" not in line)))
        return unknown(test, self.model, "herd7", f"herd7: {problem or 'no answer'}", seconds)

    def _broken(self, printed: Sequence[str], code: int) -> BadInput | ToolFailed:
        """The error if herd7 ended before the first test: the model, or herd7 itself."""
        text = "\n".join(printed)
        place = _PLACE.search(text)
        if place is not None:
            return _model_error(next(iter(self.tests.values())), place).as_bad_input()
        return ToolFailed(f"herd7 ended with code {code}: {text.strip() or 'no message'}")


def _model_error(test: Test, place: re.Match[str]) -> _ModelError:
    start, end = int(place["from"]), int(place["to"] or int(place["from"]) + 1)
    return _ModelError(
        test=test,
        message=_clean(place["message"]),
        file=str(Path(place["file"])),
        line=int(place["line"]),
        column=start + 1,
        width=max(1, end - start),
    )


def _malformed(test: Test, place: re.Match[str]) -> BadInput:
    line, start = int(place["line"]), int(place["from"])
    end = int(place["to"] or start + 1)
    part = _SYNTAX.search(place["message"])
    header = part is None or part["part"] is None
    message = "no header" if header else _SYNTAX.sub("", _clean(place["message"]))
    if message == "unexpected ''":
        message = "unexpected end"
    return BadInput(
        f"herd7 cannot read the test: {message}",
        place=f"{test.path}:{line}:{start + 1}",
        excerpt=excerpt(test.text, line, start + 1, end - start),
        advice='the first line is an architecture and a name, for example "C SB"'
        if part is None or header
        else _KNOWN.get(part["part"], "see the manual of herd7 for what a litmus test can hold"),
    )


def _clean(message: str) -> str:
    message = _ABOUT_FILE.sub(r"\g<message>", message)
    return _USER_ERROR.sub("", message).strip()
