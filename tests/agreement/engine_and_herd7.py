"""Puts litmus tests to the engine and to herd7 and says where their answers differ.

    engine_and_herd7.py --driver CHECK --model FILE.cat [--seconds N] FOLDER…

CHECK is the engine's example `check`, built in release mode. The model is a file, or a name in
herd7's library. A test on which herd7 runs out of its time is not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: tests a process of herd7
BATCH = 200


@dataclass(frozen=True)
class Answer:
    """What a log says of a test."""

    states: frozenset[str]
    verdict: str
    witnesses: str
    flags: frozenset[str]
    condition: str
    observation: str


def answers(log: str) -> Iterator[tuple[str, Answer]]:
    """The answers of a log of herd7's form, by test name."""
    for block in re.split(r"(?m)^(?=Test )", log):
        lines = block.splitlines()
        if len(lines) < 5 or not lines[1].startswith("States "):
            continue
        count = int(lines[1].split()[1])
        rest = lines[2 + count :]
        find = {line.split(" ", 1)[0]: line for line in rest if " " in line}
        yield (
            lines[0].split()[1],
            Answer(
                states=frozenset(map(_named, lines[2 : 2 + count])),
                verdict=rest[0],
                witnesses=find.get("Positive:", ""),
                flags=frozenset(line for line in rest if line.startswith("Flag ")),
                condition=find.get("Condition", ""),
                observation=find.get("Observation", ""),
            ),
        )


def _named(state: str) -> str:
    """A state with its open values (S7, S9, …) named in the order they appear."""
    names: dict[str, str] = {}
    return re.sub(r"=S\d+", lambda m: names.setdefault(m[0], f"=S{len(names) + 1}"), state)


def herd7(tests: Sequence[Path], model: str, folders: Sequence[str], seconds: float) -> str:
    """herd7's log; tests that run out of time are missing from it."""
    command = ["herd7", "-timeout", str(seconds), "-model", model]
    command += [word for folder in folders for word in ("-I", folder)]
    return subprocess.run([*command, *map(str, tests)], capture_output=True, text=True).stdout


def engine(driver: str, tests: Sequence[Path], model: str, folders: Sequence[str]) -> str:
    """The engine's log."""
    command = [driver, "-model", model]
    command += [word for folder in (*folders, library()) for word in ("-I", folder)]
    run = subprocess.run([*command, *map(str, tests)], capture_output=True, text=True)
    sys.stderr.write(run.stderr[:2000])
    return run.stdout


def library() -> str:
    """The folder of herd7's own cat files."""
    return subprocess.run(["herd7", "-libdir"], capture_output=True, text=True).stdout.strip()


def processor() -> float:
    """Seconds of processor time that finished children took."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    # herd7 looks for a name in the included folders first: a path means the same to both
    model = options.model if Path(options.model).exists() else f"{library()}/{options.model}"
    tests = sorted(t for folder in options.folders for t in folder.rglob("*.litmus"))
    start = time.perf_counter(), processor()
    ours = dict(answers(engine(options.driver, tests, model, options.include)))
    middle = time.perf_counter(), processor()
    theirs: dict[str, Answer] = {}
    for at in range(0, len(tests), BATCH):
        batch = tests[at : at + BATCH]
        log = herd7(batch, model, options.include, options.seconds)
        theirs.update(answers(log))
    end = time.perf_counter(), processor()
    different = []
    for test in tests:
        name = test.read_text().split()[1]
        if name not in theirs or theirs[name] == ours.get(name):
            continue
        different.append(test)
        print(f"{test}\n  herd7  {theirs[name]}\n  engine {ours.get(name)}")
    compared = sum(1 for name in theirs)
    mine, its = middle[1] - start[1], end[1] - middle[1]
    print(
        f"{options.model}: {len(tests)} tests, {compared} compared, {len(different)} different; "
        f"processor seconds: engine {mine:.2f}, herd7 {its:.2f} ({its / max(mine, 1e-3):.0f} times)"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
