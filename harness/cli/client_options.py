"""Options that choose the clients of an object, which several commands generate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import click

from weakspot.harness.cli import completion
from weakspot.harness.cli.options import Decorator, is_given, listed

if TYPE_CHECKING:
    from weakspot.harness.clients.subject import ClientChoice


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


def calls_option(name: str = "--calls") -> Decorator:
    """The size of the clients, which the command gets as `calls`."""
    return click.option(
        name,
        "calls",
        type=click.IntRange(1, 12),
        metavar="N",
        default=4,
        show_default=True,
        help="Explore clients with at most N calls.",
    )


_OPTIONS = (
    click.option(
        "--threads",
        type=click.IntRange(2, 6),
        metavar="N",
        default=3,
        show_default=True,
        help="Use at most N threads that call operations.",
    ),
    click.option(
        "--operations",
        multiple=True,
        callback=listed,
        metavar="F[,…]",
        help="Functions to treat as operations.  [default: those marked with WEAKSPOT_OP(ROLE), "
        "else all that are not static; in Rust, those named as the kind's]",
    ),
    click.option(
        "--role",
        "roles",
        multiple=True,
        callback=_pairs,
        metavar="ROLE=F[,…]",
        help="Let one thread alone call the operation F, as in a queue with a single producer: "
        "producer=F.",
    ),
    click.option(
        "--operation",
        "meanings",
        multiple=True,
        callback=_pairs,
        metavar="F=NAME",
        help="Treat the function F as the operation NAME of the kind.",
    ),
    click.option(
        "--capacity",
        type=click.IntRange(min=1),
        metavar="N",
        help="The queue, stack or deque is full when it holds N items.  [default: never full]",
    ),
    click.option(
        "--relaxed",
        type=click.IntRange(min=0),
        metavar="K",
        default=0,
        help="The queue or stack may return any of its first K + 1 items.",
    ),
    click.option(
        "--quasi",
        type=click.IntRange(min=0),
        metavar="K",
        default=0,
        help="Each item may leave the queue up to K places before or after its turn.",
    ),
    click.option(
        "--per-producer",
        is_flag=True,
        help="The queue keeps the items of one thread in order, but not those of different "
        "threads.",
    ),
    click.option(
        "--spurious",
        multiple=True,
        callback=listed,
        metavar="F[,…]",
        help="Operations that may fail although they could succeed.",
    ),
    click.option(
        "--blocking",
        multiple=True,
        callback=listed,
        metavar="F[,…]",
        help="Operations that wait until they can succeed.",
    ),
    click.option(
        "--empty",
        type=int,
        metavar="VALUE",
        default=-1,
        show_default=True,
        help="The number that an operation returns when it finds nothing.",
    ),
)
_VARIATION = ("capacity", "relaxed", "quasi", "per_producer", "spurious", "blocking", "empty")


def client_options(calls: str = "--client-calls", *, required: bool = False) -> Decorator:
    """`--as`, and the options that choose the clients, which the command gets as `choice`, a
    ClientChoice; None without `--as`, which the others require. `calls` is the option for their
    size."""
    kind = click.option(
        "--as",
        "behaves_as",
        required=required,
        shell_complete=completion.kinds,
        metavar="KIND|FILE",
        help="The kind of object, or a file with a sequential implementation.",
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        options: dict[str, str] = {}

        @functools.wraps(command)
        def with_choice(**words: Any) -> Any:
            own = {name: words.pop(name) for name in options}
            return command(choice=_choice(own, options), **words)

        extended: Any = with_choice
        for option in reversed((kind, calls_option(calls), *_OPTIONS)):
            extended = option(extended)
            added = extended.__click_params__[-1]
            options[added.name] = added.opts[0]
        return cast("Callable[..., Any]", extended)

    return add


def _choice(own: dict[str, Any], options: dict[str, str]) -> ClientChoice | None:
    if own["behaves_as"] is None:
        for name, option in options.items():
            if is_given(name):
                raise click.UsageError(f"{option} requires --as.")
        return None
    from weakspot.harness.clients.subject import ClientChoice, Variation

    own["meanings"] = {name: names[0] for name, names in own["meanings"].items()}
    own["capacity"] = own["capacity"] or 0
    variation = Variation(**{name: own.pop(name) for name in _VARIATION})
    return ClientChoice(variation=variation, **own)
