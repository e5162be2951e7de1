"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from weakspot.system.durations import seconds_of

CHECKERS = ("engine", "herd7", "cbmc")
RUNNERS = ("native", "litmus7")


def duration(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A duration as `seconds_of` reads it."""
    seconds = seconds_of(given)
    if seconds is None:
        raise click.BadParameter(
            f"{given!r} is not a duration; write 500ms, 10s, 2m or 1h.", ctx, param
        )
    return seconds


def some_time(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A duration that is more than none."""
    seconds = duration(ctx, param, given)
    if not seconds:
        raise click.BadParameter(f"{given!r} is no time; write for example 10s.", ctx, param)
    return seconds


def listed(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """`--model a,b --model c` as a, b, c, each once."""
    names = (name.strip() for words in given for name in words.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


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
