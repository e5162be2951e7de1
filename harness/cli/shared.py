"""What commands share: arguments and options, gathering what was named, printing."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from weakspot.harness.cli.errors import Command, listed, some_time

if TYPE_CHECKING:
    import msgspec

    from weakspot.harness.campaign.campaign import Progress
    from weakspot.harness.corpus.material import Generator, Material
    from weakspot.harness.values.record import Record

CHECKERS = ("engine", "herd7", "cbmc")
RUNNERS = ("native", "litmus7")

command = partial(click.command, cls=Command)


# --- options ----------------------------------------------------------------------------------


def what_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("what", nargs=-1, required=True, metavar="WHAT…")(command)


def ways_option(under: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--compiled",
        "ways",
        multiple=True,
        callback=listed,
        metavar="WAY[,…]",
        help=f"Compile the tests and compare the machine code with them, {under}: by compilers "
        "(gcc, clang-14, zig), at levels (O0 to O3), for targets (x86, aarch64, aarch64-lse, "
        "aarch64-rcpc, power, riscv); of what is not named, all that there are; or all.",
    )


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "include",
            "-I",
            multiple=True,
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="Look for headers of C files in this folder too.",
        ),
        click.option(
            "defines",
            "-D",
            multiple=True,
            metavar="NAME[=VALUE]",
            help="Define a macro for C files.",
        ),
    ):
        command = option(command)
    return command


def model_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--model",
        "-m",
        "models",
        multiple=True,
        callback=listed,
        metavar="M[,M…]",
        help="Models by name (`weakspot models` lists them) or paths of cat files.  "
        "[default: the structure's own; else those that read the test]",
    )(command)


def timeout_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--timeout",
        callback=some_time,
        metavar="DURATION",
        default="20s",
        show_default=True,
        help="The limit of one test under one model.",
    )(command)


def bound_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--seconds",
            "explore_seconds",
            callback=some_time,
            metavar="DURATION",
            default="20s",
            show_default=True,
            help="The limit of exploring one program under one model.",
        ),
        click.option(
            "--executions",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="Explore so many executions of a program at most.  [default: all]",
        ),
        click.option(
            "--loops",
            type=click.IntRange(min=1),
            default=4,
            show_default=True,
            metavar="N",
            help="Follow a loop for so many rounds; one that only waits is not bounded.",
        ),
    ):
        command = option(command)
    return command


def configured(key: Literal["machines", "seconds"]) -> Callable[[], Any]:
    """The default of an option of runs: what [run] of the project's configuration says."""

    def wanted() -> Any:
        from weakspot.harness.gate import config, where

        file = where.find(Path.cwd())
        run = config.read(file).run if file is not None else config.Run()
        return str(run.seconds) if key == "seconds" else run.machines

    return wanted


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "form",
            "--format",
            type=click.Choice(["text", "json", "herd"]),
            help="As what to print.",
        ),
        click.option("form", "--json", flag_value="json", help="One JSON object a line."),
    ):
        command = option(command)
    return command


# --- what they do alike -----------------------------------------------------------------------


def say(lines: Iterable[str], end: str = "\n") -> None:
    for line in lines:
        sys.stdout.write(f"{line}{end}")


def json_lines(values: Iterable[msgspec.Struct]) -> Iterator[str]:
    """Verdicts, explorations, histograms or findings, one JSON object a line."""
    import msgspec

    for value in values:
        yield msgspec.json.encode(value).decode()


def results_folder() -> Path:
    """Where campaigns are written by default."""
    from weakspot.harness.campaign import campaign

    return Path(os.environ.get("WEAKSPOT_RESULTS") or campaign.RESULTS)


@contextlib.contextmanager
def watched() -> Iterator[Progress]:
    """A bar for a person; nothing for a pipe or a log."""
    from weakspot.harness.campaign import campaign

    if sys.stderr.isatty():
        from weakspot.harness.report import terminal

        with terminal.progress() as progress:
            yield progress
    else:
        yield campaign.Quiet()


def gathered(what: Sequence[str], models: Sequence[str], generator: Generator) -> Material:
    from weakspot.harness.corpus import material

    with watched() as progress:
        progress.start(0, "generating")
        return material.gather(
            what, under=models, generator=generator, report=lambda _: progress.advance()
        )


def judged(record: Record, *, aside: bool) -> int:
    """Say what was found, beside the answers where a program reads these; the exit code."""
    from weakspot.harness.judge import findings

    errors = [each for each in record.findings if each.severity == "error" and not each.recorded]
    if errors:
        from weakspot.harness.report import terminal, text

        text.findings(record, errors, terminal.console(sys.stderr if aside else sys.stdout))
    return findings.exit_code(record)
