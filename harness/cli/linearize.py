"""`weakspot linearize`: whether an object behaves as its sequential specification."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weakspot.harness.cli.client_options import client_options
from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND, on_interrupt
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    Decorator,
    json_option,
    language_models,
    object_kinds,
    output_option,
    some_time,
)
from weakspot.harness.cli.output import json_lines, print_findings, progress_bar, write_lines
from weakspot.harness.cli.source_options import source_options
from weakspot.harness.values.bounds import LIMITS

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.clients.subject import ClientChoice
    from weakspot.harness.values.linearizability import Linearizability


def seconds_option(text: str) -> Decorator:
    """The time for all clients under one model."""
    return click.option(
        "--seconds",
        callback=some_time,
        metavar="DURATION",
        default="60s",
        show_default=True,
        help=text,
    )


@command(
    names={"{KINDS}": object_kinds},
    epilog="""\
FILE is C or C++ that defines the object and one function per operation, with numbers or pointers as
arguments; it has no main. Or it is Rust, and the operations are pub methods that take &self. Each
client that is generated is a program in which several threads call
the operations; every execution is explored, and compared with what the specification does. One call
precedes another if its return happens before the other begins. Clients are explored by their
number of calls, so that the first that shows a violation is among the smallest.

KIND is {KINDS}; which function is which of
its operations follows from their names (enqueue, push, put, …) or --operation. Instead, a file may
define what each operation `f` does in sequence, in a function `spec_f` with the same arguments.

Examples:
  weakspot linearize my_queue_ops.c --as queue
  weakspot linearize my_queue.rs --as queue
  weakspot linearize my_queue_ops.c --as queue --calls 6 --threads 2 --seconds 5m
  weakspot linearize spsc_ops.cpp --as queue --role producer=put --role consumer=take --capacity 2
  weakspot linearize my_stack_ops.c --as stack --spurious try_pop
  weakspot linearize my_lock_ops.c --as lock
  weakspot linearize my_index_ops.cpp --as map_specification.hpp
  weakspot linearize my_queue_ops.c --as queue --model rc20,tso
  weakspot linearize my_queue_ops.c --as queue --calls 3 -o tests/weakspot/queue_clients.c""",
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@client_options("--calls", required=True)
@language_models("Names of models, or paths of cat files.")
@seconds_option("Time limit for all clients under one model.")
@click.option(
    "--loops", type=click.IntRange(min=0), metavar="N", default=0, help=LIMITS["loops"].help
)
@output_option(
    "FILE",
    "Write one program in which main chooses one of the clients: a scenario for the gate, "
    "relax and mutate.",
)
@source_options
@json_option
def linearize(
    file: Path,
    choice: ClientChoice,
    models: tuple[str, ...],
    seconds: float,
    loops: int,
    output: Path | None,
    build: Build,
    as_json: bool,
) -> int:
    """Check that an object behaves as a queue, a stack, ….

    Generates the clients of an object, up to a number of calls, and checks that what the calls
    return is what they return one after the other in some order: that the object is
    linearizable."""
    from weakspot.harness.values.bounds import Bounds

    return check_clients(
        file,
        choice,
        as_json=as_json,
        models=models,
        output=output,
        bounds=Bounds(seconds=seconds, loops=loops),
        build=build,
    )


def _always(_: Linearizability) -> bool:
    return True


def check_clients(
    file: str | os.PathLike[str],
    choice: ClientChoice,
    *,
    as_json: bool = False,
    aside: bool = False,
    show: Callable[[Linearizability], bool] = _always,
    **asked: Any,
) -> int:
    """Ask `objects.linearize`, print those answers that are to `show`, on stderr if `aside`, and
    return the exit code."""
    from weakspot import objects
    from weakspot.harness.report import linearizability, terminal

    code, count = NOTHING_FOUND, 0
    says, is_empty = "what was found so far is printed", lambda: not count
    with progress_bar() as progress, on_interrupt(says, is_empty=is_empty):
        for found, record in objects.linearize(file, choice, progress=progress, **asked):
            if show(found):
                count += 1
                with progress.pause():
                    if as_json:
                        write_lines(json_lines([found]))
                    else:
                        out = terminal.console(sys.stderr if aside else sys.stdout)
                        linearizability.summary(found, out)
                    if record is not None:
                        print_findings(record, aside=as_json or aside)
            if found.result == "Violated":
                code = FINDINGS
            elif found.result == "Unknown" and code != FINDINGS:
                code = INCONCLUSIVE
    return code
