"""litmus7 as a runner: each test becomes a program that runs it some hundred thousand times.

litmus7 writes the sources of many tests at once; each program then runs by itself, in rounds,
because it prints only at its end: rounds grow until one takes a good part of the time, and the
counts of a round are preserved when a later one has to be killed, or Ctrl-C ends it.

Threads meet at a barrier of time stamps (-barrier timebase), on memory reached through shuffled
pointers (-mem indirect): on x86-64 that shows store buffering a thousand times as often as
litmus7's defaults do. Where a test has more threads than there are processors, spinning at a
barrier only waits for the scheduler, and the threads meet at one that sleeps (pthread).
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.generators.binary.isa import ISAS
from weakspot.generators.emit.kernel import OF_A_TEST
from weakspot.generators.litmus import Test
from weakspot.harness import machines
from weakspot.harness.machines import Lost, Machine, Session, compilers
from weakspot.harness.runners import TOO_LATE, histogram_of, not_run, share
from weakspot.harness.runners.programs import COMPILING
from weakspot.harness.values.herdlog import parse_histograms
from weakspot.harness.values.histogram import INTERRUPTED, Count, Histogram
from weakspot.system import process, tools
from weakspot.system.deadline import NEVER, Deadline
from weakspot.system.herdtools import LITMUS7
from weakspot.system.processors import cores
from weakspot.system.tools import Program, Requirement

MAKE = Program(
    "make",
    lost="runs with litmus7, whose programs it builds",
    advice="install make (Debian, Ubuntu: make)",
)
_FIRST = 10  # iterations of the first round: on a crowded machine each may cost a time slice
_SIZE = 10_000  # iterations between two launches of the threads, at most
_GROWTH = 8
_ROUND = 0.25  # of the time that a test has, a round should take
_LONGEST = 5.0  # seconds of a round: those of a round that is interrupted are lost
_GRACE = 3.0  # seconds that a round may be late, for the same reason
_LATE = 4  # a round that takes so many times as long as expected is given up for a smaller one
_SHORTEST = 0.2  # seconds that a round may always take

_GCC_ERROR = re.compile(r"^t(?P<number>\d+)\.[cs]:(?:\d+:)*\s*(?:fatal )?[Ee]rror: (?P<message>.*)")
_REFUSED = re.compile(r'File "t(?P<number>\d+)\.litmus":?,? *(?P<message>.*)')


class Litmus7(msgspec.Struct, frozen=True):
    """The runner. At most `batch` tests are compiled before the first of them runs."""

    batch: int = 40
    name: str = "litmus7"
    rank: int = 1
    requires: tuple[Requirement, ...] = (LITMUS7, MAKE)
    whole_programs: bool = False

    def available(self, machine: Machine) -> str:
        return compilers.missing(machine, _needed(machine))

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline = NEVER,
    ) -> None:
        """See Runner. Raises ToolFailed when litmus7 does not start."""
        for program in _needed(machine):
            tools.require(program)
        compilers.require(machine)
        groups: dict[tuple[str, ...], list[Test]] = {}
        for test in tests:
            if test.arch not in ("C", ISAS.get(machine.arch).dialect):
                why = f"{machine.name} is {machine.arch}: {test.arch} tests do not run there"
                done(not_run(test, machine, self.name, why))
            elif test.body is not None and test.body.kernel:
                done(not_run(test, machine, self.name, OF_A_TEST))
            else:
                groups.setdefault(options(test, machine), []).append(test)
        remaining = sum(map(len, groups.values()))
        with machines.opened(machine) as at:
            for chosen, group in groups.items():
                for i in range(0, len(group), self.batch):
                    some = group[i : i + self.batch]
                    self._run_batch(some, machine, at, chosen, seconds, done, end, remaining)
                    remaining -= len(some)

    def _run_batch(
        self,
        tests: Sequence[Test],
        machine: Machine,
        at: Session,
        chosen: Sequence[str],
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline,
        remaining: int,
    ) -> None:
        """Compile and run tests; `remaining` counts them and those that follow."""
        with tempfile.TemporaryDirectory(prefix="weakspot-litmus7-") as name:
            folder = Path(name)
            problems = _compile(tests, machine, chosen, folder, end)
            for number, test in enumerate(tests):
                program = folder / f"t{number}.exe"
                if end.passed:
                    why = COMPILING if number in problems else TOO_LATE
                    done(not_run(test, machine, self.name, why))
                    continue
                if not program.exists():
                    why = problems.get(number, "litmus7 wrote no program for it")
                    done(not_run(test, machine, self.name, why))
                    continue
                rounds = _Rounds(test, program, machine, at, chosen)
                try:
                    length = share(seconds, end, remaining - number)
                    done(rounds.histogram(rounds.measure(length, end)))
                except KeyboardInterrupt:
                    if rounds.counts:
                        done(rounds.histogram("", interrupted=True))
                    raise
                except Lost as error:
                    done(not_run(test, machine, self.name, error.message, lost=True))
                    raise


RUNNER = Litmus7()


def options(test: Test, machine: Machine) -> tuple[str, ...]:
    """litmus7's options for a test on a machine."""
    barrier = "timebase" if _threads(test) <= machine.cores else "pthread"
    flags = ("-ccopts", " ".join(machine.flags), "-barrier", barrier, "-mem", "indirect")
    if test.arch == "C":
        return ("-c11", "true", *machine.litmus7, *flags)
    return (*machine.litmus7[2:], *flags)  # without -carch, which is for C


def _needed(machine: Machine) -> Iterator[Program]:
    yield from (LITMUS7, MAKE)
    if machine.emulator is not None:
        yield machine.emulator


def _threads(test: Test) -> int:
    if test.statements is not None:
        return len(test.statements.threads)
    numbers = re.findall(r"^\s*P(\d+)\s*\(" if test.arch == "C" else r"\bP(\d+)\b", test.text, re.M)
    return max((int(number) for number in numbers), default=0) + 1


def _compile(
    tests: Sequence[Test], machine: Machine, chosen: Sequence[str], folder: Path, end: Deadline
) -> dict[int, str]:
    """Compile each test that can be to `tN.exe` in the folder; returns why the others cannot, by
    number."""
    from weakspot import _engine

    for number, test in enumerate(tests):
        # two tests may have the same name, and not every name can name a file
        text = _engine.renamed(test.text, f"t{number}") or test.text
        (folder / f"t{number}.litmus").write_text(text, encoding="utf-8")
    problems: dict[int, str] = {}
    numbers = list(range(len(tests)))
    if not _translate(numbers, chosen, folder, problems, end):
        for number in numbers:  # litmus7 crashes on one of them: find out which
            _translate([number], chosen, folder, problems, end)
    programs = [f"t{n}.exe" for n in numbers if (folder / f"t{n}.c").exists()]
    if not programs:
        return problems
    compiler = compilers.require(machine)
    jobs = str(min(4, cores()))
    sources = " ".join(f"{program[:-4]}.c" for program in programs)
    made = process.run(
        [
            *(tools.require(MAKE).path, "-k", "-j", jobs, f"SRC={sources}"),
            *(f"GCC={shlex.join(compiler.command)}", *programs),
        ],
        cwd=folder,
        seconds=end.at_most(60.0 + 10.0 * len(programs)),
        env={**os.environ, "LC_ALL": "C"},
        memory=None,
    )
    for line in (made.out + made.err).splitlines():
        if match := _GCC_ERROR.match(line):
            problem = f"{compiler.name} does not compile it: {match['message']}"
            problems.setdefault(int(match["number"]), problem)
    for number in numbers:
        if made.timed_out:
            problems.setdefault(number, "compiling takes too long")
        else:
            problems.setdefault(number, f"{compiler.name} does not compile it")
    return problems


def _translate(
    numbers: Sequence[int],
    chosen: Sequence[str],
    folder: Path,
    problems: dict[int, str],
    end: Deadline,
) -> bool:
    """Have litmus7 write C for the tests. False if it crashed."""
    ended = process.run(
        [
            tools.require(LITMUS7).path,
            *chosen,
            "-o",
            ".",
            *(f"t{number}.litmus" for number in numbers),
        ],
        cwd=folder,
        seconds=end.at_most(20.0 + 2.0 * len(numbers)),
    )
    printed = (ended.out + ended.err).replace('\\"', '"')
    for line in printed.splitlines():
        if (match := _REFUSED.search(line)) and match["message"]:
            problems.setdefault(int(match["number"]), f"litmus7 cannot read it: {match['message']}")
    if ended.code != 0 and len(numbers) == 1:
        why = printed.strip().splitlines()[-1:] or [f"code {ended.code}"]
        problems.setdefault(numbers[0], f"litmus7: {why[0]}")
    return ended.code == 0


class _Rounds:
    """The rounds of a test's program that have ended, added up."""

    def __init__(
        self, test: Test, program: Path, machine: Machine, at: Session, chosen: Sequence[str]
    ) -> None:
        self.test, self.program, self.machine = test, program, machine
        self.at, self.chosen = at, chosen
        self.counts: Counter[tuple[tuple[str, str], ...]] = Counter()
        self.target = self.rounds = self.launches = 0
        self.condition, self.hash = test.condition, ""
        self.spent = 0.0

    def measure(self, seconds: float, end: Deadline) -> str:
        """Rounds for `seconds`. Returns why the last one has no counts, if so. Raises Lost."""
        wanted, rate, begin = _FIRST, 0.0, time.monotonic()
        while True:
            size = min(wanted, _SIZE)
            runs = max(1, wanted // size)
            left = max(0.0, seconds - (time.monotonic() - begin))
            limit = left + _GRACE
            if rate:
                limit = min(limit, max(_LATE * size * runs / rate, _SHORTEST))
            arguments = ("-q", "-s", str(size), "-r", str(runs))
            ended = self.at.run(self.program, arguments, seconds=end.at_most(limit))
            found = parse_histograms(ended.out)
            left = seconds - (time.monotonic() - begin)
            if ended.timed_out and rate and left > 0:
                # other programs want the processors now
                wanted, rate = max(1, size * runs // _GROWTH), size * runs / (2 * limit)
                continue
            if ended.timed_out or ended.code != 0 or len(found) != 1:
                return _why(ended, size * runs)
            self._add(found[0], runs, ended.seconds)
            if left <= 0:
                return ""
            # rate of this round; a round should not outlast the time
            rate = size * runs / max(ended.seconds, 1e-3)
            share = min(left, max(_ROUND * seconds, 0.1))
            wanted = int(max(1, min(_GROWTH * size * runs, _LONGEST * rate, rate * share)))

    def _add(self, histogram: Histogram, launches: int, seconds: float) -> None:
        for count in histogram.histogram:
            self.counts[tuple(count.state.items())] += count.count
        self.target += histogram.target
        self.condition, self.hash = histogram.condition, histogram.hash
        self.rounds, self.launches = self.rounds + 1, self.launches + launches
        self.spent += seconds

    def histogram(self, reason: str, *, interrupted: bool = False) -> Histogram:
        """What was counted; `reason`: why nothing was, if so."""
        iterations = sum(self.counts.values())
        return histogram_of(
            self.test,
            self.machine,
            "litmus7",
            histogram=tuple(Count(dict(state), n) for state, n in sorted(self.counts.items())),
            target=self.target,
            iterations=iterations,
            seconds=round(self.spent, 4),
            condition=self.condition,
            parameters={
                "options": " ".join(self.chosen),
                "size": str(min(_SIZE, iterations)),
                "runs": str(self.launches),
                "rounds": str(self.rounds),
                "litmus7": tools.require(LITMUS7).version or "",
                "compiler": compilers.require(self.machine).stated,
                **({"ended_early": INTERRUPTED} if interrupted else {}),
            },
            hash=self.hash,
            reason=reason if not iterations else "",
        )


def _why(ended: process.Ended, iterations: int) -> str:
    if ended.timed_out:
        return f"a round of {iterations} iterations does not end within its time"
    last = (ended.err or ended.out).strip().splitlines()[-1:]
    return f"its program ended with code {ended.code}{': ' + last[0] if last else ''}"
