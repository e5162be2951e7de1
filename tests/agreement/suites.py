"""The agreement suites: litmus tests of a dialect, made by diy7 from the configurations in suites/.

A configuration is named DIALECT-TOPIC.conf; a suite is all of its dialect's, without the tests
that several of them make. diy7 chooses nothing at random: the same version makes the same tests.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from herdtools import generate

from weakspot.harness.tools import require

CONFIGURATIONS = Path(__file__).parent / "suites"

DIALECTS = tuple(sorted({path.stem.partition("-")[0] for path in CONFIGURATIONS.glob("*.conf")}))
"""In herd7's words: AArch64, C, PPC, RISCV, X86_64."""


def suite(name: str, folder: Path, limit: int | None = None) -> list[Path]:
    """The tests of a dialect, written into `folder`, in the order of their names.

    With `limit`, a fixed sample of at most so many of them: every k-th. Raises MissingTool where
    diy7 is not installed.
    """
    diy7 = require("diy7")
    topics = sorted(CONFIGURATIONS.glob(f"{name}-*.conf"))
    if not topics:
        raise ValueError(f"no suite {name!r}; there are {', '.join(DIALECTS)}")

    def of(topic: Path) -> list[Path]:
        into = folder / topic.stem
        into.mkdir(parents=True)
        return generate(diy7, topic, into)

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(of, topics))
    tests: dict[str, Path] = {}
    for paths in made:
        for path in paths:  # a name is the cycle's: one name, one test
            tests.setdefault(path.name, path)
    chosen = [tests[name] for name in sorted(tests)]
    return chosen if limit is None else chosen[:: -(-len(chosen) // limit)]
