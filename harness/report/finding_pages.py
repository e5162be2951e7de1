"""The pages of docs/findings: one per kind of finding."""

from __future__ import annotations

from typing import IO

from weakspot.harness.judge.kinds import FindingKind


def page(kind: FindingKind, out: IO[str]) -> None:
    """Print the page on a kind of finding: laid out on a terminal, elsewhere as it is written."""
    if out.isatty():
        from rich.markdown import Markdown

        from weakspot.harness.report import terminal

        terminal.console(out).print(Markdown(kind.text), soft_wrap=False)
    else:
        out.write(f"{kind.text.rstrip()}\n")
