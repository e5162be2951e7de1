"""The agreement suites: litmus tests of a dialect, made by diy7 from the configurations in suites/.

A configuration is named DIALECT-TOPIC.conf; a suite is all of its dialect's, without the tests
that several of them make. X86 has those of X86_64, asked for in 32 bits. diy7 chooses nothing at
random: the same version makes the same tests.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from herdtools import generate

from weakspot.system.tools import require

CONFIGURATIONS = Path(__file__).parent / "suites"

X86_LACKS = "X86_64-fences"
"""diy7 knows sfence and lfence in 64 bits only."""


def _topics() -> dict[str, list[Path]]:
    topics: dict[str, list[Path]] = {}
    for path in sorted(CONFIGURATIONS.glob("*.conf")):
        topics.setdefault(path.stem.partition("-")[0], []).append(path)
    topics["X86"] = [path for path in topics["X86_64"] if path.stem != X86_LACKS]
    return topics


TOPICS = _topics()
"""The configurations of each dialect in herd7's words: AArch64, C, PPC, RISCV, X86, X86_64."""


def suite(name: str, folder: Path, limit: int | None = None) -> list[Path]:
    """The tests of a dialect, written into `folder`, in the order of their names.

    With `limit`, a fixed sample of at most so many of them: every k-th. Raises MissingTool where
    diy7 is not installed.
    """
    diy7 = require("diy7")
    if name not in TOPICS:
        raise ValueError(f"no suite {name!r}; there are {', '.join(TOPICS)}")

    def of(topic: Path) -> list[Path]:
        into = folder / topic.stem
        into.mkdir(parents=True)
        return generate(diy7, topic, into, "-arch", name)

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(of, TOPICS[name]))
    tests: dict[str, Path] = {}
    for paths in made:
        for path in paths:  # a name is the cycle's: one name, one test
            tests.setdefault(path.name, path)
    chosen = [tests[name] for name in sorted(tests)]
    return chosen if limit is None else chosen[:: -(-len(chosen) // limit)]
