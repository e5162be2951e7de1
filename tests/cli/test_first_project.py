"""docs/first-project.md, step by step as a new user does it, with the real tools."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from weakspot.system.tools import Tool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first-project.md"
#: a file to save, or a session
STEP = re.compile(
    r"`(?P<name>[\w./-]+)`:\n\n```(?:cpp|cmake)\n(?P<text>.*?)```|```console\n(?P<session>.*?)```",
    re.S,
)


def test_each_step_prints_what_the_page_shows(need: Callable[[str], Tool], tmp_path: Path) -> None:
    need("cmake")
    need("ctest")
    steps = list(STEP.finditer(PAGE.read_text(encoding="utf-8")))
    assert len([each for each in steps if each["name"]]) == 3
    for step in steps:
        if step["name"]:
            path = tmp_path / step["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"])
            continue
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", step["session"], re.M):
            path_ = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            ended = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path_, "NO_COLOR": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
            wrong = re.search(r"^WS1|[1-9] tests failed", shown, re.M)
            assert bool(ended.returncode) == bool(wrong), f"{command}\n{ended.stdout}{ended.stderr}"
            printed = iter(ended.stdout.splitlines())
            for line in shown.splitlines():
                start, _, rest = line.partition("…")
                found = line == "…" or any(
                    each == line or (not rest and "…" in line and each.startswith(start))
                    for each in printed
                )
                assert found, f"{command}: not printed in its place: {line}\n{ended.stdout}"
