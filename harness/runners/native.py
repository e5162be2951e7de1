"""weakspot's own runner: each test becomes a C program of its own, which is run in short slices.

How threads meet and what stands between two instances decides how much is seen, by factors of
thousands, and differently for each test and machine. So a slice tries one setting of the
program's parameters; those that show most get most of the time, and what was best is remembered
in the user's cache folder for the next time. A slice that dies or hangs costs only itself.

What a program prints is believed only if it fits together: its counts add up, and the hits are
those that the condition gives here.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators import kept
from weakspot.generators.emit.native import Place, native_source, places, statements
from weakspot.generators.litmus import Test
from weakspot.harness import process, tools
from weakspot.harness.condition import proposition
from weakspot.harness.herdhash import herd_hash
from weakspot.harness.machines import Machine
from weakspot.harness.machines.local import cores
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import not_run
from weakspot.harness.verdict import Count, Histogram

_GRACE = 5.0  # seconds that a slice may be late: a crowded machine takes its processors away
_SHORTEST, _LONGEST = 0.01, 0.25  # seconds of a slice
_CURIOUS = 8  # one slice in so many goes to the setting that was tried least
_KEPT = 2000  # compiled programs in the cache

Setting = dict[str, int]
"""Parameters of a program; the head of the template says what each means."""

#: what is tried: slots of time, which most often show most, and batches without any order but
#: their beginning
SETTINGS: tuple[Setting, ...] = (
    {"slot": 140, "jitter": 31, "sets": 2},
    {},
    {"slot": 100, "jitter": 31},
    {"sets": 2, "shuffle": 1},
    {"slot": 200, "jitter": 127, "sets": 2},
    {"delay": 15},
    {"slot": 300, "jitter": 511, "sets": 2},
    {"instances": 1024, "shuffle": 1},
    {"slot": 140, "push": 4, "sets": 2},
    {"instances": 64, "delay": 63},
    {"slot": 500, "jitter": 63},
    {"stride": 128, "turn": 0},
)
_STATE = re.compile(r"state (\d+)((?: -?\d+)+)")
_TOTAL = re.compile(r"total (\d+) (\d+) (\d+) (\d+)")


class Program(msgspec.Struct, frozen=True):
    """A compiled test: the program, and beside it its C and its assembly."""

    path: Path
    places: tuple[Place, ...]

    @property
    def assembly(self) -> Path:
        return self.path.with_suffix(".s")


class Slice(msgspec.Struct, frozen=True):
    """What one slice counted, by the values of the observed places."""

    counts: dict[tuple[int, ...], int]
    iterations: int
    hits: int
    independent: int
    seconds: float


class _Failed(Exception):
    """A program could not be made or run, or what it says does not fit together."""


class Native(msgspec.Struct, frozen=True):
    """The runner. `emit` writes the C of a test."""

    emit: Callable[[Test], str] = native_source
    name: str = "native"

    def available(self, machine: Machine) -> str:
        needed = (machine.compiler, *machine.prefix[:1])
        missing = [name for name in needed if tools.find(name) is None]
        return f"{' and '.join(missing)} not installed" if missing else ""

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
    ) -> None:
        """See Runner. Raises MissingTool."""
        for name in (machine.compiler, *machine.prefix[:1]):
            tools.require(name)
        memory = Memory(machine)
        with _workshop() as folder:
            for test in tests:
                try:
                    program = compiled(test, self.emit(test), machine, folder)
                    done(measured(test, program, machine, seconds, memory))
                except (Unsupported, _Failed) as error:
                    done(not_run(test, machine, self.name, str(error.args[0])))
        memory.write()


# --- programs ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _workshop() -> Iterator[Path]:
    """A folder for programs: in the user's cache, else one that is gone afterwards."""
    folder = kept.folder_of("native")
    try:
        if folder is None:
            raise FileNotFoundError
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        with tempfile.TemporaryDirectory(prefix="weakspot-native-") as name:
            yield Path(name)
        return
    yield folder
    programs = sorted(folder.glob("*.exe"), key=lambda file: file.stat().st_mtime)
    for old in programs[:-_KEPT]:
        for suffix in (".exe", ".s", ".c"):
            old.with_suffix(suffix).unlink(missing_ok=True)


def compiled(test: Test, source: str, machine: Machine, folder: Path) -> Program:
    """The program of that source, as the folder has it or made now. What runs is what the
    assembly beside it says: it is made from that."""
    compiler = tools.require(machine.compiler)
    name = kept.digest(source, compiler.path, compiler.version or "", *machine.flags)[:24]
    program = Program(folder / f"{name}.exe", places(statements(test)))
    if program.path.exists():
        program.path.touch()
        return program
    program.path.with_suffix(".c").write_text(source, encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "program"
        for given, wanted, how in (
            (program.path.with_suffix(".c"), program.assembly, ["-S"]),
            (program.assembly, made, []),
        ):
            ended = process.run(
                [compiler.path, *machine.flags, "-pthread", *how, str(given), "-o", str(wanted)],
                seconds=60.0,
                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"},
                memory=None,
            )
            if ended.timed_out:
                raise _Failed("compiling takes too long")
            if ended.code != 0:
                errors = re.findall(r"error: (.*)", ended.err) or ended.err.splitlines()[-1:]
                what = f": {errors[0]}" if errors else ""
                raise _Failed(f"{machine.compiler} does not compile it{what}")
        made.replace(program.path)
    return program


def sliced(
    program: Program, machine: Machine, setting: Setting, seconds: float, seed: int
) -> Slice:
    """Run the program once, for so many seconds. Raises _Failed."""
    given = {**setting, "ms": max(1, round(1000 * seconds)), "seed": seed}
    prefix = [tools.require(name).path for name in machine.prefix[:1]] + list(machine.prefix[1:])
    ended = process.run(
        [*prefix, str(program.path), *(f"{name}={value}" for name, value in given.items())],
        seconds=seconds + _GRACE,
        memory=None,
    )
    if ended.timed_out:
        raise _Failed(f"its program does not end within {seconds + _GRACE:.0f} s")
    if ended.code != 0:
        said = (ended.err or ended.out).strip().splitlines()[-1:]
        raise _Failed(f"its program ended with code {ended.code}{f': {said[0]}' if said else ''}")
    return _read(ended.out, len(program.places))


def _read(text: str, places: int) -> Slice:
    """What a program printed. Raises _Failed for anything that a whole program does not print."""
    *lines, last = text.splitlines() or [""]
    total = _TOTAL.fullmatch(last)
    counts: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        state = _STATE.fullmatch(line)
        if state is None or len(values := tuple(map(int, state[2].split()))) != places:
            raise _Failed(f"its program printed {line[:60]!r}")
        counts[values] += int(state[1])
    if total is None:
        raise _Failed(f"its program ended with {last[:60]!r}")
    iterations, hits, independent, spent = map(int, total.groups())
    if counts.total() != iterations or not 0 <= independent <= hits <= iterations:
        raise _Failed(
            f"its program's counts do not add up: {counts.total()} states of {iterations} "
            f"iterations, {hits} hits, {independent} of them independent"
        )
    return Slice(dict(counts), iterations, hits, independent, spent / 1e9)


# --- measuring --------------------------------------------------------------------------------


class _Tried(msgspec.Struct):
    """A setting, and what its slices gave."""

    setting: Setting
    slices: int = 0
    seconds: float = 0.0
    hits: int = 0
    independent: int = 0

    @property
    def rate(self) -> tuple[float, float]:
        """Independent hits a second; where there are none, hits."""
        spent = max(self.seconds, 1e-9)
        return self.independent / spent, self.hits / spent


class _Choice:
    """Which setting the next slice gets: each once, the remembered one first, then that which
    shows most; one slice in _CURIOUS goes to the one that was tried least. As long as nothing is
    seen, all in turn. (A bandit that is greedy with forced exploration; Auer, Cesa-Bianchi and
    Fischer, Machine Learning 47, 2002, have the analysis of its kin.)"""

    def __init__(self, settings: Sequence[Setting], first: Setting | None) -> None:
        order = [first] if first is not None else []
        order += [setting for setting in settings if setting != first]
        self.tried = [_Tried(setting) for setting in order]
        self.slices = 0

    def next(self) -> _Tried:
        self.slices += 1
        least = min(self.tried, key=lambda each: each.slices)
        best = self.best
        if least.slices == 0 and self.slices <= len(self.tried):
            return least
        if best.hits == 0 or self.slices % _CURIOUS == 0:
            return least
        return best

    @property
    def best(self) -> _Tried:
        return max(self.tried, key=lambda each: each.rate)


class Remembered(msgspec.Struct):
    """Which settings were best on a machine, by the digest of the test's program."""

    best: dict[str, Setting] = {}


class Memory:
    """What is remembered of a machine: a file in the user's cache folder. Without one that can be
    written nothing is."""

    def __init__(self, machine: Machine) -> None:
        known = profile(machine)
        kind = kept.digest(*(str(each) for each in (known.machine, known.cpu, known.hypervisor)))
        folder = kept.folder_of("settings")
        self.path = folder and folder / f"{kind[:16]}.json"
        self.best = (kept.read(self.path, Remembered) or Remembered()).best

    def write(self) -> None:
        kept.write(self.path, Remembered(self.best))


def measured(
    test: Test, program: Program, machine: Machine, seconds: float, memory: Memory
) -> Histogram:
    """Slices of the test's program for `seconds`, added up. Raises _Failed when the first slice
    fails, or when what is counted contradicts itself."""
    threads = len(statements(test).threads)
    choice = _Choice(SETTINGS, memory.best.get(program.path.stem))
    names = [f"{t}:{name}" if t is not None else f"[{name}]" for t, name in program.places]
    counts: Counter[tuple[int, ...]] = Counter()
    iterations = hits = independent = 0
    spent, problem = 0.0, ""
    length = min(_LONGEST, max(_SHORTEST, seconds / (2 * len(choice.tried))))
    begin = time.monotonic()
    while (left := seconds - (time.monotonic() - begin)) > 0 or not choice.slices:
        tried = choice.next()
        try:
            found = sliced(
                program, machine, tried.setting, max(_SHORTEST, min(length, left)), choice.slices
            )
        except _Failed as error:
            if not iterations:
                raise
            problem = str(error)
            break
        counts.update(found.counts)
        tried.slices += 1
        tried.seconds += found.seconds
        tried.hits += found.hits
        tried.independent += found.independent
        iterations += found.iterations
        hits += found.hits
        independent += found.independent
        spent += found.seconds
    states = [
        Count({name: str(value) for name, value in zip(names, values, strict=True)}, count)
        for values, count in sorted(counts.items())
    ]
    holds = proposition(test.condition)
    if holds is None or sum(each.count for each in states if holds(each.state)) != hits:
        raise _Failed("its program's hits are not those of the condition")
    best = choice.best
    if best.hits:
        memory.best[program.path.stem] = best.setting
    parameters = {
        "setting": " ".join(f"{name}={value}" for name, value in best.setting.items()) or "default",
        "settings": str(sum(each.slices > 0 for each in choice.tried)),
        "slices": str(choice.slices),
        "compiler": f"{machine.compiler} {tools.require(machine.compiler).version or ''}",
        "assembly": str(program.assembly),
    }
    if threads > cores():
        parameters["crowded"] = f"{threads} threads on {cores()} processors"
    if problem:
        parameters["cut"] = problem
    return Histogram(
        test=test.name,
        machine=machine.name,
        runner="native",
        histogram=tuple(states),
        target=hits,
        target_independent=independent,
        iterations=iterations,
        seconds=round(spent, 4),
        condition=test.condition,
        arch=machine.arch,
        emulated=machine.emulated,
        parameters=parameters,
        hash=herd_hash(test),
        sites=test.sites,
    )
