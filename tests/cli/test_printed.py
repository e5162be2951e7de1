"""What commands print about small inputs."""

from __future__ import annotations

import re

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (0, "models"),
        (0, "structures"),
        (0, "structures store_buffering"),
        (0, "structures store_buffering --claims"),
        (0, "gen SB.litmus"),
        (0, "gen SB.litmus --isa x86,power"),
        (0, "gen mp.c --list"),
        (0, "gen mp.c"),
        (0, "gen store_buffering --check"),
        (0, "check SB.litmus -m sc,tso,rc11"),
        (0, "check SB.litmus -m sc,tso --witness"),
        (0, "check SB.litmus -m tso --format herd"),
        (0, "check mp.c -m sc,tso"),
        (1, "check mp.c"),
        (1, "check wrong.c -m sc"),
        (1, "gate mp.c"),
        (1, "relax mp.c"),
        (1, "relax wrong.c"),
    ],
)
def test_printed(run: Run, snapshot: SnapshotAssertion, code: int, line: str) -> None:
    ended = run(*line.split())
    assert ended.code == code, ended.err
    assert ended.err == ""
    # the kernel's model is listed where it is installed
    printed = re.sub(r"^lkmm .*\n", "", ended.out, flags=re.MULTILINE)
    assert steady(printed) == snapshot
