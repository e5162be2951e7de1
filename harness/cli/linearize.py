"""`weakspot linearize`: whether an object behaves as its sequential specification."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weakspot.harness.cli import completion
from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND, on_interrupt
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import language_models, listed, some_time, source_options
from weakspot.harness.cli.output import json_lines, judged, say, watched

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build


def _pairs(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """`--role producer=put,offer` as a mapping."""
    found: dict[str, tuple[str, ...]] = {}
    for word in given:
        name, sign, names = word.partition("=")
        if not sign or not name or not names:
            raise click.BadParameter(f"{word!r} is not NAME=NAME[,…].", ctx, param)
        found[name] = (*found.get(name, ()), *(each.strip() for each in names.split(",")))
    return found


calls_option = click.option(
    "--calls",
    type=click.IntRange(1, 12),
    metavar="N",
    default=4,
    show_default=True,
    help="Explore the clients of at most N calls.",
)


def seconds_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
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
    epilog="""\
FILE is C or C++ that defines the object and one function per operation, with numbers or pointers as
arguments; it has no main. Each client that is generated is a program in which several threads call
the operations; every execution is explored, and compared with what the specification does. One call
precedes another if its return happens before the other begins. Clients are explored by their
number of calls, so that the first that shows a violation is among the smallest.

KIND is queue, stack, deque, set, map, register, counter, lock or once; which function is which of
its operations follows from their names (enqueue, push, put, …) or --operation. Instead, a file may
define what each operation `f` does in sequence, in a function `spec_f` with the same arguments.

Examples:
  weakspot linearize my_queue_ops.c --as queue
  weakspot linearize my_queue_ops.c --as queue --calls 6 --threads 2 --seconds 5m
  weakspot linearize spsc_ops.cpp --as queue --role producer=put --role consumer=take --capacity 2
  weakspot linearize my_stack_ops.c --as stack --spurious try_pop
  weakspot linearize my_lock_ops.c --as lock
  weakspot linearize my_index_ops.cpp --as map_specification.hpp
  weakspot linearize my_queue_ops.c --as queue --model rc20,tso
  weakspot linearize my_queue_ops.c --as queue --calls 3 -o tests/weakspot/queue_clients.c"""
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "behaves_as",
    required=True,
    shell_complete=completion.kinds,
    metavar="KIND|FILE",
    help="What the object is to behave as.",
)
@calls_option
@click.option(
    "--threads",
    type=click.IntRange(2, 6),
    metavar="N",
    default=3,
    show_default=True,
    help="Threads that call operations at once, at most.",
)
@click.option(
    "--operations",
    multiple=True,
    callback=listed,
    metavar="F[,…]",
    help="Functions that are operations.  [default: those marked with WEAKSPOT_OP(ROLE), else all "
    "that are not static]",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    callback=_pairs,
    metavar="ROLE=F[,…]",
    help="Operations that one thread alone calls, such as those of a single producer.",
)
@click.option(
    "--operation",
    "meanings",
    multiple=True,
    callback=_pairs,
    metavar="F=NAME",
    help="The operation of the kind that a function is.",
)
@click.option(
    "--capacity",
    type=click.IntRange(min=1),
    metavar="N",
    help="A queue, stack or deque that is full with N items.  [default: never full]",
)
@click.option(
    "--relaxed",
    type=click.IntRange(min=0),
    metavar="K",
    default=0,
    help="A queue or stack that may return any of its first K + 1 items.",
)
@click.option(
    "--quasi",
    type=click.IntRange(min=0),
    metavar="K",
    default=0,
    help="A queue of which each item leaves at most K places before or after its turn.",
)
@click.option(
    "--per-producer",
    is_flag=True,
    help="A queue that keeps the items of each thread in order, not those of different threads.",
)
@click.option(
    "--spurious",
    multiple=True,
    callback=listed,
    metavar="F[,…]",
    help="Operations that may fail although they could succeed.",
)
@click.option(
    "--blocking",
    multiple=True,
    callback=listed,
    metavar="F[,…]",
    help="Operations of a kind that wait until they can succeed.",
)
@click.option(
    "--empty",
    type=int,
    metavar="VALUE",
    default=-1,
    show_default=True,
    help="What an operation that returns a number returns if it finds nothing.",
)
@language_models("Names of models, or paths of cat files.")
@seconds_option("Time limit for all clients under one model.")
@click.option(
    "--loops",
    type=click.IntRange(min=1),
    metavar="N",
    default=4,
    show_default=True,
    help="Follow a loop for N iterations; loops that only wait are not bounded.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write one program in which main chooses one of the clients: a scenario for the gate, "
    "relax and mutate.",
)
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def linearize(
    file: Path,
    behaves_as: str,
    calls: int,
    threads: int,
    operations: tuple[str, ...],
    roles: dict[str, tuple[str, ...]],
    meanings: dict[str, tuple[str, ...]],
    capacity: int | None,
    relaxed: int,
    quasi: int,
    per_producer: bool,
    spurious: tuple[str, ...],
    blocking: tuple[str, ...],
    empty: int,
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
    from weakspot.harness.clients.program import Variation
    from weakspot.harness.values.bounds import Bounds

    return shown(
        file,
        behaves_as,
        as_json=as_json,
        models=models,
        calls=calls,
        threads=threads,
        operations=operations,
        roles=roles,
        meanings={name: given[0] for name, given in meanings.items()},
        variation=Variation(
            capacity=capacity or 0,
            relaxed=relaxed,
            quasi=quasi,
            per_producer=per_producer,
            spurious=spurious,
            blocking=blocking,
            empty=empty,
        ),
        output=output,
        bounds=Bounds(seconds=seconds, loops=loops),
        build=build,
    )


def shown(
    file: str | os.PathLike[str], behaves_as: str, *, as_json: bool = False, **asked: Any
) -> int:
    """Ask `questions.linearize`, print the answers, and return the exit code."""
    from weakspot import questions
    from weakspot.harness.report import linearizability, terminal

    code = NOTHING_FOUND
    with watched() as progress, on_interrupt("what was found so far is printed"):
        for found, record in questions.linearize(file, behaves_as, progress=progress, **asked):
            with progress.pause():
                if as_json:
                    say(json_lines([found]))
                else:
                    linearizability.summary(found, terminal.console())
                if record is not None:
                    judged(record, aside=as_json)
            if found.result == "Violated":
                code = FINDINGS
            elif found.result == "Unknown" and code != FINDINGS:
                code = INCONCLUSIVE
    return code
