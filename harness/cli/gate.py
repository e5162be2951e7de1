"""`weakspot gate`: a project's own programs and tests, in CI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.errors import NOTHING_FOUND, keeping
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import say, watched
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.report.outputs import OUTPUTS, File, Printed
from weakspot.system.files import disk


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each output; the default needs none."""
    for output in reversed(tuple(OUTPUTS)):
        name = f"output_{output.name}"
        if isinstance(output, File):
            file = click.Path(path_type=Path, dir_okay=False)
            option = click.option(
                f"--{output.name}", name, metavar="FILE", type=file, help=output.help
            )
        elif output is not OUTPUTS.default:
            option = click.option(f"--{output.name}", name, is_flag=True, help=output.help)
        else:
            continue
        command = option(command)
    return command


@command(
    epilog="""\
Reads weakspot.toml, or [tool.weakspot] in pyproject.toml, in this folder or above it:

  [gate]
  scenarios = ["tests/weakspot/*.cpp"]   programs with a main, and .litmus files
  include = ["include"]

PATH restricts it to a file, or to the scenarios below a folder. What is known of unchanged
scenarios is kept in .weakspot beside the configuration.

Examples:
  weakspot gate
  weakspot gate tests/weakspot/push_pop.cpp
  weakspot gate --sarif weakspot.sarif --junit weakspot.xml --github
  weakspot gate --write-baseline      accept what is found now"""
)
@click.argument("paths", nargs=-1, metavar="[PATH…]", type=click.Path(path_type=Path))
@click.option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration.  [default: the nearest one upwards]",
)
@click.option("--no-cache", is_flag=True, help="Ask everything anew.")
@click.option("--write-baseline", is_flag=True, help="Accept what is found now: it fails no more.")
@output_options
def gate(
    paths: tuple[Path, ...],
    file: Path | None,
    no_cache: bool,
    write_baseline: bool,
    **outputs: Any,
) -> int:
    """Fail where a memory order is too weak.

    Explores the project's scenarios and fails with the line, the execution that goes wrong, and
    the order needed. Findings that the baseline accepts do not fail."""
    from weakspot.harness.gate import baseline, config_file
    from weakspot.harness.gate import config as configured
    from weakspot.harness.gate.run import run
    from weakspot.harness.values.numbers import amount

    here = Path.cwd()
    file = file or config_file.find(here)
    if file is None and not paths:
        raise BadInput(
            "nothing says what to check",
            advice='write weakspot.toml with [gate] and scenarios = ["tests/weakspot/*.cpp"], '
            "or name files",
        )
    config = configured.read(file) if file is not None else configured.without_file(here)
    scenarios = configured.chosen(config, paths)
    if not scenarios:
        raise BadInput(
            "no scenarios are configured",
            place=str(config.file),
            advice='give [gate] scenarios = ["tests/weakspot/*.cpp"]',
        )
    with (
        keeping("the answers so far are stored in .weakspot; run the same command again to resume"),
        watched() as progress,
    ):
        outcome = run(
            config,
            scenarios,
            cached=not no_cache,
            new_baseline=write_baseline,
            progress=progress,
        )
    _write(outcome, outputs)
    if write_baseline:
        left = baseline.accept(config, outcome, whole=not paths)
        say([f"{amount(left, 'accepted finding')} in {outcome.baseline}"])
        return NOTHING_FOUND
    return outcome.exit_code


def _write(outcome: GateOutcome, asked: Mapping[str, Any]) -> None:
    """Write and print the outputs that were asked for."""
    chosen = [each for each in OUTPUTS if asked.get(f"output_{each.name}")]
    for output in chosen:
        if isinstance(output, File):
            path: Path = asked[f"output_{output.name}"]
            with disk(path):
                path.write_bytes(output.content(outcome))
    printed = [each for each in chosen if isinstance(each, Printed)]
    if not any(each.instead for each in printed):
        printed = [each for each in (OUTPUTS.default,) if isinstance(each, Printed)] + printed
    for each in printed:
        each.show(outcome)
