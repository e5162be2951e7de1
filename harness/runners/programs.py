"""Programs of the native runner: compiled once, cached, run in slices. What a program prints counts
only if it is consistent."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.emit.threads import Observable
from weakspot.generators.emit.whole import Frame, named
from weakspot.harness.machines import Machine, Session, compilers
from weakspot.harness.runners import TOO_LATE
from weakspot.harness.runners.tuning import Setting
from weakspot.harness.values.state import State
from weakspot.system import cache, process
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot.generators.source.program import Unit

_GRACE = 5.0  # seconds that a slice may be late: on a crowded machine it has to wait for processors
_CACHED = 2000  # compiled programs at most

COMPILING = "the time limit was reached while it was compiled"

_UNDEFINED = re.compile(r"undefined (?:reference to `|symbol: )(.+?)'?$", re.M)
_STATE = re.compile(r"state (\d+)((?: -?\d+)+)")
_TOTAL = re.compile(r"total (\d+) (\d+) (\d+) (\d+) (\d+)")


class Program(msgspec.Struct, frozen=True):
    """A compiled test: the program, with its C source and its assembly beside it."""

    path: Path
    observables: tuple[Observable, ...]

    @property
    def assembly(self) -> Path:
        return self.path.with_suffix(".s")

    def state(self, values: Sequence[int]) -> State:
        names = (f"[{name}]" if t is None else f"{t}:{name}" for t, name in self.observables)
        return {name: str(value) for name, value in zip(names, values, strict=True)}


class Slice(msgspec.Struct, frozen=True):
    """The counts of one slice, by the values of the observables; its duration, and how long its
    threads had a processor, added up."""

    counts: dict[tuple[int, ...], int]
    iterations: int
    hits: int
    independent: int
    seconds: float
    processor: float


class Failed(Exception):
    """A program could not be compiled or run, or what it printed is inconsistent. `problem` is the
    message without the place that a compiler names."""

    def __init__(self, message: str, problem: str = "") -> None:
        super().__init__(message)
        self.problem = problem or message


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """A folder for programs: in the user's cache, or a temporary one."""
    with cache.folder("native") as folder:
        yield folder
        programs = sorted(folder.glob("*.exe"), key=lambda file: file.stat().st_mtime)
        for old in programs[:-_CACHED]:
            for suffix in (".exe", ".s", ".c"):
                old.with_suffix(suffix).unlink(missing_ok=True)


class SourceText(msgspec.Struct, frozen=True):
    """The text of a translation unit, and the options to compile it with."""

    text: str
    language: str = "c"
    options: tuple[str, ...] = ()


def preprocessed(unit: Unit, machine: Machine, end: Deadline = NEVER) -> SourceText:
    """A translation unit with everything that it includes, by the machine's compiler. Raises
    Failed."""
    if unit.language == "rust":
        raise Failed("a Rust program is not run as a whole; its litmus tests are")
    folder = unit.source.resolve().parent
    options = (*unit.options, "-E", unit.source.name)
    ended = _compiler(machine, folder, *options, language=unit.language, end=end)
    return SourceText(ended.out, unit.language, unit.standard)


def compiled(
    units: Sequence[SourceText],
    observables: tuple[Observable, ...],
    machine: Machine,
    folder: Path,
    crew: process.Crew | None = None,
    frame: Frame | None = None,
    end: Deadline = NEVER,
) -> Program:
    """The program of these translation units, cached or compiled now, which prints the observed
    values. It is made from the assembly beside it, linked with what the `frame` adds. Raises
    Failed, Unsupported."""
    around = frame or Frame()
    language = "c++" if any(unit.language == "c++" for unit in units) else "c"
    texts = (part for unit in units for part in (unit.text, unit.language, *unit.options))
    name = _name(machine, *texts, repr(frame) if frame else "", language=language)
    program = Program(folder / f"{name}.exe", observables)
    if program.path.exists():
        program.path.touch()
        return program
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / program.path.name
        assemblies = [
            _assembly(unit, made.with_name(f"unit{number}.c"), machine, around, crew, end)
            for number, unit in enumerate(units)
        ]
        made.with_suffix(".c").write_text("\n".join(unit.text for unit in units), encoding="utf-8")
        if frame is not None:
            for each in assemblies:
                each.write_text(named(each.read_text(encoding="utf-8")), encoding="utf-8")
        together = "\n".join(each.read_text(encoding="utf-8") for each in assemblies)
        made.with_suffix(".s").write_text(together, encoding="utf-8")
        before, after = (
            [
                _object(text, suffix, machine, folder, made.parent, language, end)
                for text, suffix in texts
            ]
            for texts in (around.before, around.after)
        )
        # every linker preserves the order of objects
        middle = [each.with_suffix(".o").name for each in assemblies]
        for each in assemblies:
            what = ("-c", each.name, "-o", each.with_suffix(".o").name)
            _compiler(machine, made.parent, *what, language=language, end=end)
        linked = [*before, *middle, *after, *around.linking]
        _compiler(
            machine, made.parent, *linked, "-o", made.name, crew=crew, language=language, end=end
        )
        for suffix in (".c", ".s", ".exe"):  # the program last: if it exists, it is complete
            made.with_suffix(suffix).replace(program.path.with_suffix(suffix))
    return program


def _assembly(
    unit: SourceText,
    source: Path,
    machine: Machine,
    around: Frame,
    crew: process.Crew | None,
    end: Deadline,
) -> Path:
    """The file with the assembly of a translation unit, whose text is written to `source`."""
    source.write_text(unit.text, encoding="utf-8")
    made = source.with_suffix(".s")
    what = ("-x", unit.language, "-S", source.name, "-o", made.name)
    how = (*unit.options, *around.compiling)
    _compiler(machine, source.parent, *how, *what, crew=crew, language=unit.language, end=end)
    return made


def _object(
    text: str,
    suffix: str,
    machine: Machine,
    folder: Path,
    scratch: Path,
    language: str,
    end: Deadline,
) -> str:
    """An object file, from C or assembly, that many programs are linked with: compiled once,
    cached."""
    cached = folder / f"{_name(machine, text, language=language)}.o"
    if not cached.exists():
        source = scratch / f"around{suffix}"
        source.write_text(text, encoding="utf-8")
        kind = {".c": ("-x", "c")}.get(suffix, ())
        how = (*kind, "-c", source.name, "-o", cached.name)
        _compiler(machine, scratch, *how, language=language, end=end)
        (scratch / cached.name).replace(cached)
    return str(cached.resolve())


def _name(machine: Machine, *texts: str, language: str = "c") -> str:
    compiler = compilers.require(machine, language)
    return cache.digest(*texts, *compiler.command, compiler.stated, *machine.flags)[:24]


def _compiler(
    machine: Machine,
    cwd: Path,
    *arguments: str,
    crew: process.Crew | None = None,
    language: str = "c",
    end: Deadline = NEVER,
) -> process.Ended:
    """Run the machine's compiler. Raises Failed."""
    compiler = compilers.require(machine, language)
    ended = process.run(
        [*compiler.command, *machine.flags, "-pthread", *arguments],
        cwd=cwd,
        # zig makes its library first
        seconds=end.at_most(900.0 if language == "c++" else 180.0),
        env={**os.environ, "LC_ALL": "C"},
        memory=None,
        crew=crew,
    )
    if ended.timed_out:
        raise Failed(COMPILING if end.passed else "compiling takes too long")
    if ended.code != 0:
        if missing := ", ".join(dict.fromkeys(_UNDEFINED.findall(ended.err))):
            raise Failed(
                f"{compiler.name} does not link it: {missing} is not defined: name the source that "
                "defines it too, or define it where weakspot has a meaning of its own for it"
            )
        found = re.search(r"^(?:(\S+:\d+)\S* )?.*?[Ee]rror: (.*)", ended.err, re.M)
        place, problem = found.groups() if found else ("", "".join(ended.err.splitlines()[-1:]))
        what = f"{compiler.name} does not compile it"
        named = (
            ": ".join(filter(None, parts)) for parts in ((what, place, problem), (what, problem))
        )
        raise Failed(*named)
    return ended


def sliced(
    program: Program,
    at: Session,
    slices: Sequence[tuple[Setting, float, int]],
    end: Deadline = NEVER,
) -> list[Slice]:
    """Run the program once, with one slice after another, each with a setting, its seconds and a
    seed. Raises Failed, Lost."""
    arguments: list[str] = []
    for setting, seconds, seed in slices:
        arguments += ["then"] * bool(arguments) + _words(setting, seconds, seed)
    text = _printed(program, at, arguments, sum(seconds for _, seconds, _ in slices), end)
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        parts[-1].append(line)
        if _TOTAL.fullmatch(line):
            parts.append([])
    found = [_read(part, len(program.observables)) for part in parts if part or len(parts) == 1]
    if len(found) != len(slices):
        raise Failed(f"its program ran {len(found)} slices of {len(slices)}")
    return found


def printed(
    program: Program,
    at: Session,
    setting: Setting,
    seconds: float,
    seed: int,
    end: Deadline = NEVER,
) -> str:
    """What the program prints when it runs once for so many seconds. Raises Failed, Lost."""
    return _printed(program, at, _words(setting, seconds, seed), seconds, end)


def _words(setting: Setting, seconds: float, seed: int) -> list[str]:
    given = {**setting, "ms": max(1, round(1000 * seconds)), "seed": seed}
    return [f"{name}={value}" for name, value in given.items()]


def _printed(
    program: Program, at: Session, arguments: Sequence[str], seconds: float, end: Deadline
) -> str:
    if end.passed:
        raise Failed(TOO_LATE)
    ended = at.run(program.path, arguments, seconds=end.at_most(seconds + _GRACE))
    if ended.timed_out and end.passed:
        raise Failed("the time limit was reached while it ran")
    if ended.timed_out:
        raise Failed(f"its program does not end within {seconds + _GRACE:.0f} s")
    if ended.code != 0:
        printed = (ended.err or ended.out).strip().splitlines()[-1:]
        why = f": {printed[0]}" if printed else ""
        raise Failed(f"its program ended with code {ended.code}{why}")
    return ended.out


def _read(printed: Sequence[str], observables: int) -> Slice:
    """The slice that a program's lines describe. Raises Failed for anything other than the output
    of a complete program."""
    *lines, last = printed or [""]
    total = _TOTAL.fullmatch(last)
    if total is None:
        raise Failed(f"its program ended with {last[:60]!r}")
    counts: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        state = _STATE.fullmatch(line)
        if state is None or len(values := tuple(map(int, state[2].split()))) != observables:
            raise Failed(f"its program printed {line[:60]!r}")
        counts[values] += int(state[1])
    iterations, hits, independent, spent, used = map(int, total.groups())
    if counts.total() != iterations or not 0 <= independent <= hits <= iterations:
        raise Failed(
            f"its program's counts do not add up: {counts.total()} states of {iterations} "
            f"iterations, {hits} hits, {independent} of them independent"
        )
    return Slice(dict(counts), iterations, hits, independent, spent / 1e9, used / 1e9)
