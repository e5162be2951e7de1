"""Options of campaigns: where tests run, by what, and for how long; and all that is asked, as one
value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from weakspot.harness.cli.exploration_options import bound_options, configured_part
from weakspot.harness.cli.options import (
    checker_option,
    cluster_option,
    compiled_option,
    configured,
    duration,
    is_given,
    listed,
    machine_models,
    machine_option,
    named_machines,
    optional_time,
    runner_option,
    timeout_option,
)
from weakspot.harness.cli.source_options import crate_options, source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.values.bounds import Bounds

BUDGET = 120.0
"""Seconds that each machine is used, unless the user says how long."""


def campaign_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where tests run, by what and for how long; and the checkers, the compilers and the limits.
    `as_request` makes one value of all of them."""

    @functools.wraps(command)
    def with_budget(budget: float | None, **rest: Any) -> Any:
        if budget is None:
            budget = 0.0 if is_given("seconds") else BUDGET
        return command(budget=budget, **rest)

    checkers = checker_option(
        "checkers", multiple=True, callback=listed, default=("all",), show_default=True
    )
    extended = checkers(compiled_option("under c11")(bound_options(timeout_option(with_budget))))

    for option in (
        machine_option(
            "machines",
            "Machines to run on, separated by commas.",
            multiple=True,
            default=configured("machines"),
            show_default="local, or as configured",
        ),
        runner_option(default="all", show_default=True),
        click.option(
            "--budget",
            callback=optional_time,
            show_default="2m, or none with --for",
            metavar="DURATION",
            help="How long each machine is used in all: tests run for a shorter time, and those "
            "with the most informative outcomes come first.",
        ),
        click.option(
            "--for",
            "seconds",
            callback=duration,
            default=configured("seconds"),
            show_default="1s, or as configured",
            metavar="DURATION",
            help="How long each test runs on a machine; 0 runs nothing.",
        ),
    ):
        extended = option(extended)
    return extended


def as_request(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a campaign's questions, which the command gets as one value, `request`; and
    those of sources and `--cluster`."""

    @functools.wraps(command)
    def with_request(
        what: tuple[str, ...],
        models: tuple[str, ...],
        seconds: float,
        budget: float,
        runner: str,
        machines: tuple[str, ...],
        checkers: tuple[str, ...],
        configs: tuple[str, ...],
        bounds: Bounds,
        timeout: float,
        build: Build,
        **rest: Any,
    ) -> Any:
        from weakspot.campaigns import Request

        request = Request(
            what=what,
            models=models,
            machine_models=machine_models(),
            checkers=checkers,
            on=machines,
            named=named_machines(),
            runner=runner,
            seconds_run=seconds,
            budget=budget,
            seconds=timeout,
            bounds=bounds,
            part=configured_part(),
            compiled=configs,
            build=build,
        )
        return command(request=request, **rest)

    return cluster_option(source_options(crate_options(with_request)))
