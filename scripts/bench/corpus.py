"""The explorations of the corpus's programs, as `weakspot check --json` prints them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

WEAKSPOT = Path(sys.executable).with_name("weakspot")


def explored(structure: str, *options: str, by: Path = WEAKSPOT) -> list[dict[str, Any]]:
    """The explorations of a structure's programs, with the number of all executions of each. `by`:
    the weakspot that explores."""
    command = [str(by), "check", structure, *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    counted = ("complete", "blocked", "truncated", "faulty")
    return [
        line | {"executions": sum(line[count] for count in counted)}
        for line in lines
        if "complete" in line
    ]
