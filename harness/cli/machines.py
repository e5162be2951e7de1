"""`weakspot machines`: the machines that a project knows."""

from __future__ import annotations

from functools import partial

import click

from weakspot.harness.cli.errors import INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import json_option, named_machines
from weakspot.harness.cli.output import progress_bar, results_folder, write_answers


@command(
    epilog="""\
The table [machines] of weakspot.toml names machines: pi = "ssh:pi.lan". This computer is `local`.
The list includes every machine of the campaigns in results/ (or in WEAKSPOT_RESULTS), even if it no
longer exists.

--probe connects to each machine, reads its profile, measures how evenly it runs, and stores the
results in results/machines.json. A machine that cannot be reached is marked in the list, and the
exit code is 3; both stay so without --probe until a probe reaches it. If it is the only machine to
probe, the command fails with exit code 2.

Examples:
  weakspot machines
  weakspot machines --probe           connect to every machine and measure it
  weakspot machines pi                print everything that is known about pi
  weakspot machines --probe ssh:pi    probe a machine that weakspot.toml does not name
  weakspot machines --json | jq .profile.cpu"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--probe", "probing", is_flag=True, help="Connect to the machines and measure them.")
@json_option
def machines(names: tuple[str, ...], probing: bool, as_json: bool) -> int:
    """List the machines that tests run on.

    For each machine, shows its address, its processor, and which shapes of litmus tests it showed
    in stored campaigns."""
    from weakspot.errors import BadInput
    from weakspot.harness.campaign import known_machines
    from weakspot.harness.machines import check
    from weakspot.harness.report import machines as report
    from weakspot.harness.report import terminal

    root, named = results_folder(), named_machines()
    asked = [name for name in names if name in named or _has_kind(name)]
    errors = {}
    if probing:
        for name in names:
            check(name, named)
        chosen = names or tuple(dict.fromkeys((known_machines.HERE, *named)))
        with progress_bar() as progress:
            progress.start(len(chosen), "probing machines")
            errors = known_machines.probe(chosen, root, named, lambda _: progress.advance())
        if len(chosen) == 1 and errors:
            raise errors[chosen[0]]
    found = known_machines.known(root, named, asked)
    for name in names:
        if not any(name in (each.name, *each.aliases) for each in found):
            known = ", ".join(dict.fromkeys(each.name for each in found))
            raise BadInput(f"unknown machine {name!r}", advice=f"known: {known}")
    if names:
        found = [each for each in found if {each.name, *each.aliases} & {*names}]
    lines = report.in_full(found) if names or probing else report.listed(found)
    write_answers(found, as_json, partial(terminal.print_lines, lines))
    unreachable = bool(errors) or (bool(names) and any(each.reason for each in found))
    return INCONCLUSIVE if unreachable else NOTHING_FOUND


def _has_kind(name: str) -> bool:
    """Whether it is the address of a machine."""
    from weakspot.errors import BadInput
    from weakspot.harness.machines import check

    try:
        check(name)
    except BadInput:
        return False
    return True
