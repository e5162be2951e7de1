"""The command line; one function a command. What a command needs is imported when it runs, so
that `weakspot --help` answers at once."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weakspot import __version__
from weakspot.harness.edge import (
    FINDINGS,
    NOTHING_FOUND,
    Commands,
    Interrupted,
    duration,
    guarded,
    keeping,
    listed,
    some_time,
)

if TYPE_CHECKING:
    from weakspot.harness.campaign import Progress
    from weakspot.harness.material import Generator, Material
    from weakspot.harness.record import Record

CHECKERS = ("engine", "herd7", "cbmc")
RUNNERS = ("litmus7",)


def main() -> None:
    """What the `weakspot` program does."""
    raise SystemExit(guarded(weakspot))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
WHAT is a structure's name (`weakspot structures` lists them), `all`, a C file, a .litmus file
or a folder of them.

Exit codes: 0 nothing found; 1 findings; 2 bad usage or bad input; 3 inconclusive.

Examples:
  weakspot test duffy_wsq              generate, check, run, judge, report
  weakspot check SB.litmus -m tso      is the outcome allowed under x86-TSO?
  weakspot gen my_queue.c -o tests     the litmus tests of a program of yours""",
)
@click.version_option(__version__, "--version", "-V", message="weakspot %(version)s")
def weakspot() -> None:
    """Finds the weak spots in a concurrent C program's memory-order annotations: makes litmus
    tests of it, checks them under memory models, and runs them on hardware."""


def _what(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("what", nargs=-1, required=True, metavar="WHAT…")(command)


def _source_options(command: Callable[..., Any]) -> Callable[..., Any]:
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


def _model_option(command: Callable[..., Any]) -> Callable[..., Any]:
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


def _output_options(command: Callable[..., Any]) -> Callable[..., Any]:
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


# --- tests ------------------------------------------------------------------------------------


@weakspot.command(
    epilog="""\
Without -o the tests go to standard output. Notes about the programs go to standard error.

Examples:
  weakspot gen duffy_wsq --list        names, shapes and where they come from
  weakspot gen my_queue.c -o tests     one file a test, and @all for herd7 and litmus7
  weakspot gen all --check             do the golden tests still fit their sources?
  weakspot gen duffy_wsq --promote     make what is generated now the golden tests"""
)
@_what
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Write the tests here."
)
@click.option("--list", "as_list", is_flag=True, help="Print names, shapes and sites only.")
@click.option("--check", "compare", is_flag=True, help="Compare with the golden tests; 1 if not.")
@click.option("--promote", is_flag=True, help="Replace the golden tests; says what changes.")
@_source_options
def gen(
    what: tuple[str, ...],
    output: Path | None,
    as_list: bool,
    compare: bool,
    promote: bool,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
) -> int:
    """Make litmus tests of programs.

    They are the critical cycles of the programs' access patterns: where a weak memory order can
    show at all."""
    from weakspot.harness import golden, listing, once
    from weakspot.harness.report import terminal

    if sum(map(bool, (output, as_list, compare, promote))) > 1:
        raise click.UsageError("-o, --list, --check and --promote exclude each other.")
    if compare or promote:
        drifts = golden.drifts(what, promoted=promote)
        _lines(listing.drifts(drifts, promoted=promote))
        return FINDINGS if compare and any(drift for _, drift in drifts) else NOTHING_FOUND
    material = _gathered(what, (), once.generator(defines, include))
    for note in listing.notes(material):
        click.echo(note, err=True)
    if output is not None:
        golden.write(output, (entry.test for entry in material.entries), index=True)
        _lines([f"{len(material.entries):,} tests are in {output}"])
    elif as_list:
        for line in listing.tests(material.entries):
            terminal.console().print(line)
    else:
        _lines(entry.test.text.rstrip() + "\n" for entry in material.entries)
    return NOTHING_FOUND


@weakspot.command(
    epilog="""\
A test whose condition holds is no finding by itself: `exists` asks whether something can be.
Findings are checkers that disagree, claims that are not met and assertions that fail.

Examples:
  weakspot check SB.litmus --model sc,tso,rc11
  weakspot check my_queue.c -D CAPACITY=2 -I include --checker all
  weakspot check SB.litmus -m rc11 --witness     why it is possible, or why not
  weakspot check tests/ -m rc11 --format herd | tee rc11.log     a log for mcompare7
  weakspot check duffy_wsq --json | jq .observation"""
)
@_what
@_model_option
@click.option(
    "--checker",
    "-c",
    type=click.Choice([*CHECKERS, "all"]),
    help="Who decides.  [default: engine]",
)
@click.option(
    "--witness",
    "witnesses",
    is_flag=True,
    help="Show an execution with the outcome, or what forbids it.",
)
@click.option(
    "--timeout",
    callback=some_time,
    metavar="DURATION",
    default="20s",
    show_default=True,
    help="The limit of one test under one model.",
)
@_source_options
@_output_options
def check(
    what: tuple[str, ...],
    models: tuple[str, ...],
    checker: str | None,
    witnesses: bool,
    timeout: float,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    form: str | None,
) -> int:
    """Decide tests under memory models.

    Each answer is Never, Sometimes or Always, of the proposition in the test's condition, or
    Undefined, where the model sees a data race."""
    from weakspot.harness import once
    from weakspot.harness.herdlog import format_verdicts
    from weakspot.harness.report import tables, terminal

    wanted = once.models(models)
    material = _gathered(what, [model.name for model in wanted], once.generator(defines, include))
    wanted = wanted or once.models_of(material)
    asked = once.checkers(CHECKERS, checker, witnesses=witnesses)
    if form == "herd" and (len(wanted) > 1 or len(asked) > 1):
        raise click.UsageError(
            f"A herd log speaks of one model and one checker; these are "
            f"{', '.join(model.name for model in wanted)} by {', '.join(c.name for c in asked)}. "
            "Name one with --model and --checker."
        )

    def show(record: Record) -> None:
        if form == "json":
            _lines(tables.json_lines((*record.explorations, *record.verdicts)))
        elif form == "herd":
            _lines([format_verdicts(record.verdicts)], end="")
        else:
            tables.verdicts(record, terminal.console(), witnesses=witnesses)

    answers = once.Answers(what, material)
    with (
        keeping("what was answered until then is printed", lambda: show(answers.record())),
        _progress() as progress,
    ):
        answers.check(wanted, asked, timeout, progress)
    show(record := answers.record())
    return _judged(record, aside=form in ("json", "herd"))


@weakspot.command(
    epilog="""\
A machine that does not show an outcome has not shown that it is impossible.

Examples:
  weakspot run SB.litmus --for 10s
  weakspot run duffy_wsq --on qemu:aarch64        emulated: shows little of real hardware
  weakspot run tests/ --format herd > this.log    a log for mcompare7"""
)
@_what
@click.option(
    "--on",
    "machine",
    default="local",
    show_default=True,
    metavar="local|qemu:ARCH",
    help="The machine to run on.",
)
@click.option("--runner", type=click.Choice([*RUNNERS]), default=RUNNERS[0], show_default=True)
@click.option(
    "--for",
    "seconds",
    callback=some_time,
    default="1s",
    show_default=True,
    metavar="DURATION",
    help="How long each test runs: 500ms, 10s, 2m.",
)
@_source_options
@_output_options
def run(
    what: tuple[str, ...],
    machine: str,
    runner: str,
    seconds: float,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    form: str | None,
) -> int:
    """Run tests on hardware, and count the outcomes."""
    from weakspot.harness import machines, once
    from weakspot.harness.herdlog import format_histograms
    from weakspot.harness.report import tables, terminal

    place = machines.resolve(machine)
    material = _gathered(what, (), once.generator(defines, include))
    runners = once.runners(runner, place)

    def show(record: Record) -> None:
        if form == "json":
            _lines(tables.json_lines(record.histograms))
        elif form == "herd":
            _lines([format_histograms(record.histograms)], end="")
        else:
            tables.histograms(record, terminal.console())

    answers = once.Answers(what, material)
    with (
        keeping("what was counted until then is printed", lambda: show(answers.record())),
        _progress() as progress,
    ):
        answers.run(place, runners, seconds, progress)
    show(record := answers.record())
    return _judged(record, aside=form in ("json", "herd"))


# --- campaigns --------------------------------------------------------------------------------


@weakspot.command(
    epilog="""\
A campaign is a folder below results/ (WEAKSPOT_RESULTS names another place). One that was cut,
by Ctrl-C or otherwise, goes on where it stopped when the same command is given again.

Examples:
  weakspot test all
  weakspot test duffy_wsq store_buffering --for 10s
  weakspot test my_queue.c -D CAPACITY=2 -I include -m rc11,tso
  weakspot test tests/ -o campaign --for 0               check only, run nothing"""
)
@_what
@_model_option
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The campaign's folder.  [default: a new one below results/]",
)
@click.option("--fresh", is_flag=True, help="Begin anew even where a campaign was cut.")
@click.option(
    "--for",
    "seconds",
    callback=duration,
    default="1s",
    show_default=True,
    metavar="DURATION",
    help="How long each test runs on a machine; 0 runs nothing.",
)
@click.option(
    "--on",
    "machines",
    multiple=True,
    callback=listed,
    default=("local",),
    show_default=True,
    metavar="local|qemu:ARCH",
    help="A machine to run on.",
)
@click.option(
    "--checker",
    "-c",
    "checkers",
    multiple=True,
    type=click.Choice([*CHECKERS, "all"]),
    default=("all",),
    show_default=True,
    help="Who decides.",
)
@click.option(
    "--timeout",
    callback=some_time,
    metavar="DURATION",
    default="20s",
    show_default=True,
    help="The limit of one test under one model.",
)
@click.option("--all-tests", is_flag=True, help="List every test, not only those worth a look.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings, one JSON object a line.")
@_source_options
def test(
    what: tuple[str, ...],
    models: tuple[str, ...],
    output: Path | None,
    fresh: bool,
    seconds: float,
    machines: tuple[str, ...],
    checkers: tuple[str, ...],
    timeout: float,
    all_tests: bool,
    as_json: bool,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
) -> int:
    """The main job: gen, check, run, judge, report.

    Prints what is worth knowing first and writes a site with everything."""
    import msgspec

    from weakspot.harness import campaign, judge, once
    from weakspot.harness.record import Plan
    from weakspot.harness.report import html, tables, terminal, text

    plan = Plan(
        what=what,
        models=models,
        checkers=CHECKERS if "all" in checkers else checkers,
        machines=machines if seconds else (),
        runners=RUNNERS if seconds else (),
        seconds_check=timeout,
        seconds_run=seconds,
    )
    tools = msgspec.structs.replace(
        campaign.installed(), generator=once.generator(defines, include)
    )
    folder = once.new_campaign(output, fresh=fresh, root=_results())
    try:
        with terminal.progress() as progress:
            folder, record = campaign.run(
                plan, folder=folder, root=_results(), tools=tools, progress=progress
            )
            page = html.build(record, folder)
    except campaign.Stopped as stopped:
        raise Interrupted(
            f"interrupted; what was done is kept in {stopped.folder}; run the same command to go on"
        ) from None
    if as_json:
        _lines(tables.json_lines(record.findings))
    else:
        text.campaign(record, terminal.console(), report=str(page), everything=all_tests)
    return judge.exit_code(record)


@weakspot.command(
    epilog="""\
Examples:
  weakspot report                                    the newest campaign below results/
  weakspot report results/2026-11-21-1402 --open
  weakspot report campaign -o public                 a site to put on a web server"""
)
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN…]", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where to write the site.  [default: the campaign's folder]",
)
@click.option("--open", "show", is_flag=True, help="Show it in a browser.")
def report(campaigns: tuple[Path, ...], output: Path | None, show: bool) -> int:
    """Write campaigns as static sites.

    A site opens from a file and needs no network."""
    from weakspot.harness import once, store
    from weakspot.harness.report import html

    if output is not None and len(campaigns) > 1:
        raise click.UsageError("-o goes with one campaign.")
    for folder in campaigns or (once.newest_campaign(_results()),):
        page = html.build(store.load(folder), output or folder)
        _lines([str(page)])
        if show:
            click.launch(page.resolve().as_uri())
    return NOTHING_FOUND


# --- what there is ----------------------------------------------------------------------------


@weakspot.command(
    epilog="""\
Exit code 1 when something is missing that the full main job needs.

Example:
  weakspot doctor --json"""
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(as_json: bool) -> int:
    """What is installed, and what is lost without the rest."""
    from weakspot.harness import doctor
    from weakspot.harness.report import tables, terminal

    lines = doctor.report()
    if as_json:
        _lines(tables.json_lines(lines))
    else:
        doctor.render(lines, terminal.console())
    return FINDINGS if doctor.missing_required(lines) else NOTHING_FOUND


@weakspot.command(
    epilog="""\
Examples:
  weakspot structures
  weakspot structures duffy_wsq --claims"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--claims", is_flag=True, help="Who claims what of them, and what is true.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def structures(names: tuple[str, ...], claims: bool, as_json: bool) -> int:
    """The structures of the corpus."""
    from weakspot.harness import listing, structures

    found = [structures.find(name) for name in names] or structures.structures()
    _lines(
        listing.json_structures(found)
        if as_json
        else listing.structures(found, claims=claims, alone=bool(names))
    )
    return NOTHING_FOUND


@weakspot.command(
    epilog="""\
Examples:
  weakspot models
  weakspot models rc11              what it is, and its axioms
  weakspot models rc11 --path       where its cat file is"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--path", "as_path", is_flag=True, help="Print the path of the cat file only.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def models(names: tuple[str, ...], as_path: bool, as_json: bool) -> int:
    """The memory models."""
    from weakspot.harness import listing, models
    from weakspot.harness.report import tables

    found = [models.resolve(name) for name in names] or list(models.load().values())
    if as_json:
        _lines(tables.json_lines(found))
    elif as_path:
        _lines(str(model.path) for model in found)
    else:
        _lines(listing.models(found, alone=bool(names)))
    return NOTHING_FOUND


# --- what they share --------------------------------------------------------------------------


def _lines(lines: Iterable[str], end: str = "\n") -> None:
    for line in lines:
        sys.stdout.write(f"{line}{end}")


def _results() -> Path:
    """Where campaigns are written by default."""
    from weakspot.harness import campaign

    return Path(os.environ.get("WEAKSPOT_RESULTS") or campaign.RESULTS)


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    """A bar for a person; nothing for a pipe or a log."""
    from weakspot.harness import campaign
    from weakspot.harness.report import terminal

    if sys.stderr.isatty():
        with terminal.progress() as progress:
            yield progress
    else:
        yield campaign.Quiet()


def _gathered(what: Sequence[str], models: Sequence[str], generator: Generator) -> Material:
    from weakspot.harness import material

    with _progress() as progress:
        progress.start(0, "generating")
        return material.gather(
            what, under=models, generator=generator, report=lambda _: progress.advance()
        )


def _judged(record: Record, *, aside: bool) -> int:
    """Say what was found, beside the answers where a program reads these; the exit code."""
    from weakspot.harness import judge
    from weakspot.harness.report import terminal, text

    errors = [each for each in record.findings if each.severity == "error" and not each.recorded]
    text.findings(errors, terminal.console(sys.stderr if aside else sys.stdout))
    return judge.exit_code(record)
