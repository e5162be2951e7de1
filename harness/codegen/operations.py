"""The machine code of programs' own operations: compiled by each compiler, run once, and read back.

A program is linked statically for its target with a frame that runs its threads one after another,
in a few orders, and qemu logs what they execute. So operations are seen as they are compiled in
place: inlined, in loops, among other code. What was not executed is not known, and reported so.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path

import msgspec

from weakspot.errors import MissingTool, Unsupported
from weakspot.generators.binary.image import Image, SourceLocation
from weakspot.generators.binary.isa import ISAS, semantics
from weakspot.generators.binary.operations import OperationTest, sought
from weakspot.generators.binary.operations import Program as Observed
from weakspot.generators.binary.trace import BEGIN, ExecutedInstruction, TraceReader
from weakspot.generators.emit.native import template
from weakspot.generators.litmus import Test
from weakspot.generators.source.program import Program
from weakspot.harness.codegen import gdbstub
from weakspot.harness.codegen.configurations import SECONDS, Configuration, failure
from weakspot.harness.machines.qemu import emulator
from weakspot.harness.values.bounds import LOOPS
from weakspot.system import process, tools
from weakspot.system.processors import cores

_ORDERS = 4
"""The number of orders in which the threads run: each where it is created, and starting from each
of three."""
_LONGEST = 4 << 20  # bytes of the log of a run: more than two thousand instructions
_RUN = 10.0  # seconds; one of processor time, so that a thread that waits in vain ends soon

_WRAPPED = (
    *("pthread_create", "pthread_join", "pthread_mutex_lock", "pthread_mutex_unlock"),
    *("pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast", "sched_yield"),
)


Edit = Callable[[bytes], bytes]


def unchanged(content: bytes) -> bytes:
    return content


class ProgramWithTests(msgspec.Struct, frozen=True):
    """A program by its name, with the tests that come from it."""

    name: str
    program: Program
    tests: tuple[Test, ...]


class Answer(msgspec.Struct, frozen=True):
    """A test in the operations of a program by one configuration: the codes, or the `reason` why
    there is none."""

    test: Test
    program: str
    config: Configuration
    codes: tuple[OperationTest, ...] = ()
    reason: str = ""


def require(configs: Sequence[Configuration]) -> None:
    """Raises MissingTool if the emulator for a target is not installed."""
    for program in dict.fromkeys(emulator(config.platform.arch) for config in configs):
        if tools.find(program) is None:
            raise MissingTool(
                f"{program.name} is not installed: it logs what operations execute",
                advice=f"{tools.advice(program)}; or `--code tests`",
            )


def observed(
    programs: Sequence[ProgramWithTests],
    configs: Sequence[Configuration],
    done: Callable[[list[Answer]], None],
    *,
    edit: Edit = unchanged,
) -> None:
    """The tests in the code of each configuration, for each test in the first of the programs that
    executes it; `done` is called with those of one configuration at a time."""
    with tempfile.TemporaryDirectory(prefix="weakspot-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        frame = folder / "in_turn.c"
        frame.write_text(template("in_turn.c.j2").render(), encoding="utf-8")
        tasks = [partial(_observe, programs, each, frame.resolve(), edit) for each in configs]
        process.in_parallel(tasks, workers=cores(), done=done)


def _observe(
    programs: Sequence[ProgramWithTests],
    config: Configuration,
    frame: Path,
    edit: Edit,
    crew: process.Crew,
    done: Callable[[list[Answer]], None],
) -> None:
    answers: dict[str, Answer] = {}
    known: set[str] = set()
    for source in programs:
        left = [test for test in source.tests if test.name not in known]
        if not left or crew.ended:
            continue
        with tempfile.TemporaryDirectory(dir=frame.parent) as scratch:
            try:
                seen = _Observer(source.program, config, frame, Path(scratch), crew, edit)
            except Unsupported as error:
                why = error.message
                found = [Answer(test, source.name, config, reason=why) for test in left]
            else:
                found = [_answer(test, source, config, seen) for test in left]
        for answer in found:
            if answer.codes:
                known.add(answer.test.name)
            if answer.codes or answer.test.name not in answers:
                answers[answer.test.name] = answer
    done(list(answers.values()))


def _answer(test: Test, source: ProgramWithTests, config: Configuration, seen: _Observer) -> Answer:
    name, program, to = source.name, source.program, config.platform
    label = f"operations-{config.compiler.name}-{config.level}-{to.name}"
    title = f"{name}, operations, {config.name}, {to.name}"
    wanted = [sought(test, each, program.path_of) for each in test.origins]
    while True:
        reasons: list[str] = []
        for each in wanted:
            try:
                return Answer(test, name, config, tuple(seen.seen.tests(test, each, label, title)))
            except Unsupported as error:
                reasons.append(error.message)
        if not seen.interrupt():
            return Answer(test, name, config, reason=reasons[0])


class _Observer:
    """A program compiled with a configuration, which is run as often as tests need."""

    def __init__(
        self,
        program: Program,
        config: Configuration,
        frame: Path,
        folder: Path,
        crew: process.Crew,
        edit: Edit,
    ) -> None:
        """Raises Unsupported for a program that does not compile or run."""
        if program.source.suffix != ".c":
            raise Unsupported("only programs in C are run under the emulator")
        if program.others:
            raise Unsupported("only programs of one source file are run under the emulator")
        if config.outline:
            raise Unsupported("operations are not read through the helpers of outline atomics")
        self.machine = semantics(config.mapping.dialect)
        self.folder, self.crew = folder, crew
        self.path = folder / "program"
        self.emulator = _emulator(config)
        _link(program, config, frame, self.path, crew)
        self.path.write_bytes(edit(self.path.read_bytes()))
        sources = frozenset({program.source.name, str(frame)})
        self.image = Image(self.path.read_bytes(), self.machine.capstone, sources)
        self.reader = TraceReader(self.image, ISAS.get(config.platform.arch), str(frame))
        others = frozenset(
            SourceLocation(program.path_of(site.file), site.line)
            for site in program.sites
            if site.kind != "F"
        )
        self.program = program
        self.seen = Observed(self.image, self.machine, others, self._before)
        self.first: dict[int, tuple[ExecutedInstruction, ...]] = {}
        for order in range(_ORDERS):
            threads = self._run(order)
            self.seen.add(threads)
            if order and len(threads) > 1:
                self.first[order] = threads[1]
        self._interrupted = False

    def _before(self, one: SourceLocation, other: SourceLocation) -> bool:
        """Whether an interleaving of the source has an access of the first line before one of the
        second."""
        return (one, other) in self._pairs

    @cached_property
    def _pairs(self) -> frozenset[tuple[SourceLocation, SourceLocation]]:
        sites = [
            SourceLocation(self.program.path_of(each.file), each.line)
            for each in self.program.sites
        ]
        found: set[tuple[SourceLocation, SourceLocation]] = set()
        for run in self.program.trace(loops=LOOPS, interleavings=4000, seed=0)["runs"]:
            for events in run["threads"]:
                seen: dict[SourceLocation, None] = {}
                for source in (sites[event["site"]] for event in events if event["site"] >= 0):
                    found.update((earlier, source) for earlier in seen)
                    seen[source] = None
        return frozenset(found)

    def interrupt(self) -> bool:
        """Run the program with its first thread interrupted by the others at each of its accesses;
        False if that was done already."""
        if self._interrupted:
            return False
        self._interrupted = True
        done: set[tuple[int, ...]] = set()
        for order, thread in self.first.items():
            code = tuple(each.instruction.at for each in thread)
            if code not in done:
                done.add(code)
                for at in self.seen.sharing(thread):
                    self.seen.add(self._run(order, at))
        return True

    def _run(self, order: int, at: int | None = None) -> list[tuple[ExecutedInstruction, ...]]:
        """The traces of its threads in an order, the first interrupted at an instruction."""
        code = [each for ranges in self.image.ranges.values() for each in ranges]
        ranges = ",".join(f"{start:#x}..{end - 1:#x}" for start, end in code)
        log, socket = self.folder / "log", self.folder / "gdb"
        for left in (log, socket):
            left.unlink(missing_ok=True)
        command = [
            *(self.emulator, _one_by_one(self.emulator), "-d", "cpu,nochain"),
            *("-dfilter", ranges, "-D", str(log), "-E", f"WEAKSPOT_ORDER={order}"),
            *([] if at is None else ["-g", str(socket)]),
            str(self.path),
        ]
        with process.start(command, memory=None, crew=self.crew) as child:
            with contextlib.suppress(OSError):
                resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (_LONGEST, _LONGEST))
                resource.prlimit(child.pid, resource.RLIMIT_CPU, (1, 1))
            if at is not None:
                gdbstub.interrupt(socket, [self.image.symbols[BEGIN][0], at], seconds=_RUN)
                process.kill(child)  # it has ended, or never will
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=_RUN)
        if not log.exists():
            return []
        with log.open(encoding="utf-8", errors="replace") as lines:
            return self.reader.threads(lines)


def _link(
    program: Program, config: Configuration, frame: Path, made: Path, crew: process.Crew
) -> None:
    folder = program.source.resolve().parent
    command = [
        *(*config.command, f"-{config.level}", "-gdwarf-4", "-w"),
        *("-fno-common", "-fno-stack-protector", "-pthread", "-static", *program.options),
        *(program.source.name, str(frame), "-o", str(made)),
        *(f"-Wl,--wrap={name}" for name in _WRAPPED),
    ]
    # zig compiles its C library once, for all programs
    environment = {**os.environ, "LC_ALL": "C", "ZIG_LOCAL_CACHE_DIR": str(made.parent)}
    ended = process.run(
        command, seconds=SECONDS, cwd=folder, env=environment, memory=None, crew=crew
    )
    if ended.code or not made.exists():
        raise Unsupported(failure(config, ended, "the program"))


def _emulator(config: Configuration) -> str:
    program = emulator(config.platform.arch)
    found = tools.find(program)
    if found is None:
        raise Unsupported(f"{program.name} is not installed: it logs what operations execute")
    return found.path


@lru_cache
def _one_by_one(emulator: str) -> str:
    """The option by which qemu translates one instruction at a time: its name changed in 8.1."""
    new = "-one-insn-per-tb"
    return new if new in process.run([emulator, "-h"], seconds=20).out else "-singlestep"
