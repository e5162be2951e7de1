"""Printing: colours and bars in a terminal, plain stable lines in a pipe."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STYLES = {
    "Never": "green",
    "Sometimes": "yellow",
    "Always": "cyan",
    "Undefined": "red",
    "Safe": "green",
    "Violated": "red",
    "Unknown": "dim",
    "Preserved": "green",
    "Weaker": "red",
    "error": "bold red",
    "warning": "yellow",
    "note": "cyan",
}


class Terminal(Console):
    """A console as wide as the terminal: a line of text that is too long continues in the next one,
    indented, between words where that is possible."""

    def print(self, *objects: Any, **options: Any) -> None:
        if len(objects) != 1 or not isinstance(objects[0], str | Text):
            super().print(*objects, **options)
            return
        (text,) = objects
        if isinstance(text, str):
            markup = options.pop("markup", True)
            text = Text.from_markup(text, emoji=False) if markup else Text(text)
        for line in text.split("\n", allow_blank=True) or [text]:
            for part in wrapped(line, self.width):
                super().print(part, **options)


_LEAD = re.compile(r"help: | *(\|  +|\| |=  ?|--> )?")


def wrapped(line: Text, width: int) -> list[Text]:
    """A line of text as lines of at most that width; those after the first are indented more, and
    keep the margin of a diagnostic."""
    if line.cell_len <= width:
        return [line]
    lead = _LEAD.match(line.plain)
    first = lead[0] if lead is not None and cell_len(lead[0]) <= width // 2 else ""
    margin = first[: first.index("|") + 1] if "|" in first else ""
    rest = margin.ljust(len(first) + (0 if first.startswith("help") else 2))
    prefix, body = line[: len(first)], line[len(first) :]
    parts = body.wrap(Console(width=width), width - cell_len(rest), overflow="fold")
    lines = [prefix + parts[0], *(Text(rest) + part for part in parts[1:])]
    for each in lines:
        each.rstrip()
    return lines


def text_width(out: Console, margin: int = 0) -> int | None:
    """How wide a drawing may be that is printed beside a margin; None if there is no limit."""
    return out.width - margin if isinstance(out, Terminal) else None


def console(file: IO[str] | None = None) -> Console:
    """The console that reports are printed on: coloured and as wide as the terminal in a terminal,
    else plain and unwrapped."""
    out = file if file is not None else sys.stdout
    if out.isatty():
        return Terminal(file=out, highlight=False, soft_wrap=True, emoji=False)
    return Console(
        file=out, highlight=False, soft_wrap=True, emoji=False, no_color=True, width=10_000
    )


def style(word: str) -> str:
    """The colour of an observation or a severity."""
    return _STYLES.get(word, "")


def diagnostic(id: str, severity: str, message: str, note: str = "") -> Text:
    """The first line of a finding: `WS102 data race on x  [data race]`"""
    return Text.assemble(
        (f"{id} ", style(severity)), message, (f"  [{note}]" if note else "", "dim")
    )


def advice(*parts: str | tuple[str, str]) -> Text:
    """`help: join the thread`"""
    return Text.assemble(("help: ", "cyan"), *parts)


def columns(rows: Iterable[Sequence[str | Text]], *, gap: int = 2, indent: int = 0) -> list[Text]:
    """Rows as lines with aligned cells, without trailing spaces."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    widths = [
        max((cell_len(row[at].plain) for row in cells if at < len(row)), default=0)
        for at in range(count)
    ]
    lines = []
    for row in cells:
        line = Text(" " * indent)
        for at, cell in enumerate(row):
            line.append_text(cell)
            if at < len(row) - 1:
                line.append(" " * (widths[at] - cell_len(cell.plain) + gap))
        line.rstrip()
        lines.append(line)
    return lines


def print_dim(text: str, out: Console) -> None:
    """Print what only some readers need."""
    out.print(Text(text, style="dim"))


def print_lines(lines: Iterable[Text], out: Console) -> None:
    """Print lines, which may be many: without a terminal there is nothing to lay out."""
    if out.is_terminal:
        for line in lines:
            out.print(line)
    else:
        out.file.write("".join(f"{line.plain}\n" for line in lines))


def print_table(rows: Iterable[Sequence[str | Text]], out: Console, *, indent: int = 0) -> None:
    """Print rows with aligned cells."""
    print_lines(columns(rows, indent=indent), out)


def bar(part: float, width: int = 24) -> str:
    """A bar in eighths of a cell; a part above zero shows at least one eighth."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    if part > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def magnitude(count: int, total: int) -> float:
    """The length of a logarithmic bar, in 0..1: one in ten million is still visible."""
    return math.log10(count + 1) / math.log10(total + 1) if count and total else 0.0
