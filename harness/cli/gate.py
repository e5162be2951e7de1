"""Commands of a project's own gate: gate, explain."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.shared import command, watched
from weakspot.harness.edge import keeping


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
def gate(paths: tuple[Path, ...], file: Path | None, no_cache: bool) -> int:
    """Fail where a memory order is too weak.

    Explores the project's scenarios and fails with the line, the execution that goes wrong, and
    the order needed. Findings that the baseline accepts do not fail."""
    from weakspot.harness.gate import config as configured
    from weakspot.harness.gate.run import run
    from weakspot.harness.report import terminal
    from weakspot.harness.report.gate import gate as show

    here = Path.cwd()
    file = file or configured.find(here)
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
        keeping("what was answered until then is kept in .weakspot; run it again to go on"),
        watched() as progress,
    ):
        outcome = run(config, scenarios, cached=not no_cache, progress=progress)
    show(outcome, terminal.console())
    return outcome.exit_code
