"""What a shell offers after the words typed so far."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import Run


@pytest.fixture
def offered(run: Run) -> dict[str, list[str]]:
    """What is offered after each line, as bash asks for it: `type,value`."""

    def asked(line: str) -> list[str]:
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        return run(_WEAKSPOT_COMPLETE="bash_complete", **words).out.split()

    lines = (
        "weakspot check ",
        "weakspot check m",
        "weakspot check spsc_r",
        "weakspot check mp.c -m sc,rc2",
        "weakspot check mp.c -m my",
        "weakspot explain ws20",
        "weakspot structures spsc_r",
        "weakspot new qu",
        "weakspot linearize mp.c --as my",
    )
    return {line: asked(line) for line in lines}


def test_own_words_and_else_files(offered: dict[str, list[str]], folder: Path) -> None:
    assert (folder / "mp.c").exists()
    assert list(offered.values()) == [
        ["file,"],
        ["file,m"],
        ["plain,spsc_ring"],
        ["plain,sc,rc20"],
        ["file,my"],
        ["plain,WS201", "plain,WS202"],
        ["plain,spsc_ring"],
        ["plain,queue"],
        ["file,my"],
    ]
