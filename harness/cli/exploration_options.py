"""Options that limit the exploration of programs, or choose a part of the executions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from weakspot.harness.cli.options import (
    cluster_option,
    is_given,
    json_option,
    listed,
    optional_time,
    project,
    some_time,
    strict_option,
)
from weakspot.harness.cli.source_options import crate_options, source_options
from weakspot.harness.values.bounds import (
    ALL,
    DEFAULT,
    LIMITS,
    MOST_DEPARTURES,
    REDUCTIONS,
    Bounds,
    Part,
    Reduction,
)
from weakspot.system.durations import seconds_of

if TYPE_CHECKING:
    from weakspot.harness.gate.tables import Explore

_WHOLE = ("without", "reference", "weak_failures", "mixed_sizes", "audit")
"""The fields of Part that say what every execution is."""


def bound_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of Bounds, which the command gets as `bounds`. The configuration of the project
    changes their defaults."""

    @functools.wraps(command)
    def with_bounds(*args: Any, **rest: Any) -> Any:
        limits = {name: rest.pop(f"bound_{name}") for name in LIMITS}
        table = _table()
        if table and table.loops is not None and not is_given("bound_loops"):
            limits["loops"] = table.loops
        if table and table.seconds is not None and not is_given("bound_seconds"):
            limits["seconds"] = seconds_of(str(table.seconds))
        return command(*args, bounds=Bounds(**limits), **rest)

    for name, limit in reversed(LIMITS.items()):
        default = getattr(DEFAULT, name)
        options: dict[str, Any] = {"default": default, "show_default": bool(default)}
        if limit.most is not None:
            options |= {"type": click.IntRange(limit.least), "metavar": "N"}
        else:
            options |= {"callback": some_time, "metavar": "DURATION", "default": f"{default:g}s"}
        add = click.option(f"--{name}", f"bound_{name}", help=limit.help, **options)
        with_bounds = add(with_bounds)
    return with_bounds


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that explores programs many times: `--strict`, limits, `--cluster`,
    those of sources, and `--json`."""
    command = cluster_option(source_options(crate_options(json_option(command))))
    return strict_option(bound_options(command))


def _reductions(
    ctx: click.Context, param: click.Parameter, given: str | None
) -> tuple[Reduction, ...]:
    """The reductions of a list of names, in the engine's order."""
    names = listed(ctx, param, (given or "",))
    for name in names:
        if name not in (*REDUCTIONS, "all"):
            from weakspot.system.toml import suggest

            advice = suggest(name, REDUCTIONS) or f"known: all, {', '.join(REDUCTIONS)}"
            raise click.BadParameter(f"there is no reduction {name!r}; {advice}.", ctx, param)
    return tuple(each for each in REDUCTIONS if each in names or "all" in names)


def _audit(ctx: click.Context, param: click.Parameter, given: str | None) -> float | None:
    return 0.0 if given == "0" else optional_time(ctx, param, given)


def configured_part() -> Part:
    """What the project's configuration names to be explored where the time does not suffice for all
    executions, and the reductions that it switches off. Raises BadInput."""
    table = _table()
    return table.part if table else ALL


def _table() -> Explore | None:
    """The table [explore] of the project's configuration; None without one. Raises BadInput."""
    own = project()
    return None if own is None else own.explore


def part_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that explore a part of the executions, which the command gets as `part`; without
    one, the part that the project's configuration names as a fallback. What `--sample` takes is the
    time of each exploration, in `bounds`."""

    @functools.wraps(command)
    def with_part(
        *args: Any,
        bounds: Bounds,
        estimate: bool,
        departures: int | None,
        sample: float | None,
        seed: int,
        **rest: Any,
    ) -> Any:
        if sum((estimate, departures is not None, sample is not None)) > 1:
            raise click.UsageError("--estimate, --bound and --sample exclude one another.")
        if is_given("seed") and sample is None and not estimate:
            raise click.UsageError("--seed requires --sample or --estimate.")
        if rest["reference"] and (estimate or departures is not None or sample is not None):
            raise click.UsageError(
                "--reference explores all executions: leave out --estimate, --bound and --sample."
            )
        if sample is not None:
            if is_given("bound_seconds"):
                raise click.UsageError("--sample sets the time; leave out --seconds.")
            bounds = msgspec.structs.replace(bounds, seconds=sample)
        configured = configured_part()
        whole = {name: rest.pop(name) for name in _WHOLE}
        if not is_given("without"):
            whole["without"] = configured.without
        part = Part(
            departures=departures, sample=sample is not None, estimate=estimate, seed=seed, **whole
        )
        if part == part.whole and not part.reference:
            part = msgspec.structs.replace(configured, **whole)
        return command(*args, bounds=bounds, part=part, **rest)

    for option in (
        click.option(
            "--seed",
            type=click.IntRange(min=0, max=2**64 - 1),
            metavar="N",
            default=ALL.seed,
            show_default=True,
            help="Seed of the random draws of --sample and --estimate.",
        ),
        click.option(
            "--sample",
            callback=optional_time,
            metavar="DURATION",
            help="Draw executions of each program at random for this long. The result is never "
            "Safe.",
        ),
        click.option(
            "--bound",
            "departures",
            type=click.IntRange(min=0, max=MOST_DEPARTURES),
            metavar="N",
            help="Explore only executions with at most N departures from the default order, those "
            "with the fewest first, up to the first violation. A departure is a read of a write "
            "other than the last, or a write before another in coherence order. Safe up to N is "
            "not Safe.",
        ),
        click.option(
            "--without",
            callback=_reductions,
            metavar="NAME[,NAME…]",
            help="Switch reductions off, and so explore executions that show nothing new: "
            f"{', '.join(REDUCTIONS)}, or all.",
        ),
        click.option(
            "--reference",
            is_flag=True,
            help="Explore with the reference instead of the search: slowly, with no reduction, for "
            "small programs. It reports violations without their executions.",
        ),
        click.option(
            "--audit",
            callback=_audit,
            metavar="DURATION",
            help="Audit each program that seems safe for this long, by random executions of the "
            "reference.  [default: 3 % of the time of its exploration; 0: not]",
        ),
        click.option(
            "--weak-failures",
            type=click.Choice(["always", "once"]),
            default=ALL.weak_failures,
            show_default=True,
            help="Let a weak compare-exchange fail spuriously each time, or only once per site and "
            "thread, which may miss violations.",
        ),
        click.option(
            "--mixed-size",
            "mixed_sizes",
            type=bool,
            default=ALL.mixed_sizes,
            show_default="yes",
            metavar="yes|no",
            help="Explore programs in which atomic accesses of several sizes overlap, which C and "
            "C++ do not define, with accesses that are not torn; or report the first such access.",
        ),
        click.option(
            "--estimate",
            is_flag=True,
            help="Estimate how many executions each program has, and how long exploring them "
            "takes.",
        ),
    ):
        with_part = option(with_part)
    return with_part
