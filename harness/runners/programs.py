"""Programs of the native runner: compiled once, kept, run in slices, and not believed blindly.

What a program prints counts only if it fits together.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from weakspot.generators import kept
from weakspot.generators.emit.threads import Place
from weakspot.harness import process
from weakspot.harness.machines import Machine, Session, compilers
from weakspot.harness.runners.tuning import Setting

_GRACE = 5.0  # seconds that a slice may be late: a crowded machine takes its processors away
_KEPT = 2000  # compiled programs in the cache

_STATE = re.compile(r"state (\d+)((?: -?\d+)+)")
_TOTAL = re.compile(r"total (\d+) (\d+) (\d+) (\d+) (\d+)")


class Program(msgspec.Struct, frozen=True):
    """A compiled test: the program, and beside it its C and its assembly."""

    path: Path
    places: tuple[Place, ...]

    @property
    def assembly(self) -> Path:
        return self.path.with_suffix(".s")


class Slice(msgspec.Struct, frozen=True):
    """What one slice counted, by the values of the observed places; how long it took, and how
    much time all its threads had a processor."""

    counts: dict[tuple[int, ...], int]
    iterations: int
    hits: int
    independent: int
    seconds: float
    processor: float


class Failed(Exception):
    """A program could not be made or run, or what it says does not fit together."""


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
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


def compiled(
    source: str,
    places: tuple[Place, ...],
    machine: Machine,
    folder: Path,
    crew: process.Crew | None = None,
) -> Program:
    """The program of that source, which prints the values of those places, as the folder has it
    or made now. What runs is what the assembly beside it says: it is made from that."""
    compiler = compilers.require(machine)
    name = kept.digest(source, *compiler.command, compiler.stated, *machine.flags)[:24]
    program = Program(folder / f"{name}.exe", places)
    if program.path.exists():
        program.path.touch()
        return program
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / program.path.name
        made.with_suffix(".c").write_text(source, encoding="utf-8")
        for given, wanted, how in ((".c", ".s", ["-S"]), (".s", ".exe", [])):
            ended = process.run(
                [
                    *(*compiler.command, *machine.flags, "-pthread", *how),
                    *(made.with_suffix(given).name, "-o", made.with_suffix(wanted).name),
                ],
                cwd=Path(scratch),
                seconds=60.0,
                env={**os.environ, "LC_ALL": "C"},
                memory=None,
                crew=crew,
            )
            if ended.timed_out:
                raise Failed("compiling takes too long")
            if ended.code != 0:
                errors = re.findall(r"error: (.*)", ended.err) or ended.err.splitlines()[-1:]
                what = f": {errors[0]}" if errors else ""
                raise Failed(f"{compiler.name} does not compile it{what}")
        for suffix in (".c", ".s", ".exe"):  # the program last: what is there is whole
            made.with_suffix(suffix).replace(program.path.with_suffix(suffix))
    return program


def sliced(program: Program, at: Session, setting: Setting, seconds: float, seed: int) -> Slice:
    """Run the program once, for so many seconds. Raises Failed, Lost."""
    given = {**setting, "ms": max(1, round(1000 * seconds)), "seed": seed}
    arguments = [f"{name}={value}" for name, value in given.items()]
    ended = at.run(program.path, arguments, seconds=seconds + _GRACE)
    if ended.timed_out:
        raise Failed(f"its program does not end within {seconds + _GRACE:.0f} s")
    if ended.code != 0:
        said = (ended.err or ended.out).strip().splitlines()[-1:]
        raise Failed(f"its program ended with code {ended.code}{f': {said[0]}' if said else ''}")
    return _read(ended.out, len(program.places))


def _read(text: str, places: int) -> Slice:
    """What a program printed. Raises Failed for anything that a whole program does not print."""
    *lines, last = text.splitlines() or [""]
    total = _TOTAL.fullmatch(last)
    counts: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        state = _STATE.fullmatch(line)
        if state is None or len(values := tuple(map(int, state[2].split()))) != places:
            raise Failed(f"its program printed {line[:60]!r}")
        counts[values] += int(state[1])
    if total is None:
        raise Failed(f"its program ended with {last[:60]!r}")
    iterations, hits, independent, spent, used = map(int, total.groups())
    if counts.total() != iterations or not 0 <= independent <= hits <= iterations:
        raise Failed(
            f"its program's counts do not add up: {counts.total()} states of {iterations} "
            f"iterations, {hits} hits, {independent} of them independent"
        )
    return Slice(dict(counts), iterations, hits, independent, spent / 1e9, used / 1e9)
