"""Commands that answer about tests and forget: gen, check, run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import FINDINGS, NOTHING_FOUND, keeping, listed, some_time
from weakspot.harness.cli.shared import (
    CHECKERS,
    RUNNERS,
    bound_options,
    command,
    configured,
    gathered,
    json_lines,
    judged,
    model_option,
    output_options,
    say,
    source_options,
    timeout_option,
    watched,
    ways_option,
    what_argument,
)

if TYPE_CHECKING:
    from weakspot.harness.checkers import Checker
    from weakspot.harness.corpus.material import Material
    from weakspot.harness.corpus.models import Model
    from weakspot.harness.values.record import Record


@command(
    epilog="""\
Without -o the tests go to standard output. Notes about the programs go to standard error.

Examples:
  weakspot gen duffy_wsq --list        names, shapes and where they come from
  weakspot gen my_queue.c -o tests     one file a test, and @all for herd7 and litmus7
  weakspot gen MP.litmus --isa all     the assembly that C11 atomics compile to
  weakspot gen all --check             do the golden tests still fit their sources?
  weakspot gen duffy_wsq --promote     make what is generated now the golden tests"""
)
@what_argument
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Write the tests here."
)
@click.option("--list", "as_list", is_flag=True, help="Print names, shapes and sites only.")
@click.option("--check", "compare", is_flag=True, help="Compare with the golden tests; 1 if not.")
@click.option("--promote", is_flag=True, help="Replace the golden tests; says what changes.")
@click.option(
    "--isa",
    multiple=True,
    callback=listed,
    metavar="TARGET[,…]",
    help="In assembly, as compilers map C11 to x86, aarch64, aarch64-lse, aarch64-rcpc, armv7, "
    "power, power-trailing, riscv; or all.",
)
@source_options
def gen(
    what: tuple[str, ...],
    output: Path | None,
    as_list: bool,
    compare: bool,
    promote: bool,
    isa: tuple[str, ...],
    defines: tuple[str, ...],
    include: tuple[Path, ...],
) -> int:
    """Make litmus tests of programs.

    They are the critical cycles of the programs' access patterns: where a weak memory order can
    show at all."""
    from weakspot.harness.campaign import answers as once
    from weakspot.harness.corpus import golden
    from weakspot.harness.report import listing, terminal

    if sum(map(bool, (output, as_list, compare, promote))) > 1:
        raise click.UsageError("-o, --list, --check and --promote exclude each other.")
    if isa and (compare or promote):
        raise click.UsageError(
            "Golden tests are in C: --isa goes with neither --check nor --promote."
        )
    if compare or promote:
        drifts = golden.drifts(what, promoted=promote)
        say(listing.drifts(drifts, promoted=promote))
        return FINDINGS if compare and any(drift for _, drift in drifts) else NOTHING_FOUND
    material = gathered(what, (), once.generator(defines, include))
    for note in listing.notes(material):
        click.echo(note, err=True)
    if isa:
        from weakspot.harness.corpus.material import compiled

        material, left_out = compiled(material, isa)
        for message in left_out:
            click.echo(f"note: {message}", err=True)
    if output is not None:
        golden.write(output, (entry.test for entry in material.entries), index=True)
        say([f"{len(material.entries):,} tests are in {output}"])
    elif as_list:
        for line in listing.tests(material.entries):
            terminal.console().print(line)
    else:
        say(entry.test.text.rstrip() + "\n" for entry in material.entries)
    return NOTHING_FOUND


@command(
    epilog="""\
A test whose condition holds is no finding by itself: `exists` asks whether something can be.
Findings are programs that fail an assertion, race, hang or misuse memory, checkers that disagree,
and claims that are not met. A program that a limit cut is inconclusive: exit code 3.

Examples:
  weakspot check SB.litmus --model sc,tso,rc11
  weakspot check my_queue.c -D CAPACITY=2 -I include
  weakspot check my_queue.c --loops 8 --seconds 2m     go further where a limit cut something
  weakspot check my_queue.c -o tests                   the litmus tests of what is violated
  weakspot check SB.litmus -m rc11 --witness     why it is possible, or why not
  weakspot check tests/ -m rc11 --format herd | tee rc11.log     a log for mcompare7
  weakspot check duffy_wsq --json | jq .observation
  weakspot check SB.litmus --compiled all        did the compilers keep what C11 promises?
  weakspot check duffy_wsq --compiled gcc,clang,O2,aarch64,x86
  weakspot check my_queue.c --compiled gcc,O2,aarch64 --code operations      its own code"""
)
@what_argument
@model_option
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
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the tests of violations here.",
)
@ways_option("under c11 or the models named")
@click.option(
    "--code",
    type=click.Choice(["tests", "operations", "all"]),
    default="tests",
    show_default=True,
    help="What --compiled compiles: the tests, or the programs that they come from, to look at the "
    "code of their operations as they execute it under qemu.",
)
@bound_options
@timeout_option
@source_options
@output_options
def check(
    what: tuple[str, ...],
    models: tuple[str, ...],
    checker: str | None,
    witnesses: bool,
    output: Path | None,
    ways: tuple[str, ...],
    code: str,
    explore_seconds: float,
    executions: int,
    loops: int,
    timeout: float,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    form: str | None,
) -> int:
    """Decide programs and tests under memory models.

    Every execution of a program is explored: it is Safe, Violated, or Unknown where a limit cut
    something. Of a test the answer is Never, Sometimes or Always, of the proposition in its
    condition, or Undefined, where the model sees a data race."""
    from weakspot.generators import merge
    from weakspot.harness.campaign import answers as once
    from weakspot.harness.checkers.explorer import Bounds, EngineExplorer
    from weakspot.harness.corpus import golden
    from weakspot.harness.values.herdlog import format_verdicts

    wanted = once.models(models)
    if ways:
        if witnesses or form == "herd":
            raise click.UsageError("--compiled goes with neither --witness nor --format herd.")
        material = gathered(what, (), once.generator(defines, include))
        asked = once.checkers(CHECKERS, checker)
        return _compiled(what, material, ways, code, wanted, asked[0], output, timeout, form)
    if code != "tests":
        raise click.UsageError("--code goes with --compiled.")
    material = gathered(what, [model.name for model in wanted], once.generator(defines, include))
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
            say(json_lines((*record.explorations, *record.verdicts)))
        elif form == "herd":
            say([format_verdicts(record.verdicts)], end="")
        else:
            from weakspot.harness.report import tables, terminal

            tables.explorations(record, terminal.console())
            tables.verdicts(record, terminal.console(), witnesses=witnesses)

    answers = once.Answers(what, material)
    with (
        keeping("what was answered until then is printed", lambda: show(answers.record())),
        watched() as progress,
    ):
        bounds = Bounds(loops=loops, executions=executions, seconds=explore_seconds)
        answers.explore(wanted, EngineExplorer(), bounds, progress)
        if output is not None:
            found = (test for each in answers.explorations for test in each.tests)
            golden.write(output, merge(found))
        answers.check(wanted, asked, timeout, progress)
    show(record := answers.record())
    return judged(record, aside=form in ("json", "herd"))


def _compiled(
    what: tuple[str, ...],
    material: Material,
    ways: tuple[str, ...],
    code: str,
    language: Sequence[Model],
    checker: Checker,
    output: Path | None,
    timeout: float,
    form: str | None,
) -> int:
    """`check --compiled`: the tests by each compiler, beside their sources."""
    from weakspot.harness.campaign import answers as once
    from weakspot.harness.codegen import compilers, operations
    from weakspot.harness.codegen.check import LANGUAGE, Inspection, weaker
    from weakspot.harness.corpus import golden

    builds = compilers.builds(ways)
    programs = []
    if code != "tests":
        operations.require(builds)
        programs = [
            operations.Subject(each.name, each.generated.program, each.generated.tests)
            for each in material.programs
        ]
        if not programs:
            raise click.UsageError("--code operations needs a program: a structure or a C file.")
    inspection = Inspection(
        [entry.test for entry in material.entries],
        language or once.models([LANGUAGE]),
        checker,
        tests_too=code != "operations",
        programs=programs,
    )
    answers = once.Answers(what, material)

    def show(record: Record) -> None:
        if form == "json":
            say(json_lines(record.compiled))
        else:
            from weakspot.harness.report import tables, terminal

            tables.compiled(record, terminal.console())

    with (
        keeping("what was compared until then is printed", lambda: show(answers.record())),
        watched() as progress,
    ):
        answers.inspect(inspection, builds, timeout, progress)
    record = answers.record()
    if output is not None:
        golden.write(output, weaker(record))
    show(record)
    return judged(record, aside=form == "json")


@command(
    epilog="""\
A machine that does not show an outcome has not shown that it is impossible.

A program with a main is run as a whole too: over and over, on threads that begin together, and
the assertions that fail are counted. A failure is a finding, unless claims.toml records one.

Examples:
  weakspot run SB.litmus --for 10s
  weakspot run my_queue.c -D CAPACITY=2 -I include     its assertions, and its litmus tests
  weakspot run duffy_wsq --only programs               no litmus tests
  weakspot run SB.litmus --runner all             by weakspot's own runner, and by litmus7
  weakspot run duffy_wsq --on ssh:pi              on another machine; ssh has to know it as pi
  weakspot run duffy_wsq --on qemu:aarch64        emulated: says nothing of how weak a real one is
  weakspot run tests/ --format herd > this.log    a log for mcompare7"""
)
@what_argument
@click.option(
    "--on",
    "machine",
    default=lambda: configured("machines")()[0],
    show_default="local, or as configured",
    metavar="local|ssh:HOST|qemu:ARCH",
    help="The machine to run on: this one, one that ssh knows, or one that qemu plays.",
)
@click.option(
    "--runner",
    type=click.Choice([*RUNNERS, "all"]),
    default=RUNNERS[0],
    show_default=True,
    help="Who runs them. litmus7 runs assembly too.",
)
@click.option(
    "--for",
    "seconds",
    callback=some_time,
    default=configured("seconds"),
    show_default="1s, or as configured",
    metavar="DURATION",
    help="How long each test and each program runs: 500ms, 10s, 2m.",
)
@click.option(
    "--only",
    type=click.Choice(["programs", "tests"]),
    help="Run only the programs as a whole, or only the litmus tests.",
)
@source_options
@output_options
def run(
    what: tuple[str, ...],
    machine: str,
    runner: str,
    seconds: float,
    only: str | None,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    form: str | None,
) -> int:
    """Run programs and tests on hardware, and count what comes out."""
    from weakspot.harness import machines
    from weakspot.harness.campaign import answers as once
    from weakspot.harness.values.herdlog import format_histograms

    place = machines.resolve(machine)
    material = gathered(what, (), once.generator(defines, include))
    runners = once.runners(RUNNERS, runner, place)

    def show(record: Record) -> None:
        if form == "json":
            say(json_lines((*record.runs, *record.histograms)))
        elif form == "herd":
            say([format_histograms(record.histograms)], end="")
        else:
            from weakspot.harness.report import tables, terminal

            tables.runs(record, terminal.console())
            if only != "programs":
                tables.histograms(record, terminal.console())

    answers = once.Answers(what, material)
    with (
        keeping("what was counted until then is printed", lambda: show(answers.record())),
        watched() as progress,
    ):
        try:
            natively = any(each.name == "native" for each in runners)
            if natively and only != "tests" and form != "herd":
                answers.run_programs(place, seconds, progress)
            if only != "programs":
                answers.run(place, runners, seconds, progress)
        except machines.Lost:
            show(answers.record())
            raise
    show(record := answers.record())
    return judged(record, aside=form in ("json", "herd"))
