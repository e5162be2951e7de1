"""`weakspot gate`: a project's own programs and tests, in CI."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.errors import NOTHING_FOUND, keeping
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import json_lines, say, watched

OUTPUT = click.Path(path_type=Path, dir_okay=False)


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
@click.option("--json", "as_json", is_flag=True, help="Print the findings, one JSON object a line.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub's workflows too.")
@click.option("--sarif", metavar="FILE", type=OUTPUT, help="Write the findings as SARIF 2.1.0.")
@click.option("--junit", metavar="FILE", type=OUTPUT, help="Write a test case a scenario.")
@click.option("--markdown", metavar="FILE", type=OUTPUT, help="Write a summary for a comment.")
def gate(
    paths: tuple[Path, ...],
    file: Path | None,
    no_cache: bool,
    write_baseline: bool,
    as_json: bool,
    github: bool,
    sarif: Path | None,
    junit: Path | None,
    markdown: Path | None,
) -> int:
    """Fail where a memory order is too weak.

    Explores the project's scenarios and fails with the line, the execution that goes wrong, and
    the order needed. Findings that the baseline accepts do not fail."""
    from weakspot.harness.gate import baseline, where
    from weakspot.harness.gate import config as configured
    from weakspot.harness.gate.run import run
    from weakspot.harness.report import gate as report
    from weakspot.harness.report import terminal

    here = Path.cwd()
    file = file or where.find(here)
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
        outcome = run(
            config,
            scenarios,
            cached=not no_cache,
            new_baseline=write_baseline,
            progress=progress,
        )
    if sarif is not None:
        from weakspot.harness.report import sarif as as_sarif

        _write(sarif, as_sarif.sarif(outcome))
    if junit is not None:
        from weakspot.harness.report import junit as as_junit

        _write(junit, as_junit.junit(outcome))
    if markdown is not None:
        from weakspot.harness.report import markdown as as_markdown

        _write(markdown, as_markdown.markdown(outcome))
    if as_json:
        say(json_lines(map(report.flat, outcome.told)))
        for text in outcome.undecided:
            click.echo(f"undecided: {text}", err=True)
    else:
        report.gate(outcome, terminal.console())
    if github:
        from weakspot.harness.report.github import commands

        say(commands(outcome))
    if write_baseline:
        left = baseline.accept(config, outcome, whole=not paths)
        say([f"{report.amount(left, 'accepted finding')} in {outcome.baseline}"])
        return NOTHING_FOUND
    return outcome.exit_code


def _write(path: Path, content: bytes) -> None:
    from weakspot.system.files import disk

    with disk(path):
        path.write_bytes(content)
