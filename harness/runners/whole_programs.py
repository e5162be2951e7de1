"""Whole programs, run many times: a scenario with its threads, as it is written.

A program is linked with a main function of ours that calls its main over and over, on threads that
are created once, and counts the assertions that fail. It runs in slices with changing settings, as
tests do; the settings that show most get most of the time. A program that never fails has not been
shown to be correct: the report states in how many instances its threads overlapped.
"""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.kernel import IN_A_KERNEL
from weakspot.generators.emit.whole import frame
from weakspot.generators.source.program import Program
from weakspot.harness import machines
from weakspot.harness.machines import Machine, Session, compilers
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import TOO_LATE, programs, share
from weakspot.harness.runners.programs import Failed, compiled, preprocessed, printed, workshop
from weakspot.harness.runners.tuning import WHOLE, Choice, Memory, Setting, setting_text
from weakspot.harness.values.histogram import INTERRUPTED, Count
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.system.deadline import NEVER, Deadline

_SHORTEST, _LONGEST = 0.05, 0.1  # seconds of a slice
_PATIENCE = 2.0  # seconds after which an instance that does not end hangs

_TOTAL = re.compile(r"total (\d+) (\d+) (\d+) (\d+) (\d+) (-?[\d.]+)")


class Times(msgspec.Struct, frozen=True):
    """How often the threads of an instance, main excluded, execute an operation: the mean over the
    instances, the least and the most."""

    mean: float
    least: int
    most: int


class Slice(msgspec.Struct, frozen=True):
    """The counts of a slice: instances, those in which all threads ran at one moment, failures by
    kind (without count and values) with their values. `typical` are the seconds that the functions
    of an instance's threads take, added up: the mean of the middle half of the instances, without
    the cost of reading the clock; negative where they take too long to time. `operations` are those
    that were counted, by number."""

    instances: int
    overlapped: int
    failures: dict[Failure, Counter[str]]
    seconds: float
    typical: float
    operations: dict[int, Times] = {}


_COUNTING = {"c": "int weakspot_counted(int);\n", "c++": 'extern "C" int weakspot_counted(int);\n'}


def counted(number: int) -> str:
    """An expression that counts: each time a program evaluates it, the count of the operation of
    that number increases by one. The parameter `counts` asks a slice for the operations."""
    return f"weakspot_counted({number})"


def made(
    program: Program,
    machine: Machine,
    folder: Path,
    *,
    counting: bool = False,
    end: Deadline = NEVER,
) -> programs.Program:
    """The program, compiled to be run as a whole; with `counting` it may contain expressions of
    `counted`. Raises Failed, Unsupported."""
    if program.kernel:
        raise Failed(IN_A_KERNEL)
    units = [preprocessed(unit, machine, end) for unit in program.units]
    if counting:
        units = [
            msgspec.structs.replace(unit, text=_COUNTING[unit.language] + unit.text)
            for unit in units
        ]
    return compiled(units, (), machine, folder, frame=frame(), end=end)


def slice_of(
    program: programs.Program,
    at: Session,
    setting: Setting,
    seconds: float,
    seed: int,
    end: Deadline = NEVER,
) -> Slice:
    """Run the program for so many seconds. Raises Failed, Lost."""
    patience = {"patience": round(1000 * _PATIENCE)}
    return _read(printed(program, at, {**patience, **setting}, seconds, seed, end))


def run(
    subjects: Sequence[tuple[str, Program]],
    machine: Machine,
    *,
    seconds: float,
    done: Callable[[ProgramRun], None],
    end: Deadline = NEVER,
) -> None:
    """Run each of the programs, by name, for about `seconds`, without the time of compiling; for
    less where they would not end at `end` otherwise, compiling included. `done` is called once per
    program. Raises MissingTool, ToolFailed, and Lost for a machine that is gone:
    the program that was running is not reported then."""
    for language in {program.language for _, program in subjects} - {"rust"}:
        compilers.require(machine, language)
    with workshop() as folder, machines.opened(machine) as at:
        memory = Memory(profile(machine, at))
        for number, (name, program) in enumerate(subjects):
            empty = ProgramRun(
                program=name,
                machine=machine.name,
                runner="native",
                arch=machine.arch,
                emulated=machine.emulated,
            )
            compiler = compilers.require(machine, program.language)
            try:
                if end.passed:
                    raise Failed(TOO_LATE)
                ready = made(program, machine, folder, end=end)
                length = max(_SHORTEST, share(seconds, end, len(subjects) - number))
                found = _run(empty, ready, at, memory, length, end)
                known = {**found.parameters, "compiler": compiler.stated}
                failures = tuple(_placed(each, program) for each in found.failures)
                done(msgspec.structs.replace(found, parameters=known, failures=failures))
                if found.ended_early == INTERRUPTED:
                    raise KeyboardInterrupt
            except (Unsupported, Failed) as error:
                done(msgspec.structs.replace(empty, reason=" ".join(str(error.args[0]).split())))
        memory.write()


def _placed(failure: Failure, program: Program) -> Failure:
    """The failure with its file named as the program's sites name it."""
    file, _, line = failure.site.rpartition(":")
    site = f"{program.shown(file)}:{line}" if file else ""
    return msgspec.structs.replace(failure, site=site)


def _run(
    empty: ProgramRun,
    program: programs.Program,
    at: Session,
    memory: Memory,
    seconds: float,
    end: Deadline,
) -> ProgramRun:
    """The measured program. Raises Failed if not even the first slice ends well, Lost."""
    choice = Choice(WHOLE, memory.best.get(program.path.stem))
    failures: dict[Failure, Counter[str]] = {}
    instances = overlapped = 0
    spent, ended, begin = 0.0, "", time.monotonic()
    while not ended and (left := seconds - (time.monotonic() - begin)) > 0:
        tried = choice.next()
        length = min(_LONGEST, max(_SHORTEST, seconds / (2 * len(WHOLE))), max(0.01, left))
        try:
            found = slice_of(program, at, tried.setting, length, choice.slices, end)
        except Failed as error:
            if not instances:
                raise
            ended = str(error)
            break
        except KeyboardInterrupt:
            if not instances:
                raise
            ended = INTERRUPTED
            break
        failed = sum(values.total() for values in found.failures.values())
        for failure, values in found.failures.items():
            failures.setdefault(failure, Counter()).update(values)
            if failure.kind == "hang":
                ended = "an instance hangs"
        instances, overlapped = instances + found.instances, overlapped + found.overlapped
        spent += found.seconds
        tried.slices += 1
        tried.seconds += found.seconds
        tried.iterations += found.instances
        tried.hits += failed
        tried.independent += failed
    if failures:
        memory.best[program.path.stem] = choice.best.setting
    return msgspec.structs.replace(
        empty,
        instances=instances,
        overlapped=overlapped,
        failures=tuple(_counted(each, values) for each, values in failures.items()),
        seconds=round(spent, 4),
        parameters={
            "setting": setting_text(choice.best.setting),
            "slices": str(choice.slices),
            "assembly": str(program.assembly),
        },
        ended_early=ended,
    )


def _counted(failure: Failure, values: Counter[str]) -> Failure:
    counted = tuple(
        Count(dict(pair.split("=", 1) for pair in text.split()), count)
        for text, count in values.most_common()
        if text
    )
    return msgspec.structs.replace(failure, count=values.total(), values=counted)


def _read(text: str) -> Slice:
    """The slice that a program printed. Raises Failed for anything else than a complete program
    prints."""
    *lines, last = text.splitlines() or [""]
    failures: dict[Failure, Counter[str]] = {}
    executed: dict[int, tuple[int, int, int]] = {}  # in all, the least, the most
    for line in lines:
        match line.split("\t"):
            case ["failed", count, file, number, function, expression, values] if count.isdecimal():
                failure = Failure(
                    kind="assertion",
                    message=expression,
                    count=0,
                    site=f"{file.removeprefix('./')}:{number}" if file else "",
                    function=function,
                )
                failures.setdefault(failure, Counter())[values] += int(count)
            case ["crashed", number] if number.isdecimal():
                crash = Failure(kind="crash", message=signal.Signals(int(number)).name, count=0)
                failures[crash] = Counter({"": 1})
            case ["operation", *numbers]:
                which, every, least, most = map(int, numbers)
                executed[which] = every, least, most
            case ["hang", *functions]:
                names = " and ".join(functions) or "main"
                verb = "do" if len(functions) > 1 else "does"
                message = f"{names} {verb} not end within {_PATIENCE:.0f} s"
                failures[Failure(kind="hang", message=message, count=0)] = Counter({"": 1})
            case _:
                raise Failed(f"its program printed {line[:60]!r}")
    total = _TOTAL.fullmatch(last)
    if total is None:
        raise Failed(f"its program ended with {last[:60]!r}")
    instances, failed, overlapped, spent, _ = map(int, total.groups()[:5])
    counted = sum(
        values.total() for failure, values in failures.items() if failure.kind == "assertion"
    )
    if counted != failed or overlapped > instances or failed > instances:
        raise Failed(
            f"its program's counts do not add up: {counted} failures listed of {failed} in "
            f"{instances} instances"
        )
    operations = {
        which: Times(round(every / instances, 3), least, most)
        for which, (every, least, most) in executed.items()
    }
    return Slice(instances, overlapped, failures, spent / 1e9, float(total[6]) / 1e9, operations)
