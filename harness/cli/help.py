"""Help that shows examples, and suggestions for a mistyped command."""

from __future__ import annotations

import difflib
import importlib
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import click

COMPILER_FLAGS = "weakspot.compiler_flags"
"""Where a click context has the flags for the compiler."""


class Command(click.Command):
    """A command whose epilog is printed as it is written, but for the words of `names`, which stand
    for what registries hold. Words after `--` are flags for the compiler, if the command
    compiles, and so are options that compilers alone have."""

    def __init__(
        self, *args: Any, names: Mapping[str, Callable[[], str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._names = names or {}

    @property
    def notes(self) -> str:
        """The epilog as it is printed."""
        text = self.epilog or ""
        for word, listed in self._names.items():
            text = text.replace(word, listed())
        return text

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(each.name == "compile_commands" for each in self.params):
            at = args.index("--") if "--" in args else len(args)
            args, flags = args[:at], args[at + 1 :]
            if any(word.startswith(("-O", "-g", "-f", "-m", "-pthread")) for word in args):
                from weakspot.generators.source.compiler_options import is_of_compilers

                flags = [*filter(is_of_compilers, args), *flags]
                args = [word for word in args if not is_of_compilers(word)]
            ctx.meta[COMPILER_FLAGS] = tuple(flags)
        return super().parse_args(ctx, args)

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        _as_written(self.notes, formatter)


class Commands(click.Group):
    """Commands in the order of `summaries`, name to first line of the help; the module of a
    command is imported when it is used. A mistyped name gets a suggestion."""

    command_class = Command

    def __init__(self, *args: Any, summaries: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.summaries = summaries

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in self.summaries:
            return None
        module = importlib.import_module(f"weakspot.harness.cli.{name}")
        found: click.Command = getattr(module, name)
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        _as_written(self.epilog, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.summaries and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], self.summaries, n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise click.UsageError(f"Unknown command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)


def _as_written(epilog: str | None, formatter: click.HelpFormatter) -> None:
    """Lines that are too long for the terminal are wrapped: paragraphs as a whole, indented lines
    alone."""
    if not epilog:
        return
    lines = [line.rstrip() for line in epilog.splitlines()]
    if sys.stdout.isatty() and any(len(line) > formatter.width for line in lines):
        lines = [part for line in _paragraphs(lines) for part in _within(line, formatter.width)]
    formatter.write("\n" + "\n".join(lines) + "\n")


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Consecutive lines of prose as one."""
    prose: list[str] = []
    for line in (*lines, ""):
        if line and not line.startswith(" ") and not line.endswith(":"):
            prose.append(line)
            continue
        if prose:
            yield " ".join(prose)
            prose = []
        yield line


def _within(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line, width, subsequent_indent=f"{indent}    " if indent else "", break_on_hyphens=False
    ) or [""]


command = partial(click.command, cls=Command)
