"""The machines that a project knows, as lines: what `weakspot machines` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from weakspot.harness.campaign.known_machines import KnownMachine
from weakspot.harness.report.terminal import columns
from weakspot.harness.values.descriptions import describe_machine, describe_steadiness
from weakspot.harness.values.numbers import amount


def listed(found: Sequence[KnownMachine]) -> list[Text]:
    """One line per machine."""
    return columns(
        [
            Text.assemble(
                each.name, (f" ({', '.join(each.aliases)})" if each.aliases else "", "dim")
            ),
            each.address or Text("not configured", "dim"),
            _state(each),
            _shown(each),
        ]
        for each in found
    )


def in_full(found: Sequence[KnownMachine]) -> Iterator[Text]:
    """Everything that is known of each."""
    for each in found:
        yield Text.assemble((each.name, "bold"), "  ", _state(each))
        rows = [
            ("address", each.address or "the project names it no longer"),
            ("also called", ", ".join(each.aliases)),
            ("reached", _reached(each)),
            ("settings", ", ".join(_settings(each))),
            ("evenness", describe_steadiness(each.profile)),
            ("clock", _clock(each)),
            ("campaigns", _campaigns(each)),
            ("showed", _tests(each)),
        ]
        yield from columns([[name, text] for name, text in rows if text], indent=2)
        yield Text()


def _state(each: KnownMachine) -> Text:
    if each.reason:
        return Text(f"unreachable on {_time(each.probed)}", "red")
    described = describe_machine(each.info)
    return Text(described) if described else Text("not probed yet", "yellow")


def _reached(each: KnownMachine) -> str:
    """When it was probed; if it could not be reached then, why, and what it was before."""
    if not each.reason:
        return _time(each.reached)
    known = f" ({describe_machine(each.info)})" if each.info.arch else ""
    before = f"; before on {_time(each.reached)}{known}" if each.reached else known
    return f"no: {each.reason}{before}"


def _settings(each: KnownMachine) -> Iterator[str]:
    known = each.profile
    if (smt := known.get("smt")) is not None:
        yield f"SMT {'on' if smt else 'off'}"
    if isinstance(mhz := known.get("mhz"), int | float):
        yield f"{mhz / 1000:.2f} GHz"
    if (quota := known.get("quota")) is not None:
        yield f"limited to {quota} processors"
    for name, label in (("governor", "governor "), ("clock", "clock source "), ("kernel", "")):
        if value := known.get(name):
            yield f"{label}{value}"
    if compiler := known.get("compiler"):
        yield f"tests compiled by {compiler}"


def _clock(each: KnownMachine) -> str:
    error = each.profile.get("clock_error")
    if not isinstance(error, int | float):
        return ""
    if not error:
        return "agrees with this computer's"
    return f"{abs(error):,.0f} s {'ahead of' if error > 0 else 'behind'} this computer's"


def _campaigns(each: KnownMachine) -> str:
    return f"{each.campaigns:,}, the last on {_time(each.last)}" if each.campaigns else "none"


def _shown(each: KnownMachine) -> str:
    """`showed SB; not MP, LB`"""
    seen = [shape.shape for shape in each.shapes if shape.shown]
    unseen = [shape.shape for shape in each.shapes if not shape.shown]
    if not each.shapes:
        return ""
    showed = f"showed {', '.join(seen)}" if seen else "showed no shape"
    return f"{showed}; not {', '.join(unseen)}" if seen and unseen else showed


def _tests(each: KnownMachine) -> str:
    """`SB 1 of 3 tests, MP none of 4`"""
    return ", ".join(
        f"{shape.shape} {shape.shown or 'none'} of {amount(shape.tests, 'test')}"
        for shape in each.shapes
    )


def _time(text: str) -> str:
    """`2026-11-23 14:05` of a time as manifests have it."""
    return text[:16].replace("T", " ")
