"""Pages that are followed step by step, with the real tools, as a reader does it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

#: a file to save, or a session
STEP = re.compile(
    r"`(?P<name>[\w./-]+)`:\n\n```\w+\n(?P<text>.*?)```"
    r"|^(?P<indent> *)```console\n(?P<session>.*?)```",
    re.S | re.M,
)


def files(page: Path) -> dict[str, str]:
    """The files that the page shows, by name."""
    steps = STEP.finditer(page.read_text(encoding="utf-8"))
    return {step["name"]: step["text"] for step in steps if step["name"]}


def follow(page: Path, folder: Path) -> None:
    """Saves each file in the folder and runs each command there. Every line shown must be printed,
    in this order; `…` stands for lines, and at the end of a line for the rest of it, left out."""
    for step in STEP.finditer(page.read_text(encoding="utf-8")):
        if step["name"]:
            path = folder / step["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"])
            continue
        session = re.sub(f"^{step['indent']}", "", step["session"], flags=re.M)
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", session, re.M):
            _run(command, shown, folder)


def _run(command: str, shown: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = re.search(r"^WS1|[1-9] tests failed|^::error", shown, re.M)
    assert bool(ended.returncode) == bool(wrong), f"{command}\n{ended.stdout}{ended.stderr}"
    printed = iter(ended.stdout.splitlines())
    for line in shown.splitlines():
        start, _, rest = line.partition("…")
        found = line == "…" or any(
            each == line or (not rest and "…" in line and each.startswith(start))
            for each in printed
        )
        assert found, f"{command}: not printed in its place: {line}\n{ended.stdout}"
