"""How a command ended, and what it printed."""

from __future__ import annotations

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
