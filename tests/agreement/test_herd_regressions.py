"""herd7's own regression tests: for each that herd7 answers, the engine has the same states,
observation and flags, or says what it does not support. They are in the source of herdtools7
(`apt-get source herdtools7`), whose folder WEAKSPOT_HERDTOOLS_SOURCE names.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from asking import answers
from engine_answers import as_answer
from herdtools import ask

from weakspot.system import herdtools
from weakspot.system.tools import Tool

SOURCE = os.environ.get("WEAKSPOT_HERDTOOLS_SOURCE", "")


class Suite(NamedTuple):
    """A folder of regression tests, the model that they are for, and the fewest equal answers."""

    folder: str
    model: str
    equal: int


SUITES = [
    Suite("C", "rc11.cat", 7),
    Suite("X86_64", "x86tso-mixed.cat", 11),
    Suite("AArch64", "aarch64.cat", 246),
    Suite("PPC", "ppc.cat", 14),
    Suite("RISCV", "riscv.cat", 13),
]


@pytest.mark.full
@pytest.mark.skipif(not SOURCE, reason="WEAKSPOT_HERDTOOLS_SOURCE names no source of herdtools7")
@pytest.mark.parametrize("suite", SUITES, ids=[suite.folder for suite in SUITES])
def test_the_engine_has_herd7s_states_or_none(suite: Suite, herd7: Tool) -> None:
    library = herdtools.libdir()
    assert library is not None
    model = library / suite.model
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    different = []
    for test in sorted((Path(SOURCE) / "herd/tests/instructions" / suite.folder).glob("*.litmus")):
        [ours] = answers([str(test)], model, folders=[str(library)])
        try:
            [theirs] = ask(herd7, model, [test]).values()
        except (subprocess.CalledProcessError, AssertionError):
            counts["refused by herd7"] += 1
            continue
        if ours["reason"]:
            counts["unsupported"] += 1
            reasons[ours["reason"]] += 1
        elif as_answer(ours) == theirs:
            counts["equal"] += 1
        else:
            different.append((test.name, as_answer(ours), theirs))
    print(suite.folder, dict(counts), *reasons.most_common(20), sep="\n  ")
    assert not different
    assert counts["equal"] >= suite.equal
