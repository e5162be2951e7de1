"""`weakspot gate`: a project's own programs and tests, in CI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weakspot.harness.cli.errors import BAD, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import cluster_option, unfold_option
from weakspot.harness.cli.output import progress_bar, write_lines, write_wrapped
from weakspot.harness.cli.source_options import compiler_options, crate_options
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.report.outputs import OUTPUTS, File, Printed
from weakspot.system.files import disk

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.campaign.cluster import ClusterExecutor


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each output; the default needs none."""
    for output in reversed(tuple(OUTPUTS)):
        name = f"output_{output.name}"
        if isinstance(output, File):
            file = click.Path(path_type=Path, dir_okay=False)
            option = click.option(
                f"--{output.name}",
                name,
                metavar="FILE",
                type=file,
                callback=_in_a_folder,
                help=output.help,
            )
        elif output is not OUTPUTS.default:
            option = click.option(f"--{output.name}", name, is_flag=True, help=output.help)
        else:
            continue
        command = option(command)
    return command


def _in_a_folder(ctx: click.Context, param: click.Parameter, given: Path | None) -> Path | None:
    """A file that can be created, as far as that is known before the work that it is for."""
    if given is not None and not given.parent.is_dir():
        raise click.BadParameter(f"there is no folder {given.parent}.", ctx, param)
    return given


@command(
    epilog="""\
Reads weakspot.toml, or [tool.weakspot] in pyproject.toml, in this folder or above it:

  [gate]
  scenarios = ["tests/weakspot/*.cpp"]   programs with a main, .litmus files, a Cargo.toml
  [build]
  include = ["include"]

PATH restricts the check to one file or to the scenarios below a folder, and the configuration that
is nearest to it applies: several projects of a repository can be checked at once. Answers about
unchanged scenarios are cached in .weakspot beside the configuration; an exploration that the budget
or Ctrl-C ended resumes from there.

Examples:
  weakspot gate
  weakspot gate tests/weakspot/push_pop.cpp
  weakspot gate --sarif weakspot.sarif --junit weakspot.xml --github
  weakspot gate --write-baseline      accept the present findings"""
)
@click.argument("paths", nargs=-1, metavar="[PATH…]", type=click.Path(path_type=Path))
@click.option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration file.  [default: the one nearest to PATH, or to this folder]",
)
@click.option("--no-cache", is_flag=True, help="Ignore cached answers.")
@click.option(
    "--write-baseline", is_flag=True, help="Accept the present findings: they no longer fail."
)
@compiler_options
@crate_options
@unfold_option
@cluster_option
@output_options
def gate(
    paths: tuple[Path, ...],
    file: Path | None,
    no_cache: bool,
    write_baseline: bool,
    unfold: bool,
    build: Build,
    executor: ClusterExecutor | None,
    **outputs: Any,
) -> int:
    """Check a project's own programs, in CI.

    Explores the project's scenarios. Where a memory order is too weak, it fails and shows the line,
    an execution that goes wrong, and the memory order needed. Findings that the baseline accepts do
    not fail."""
    from weakspot import projects
    from weakspot.harness.gate.run import GateInterrupted
    from weakspot.harness.values.numbers import amount

    try:
        with progress_bar() as progress:
            outcome = projects.gate(
                paths,
                config=file,
                build=build,
                cached=not no_cache,
                new_baseline=write_baseline,
                progress=progress,
                executor=executor,
            )
    except GateInterrupted as interrupted:
        write_wrapped(
            f"{each.file} under {each.model}: {each.result}" for each in interrupted.results
        )
        raise
    _write(outcome.unfolded() if unfold else outcome, outputs)
    if write_baseline:
        accepted = projects.write_baseline(outcome)
        undecided = INCONCLUSIVE if outcome.undecided else NOTHING_FOUND
        write_lines([f"{amount(accepted, 'accepted finding')} in {outcome.baseline}"])
        return outcome.exit_code if outcome.exit_code == BAD else undecided
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
