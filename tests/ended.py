"""How a command ended, and what it printed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Ended(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str

    def printed(self, code: int) -> str:
        """Its output, if it ended with this code."""
        assert self.code == code, f"exit code {self.code}\n{self.err}{self.out}"
        return self.out

    def reported(self, code: int) -> str:
        """The same of standard error."""
        self.printed(code)
        return self.err


def execute(
    *words: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Ended:
    """How a program ended that was started with these arguments."""
    done = subprocess.run(
        words, cwd=cwd, env=env, timeout=timeout, capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)
