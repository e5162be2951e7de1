"""The cost of memory orders in a terminal: `weakspot cost`."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from weakspot.harness.costs.comparisons import Timing
from weakspot.harness.costs.result import Costs, OrderCost, SiteCost
from weakspot.harness.report.terminal import print_dim, print_table
from weakspot.harness.runners.whole_programs import Times

_PLACES = 3  # that are named for one reason


def costs(found: Costs, out: Console) -> None:
    """One row per memory order of a site with machine code of its own.

    Below, the sites where all memory orders give the same code, and those that no thread executes.
    """
    emulated = "  emulated: not the cost on real hardware" if found.emulated else ""
    out.print(Text.assemble((found.subject, "bold"), f"  {found.machine}", (emulated, "yellow")))
    rows: list[list[str | Text]] = [["", "", "", "alone", "together", "per run", "in"]]
    alike: list[str] = []
    idle: list[str] = []
    without: dict[str, list[str]] = {}
    for site in found.sites:
        if refused := [each for each in site.orders if each.why]:
            what = f"{site.annotation} {', '.join(each.order for each in refused)}"
            without.setdefault(refused[0].problem or refused[0].why, []).append(what)
        if sum(not each.same_as and not each.why for each in site.orders) > 1:
            if site.is_executed or site.alone is site.together is None:
                rows += _rows(site)
            else:
                idle.append(str(site.annotation))
        elif not any(each.why for each in site.orders):
            alike.append(str(site.annotation))
    if len(rows) > 1:
        print_table(rows, out, indent=2)
    if alike:
        where = ", ".join(alike)
        out.print(Text(f"  every memory order gives the same machine code at {where}"))
    if idle:
        out.print(Text(f"  executed only by main, or not at all: {', '.join(idle)}"))
    for run in found.runs:
        if run.alone is None and run.together is None:
            print_dim(f"  {run.scenario}: not measured: {run.why}", out)
            continue
        alone, together = (
            "not measured" if ns is None else f"{ns:.0f} ns" for ns in (run.alone, run.together)
        )
        why = f" ({run.why})" if run.why else ""
        what = "" if run.operations is None else f", {_number(run.operations)} measured operations"
        summary = f"  one run of {run.scenario} with the memory orders in the source{what}"
        print_dim(f"{summary}: {alone} alone, {together} together{why}", out)
    for why, places in without.items():
        more = f", and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        left_out = f"{'; '.join(places[:_PLACES])}{more}"
        print_dim(f"  not measured: {left_out}: {why}", out)
    print_dim(
        f"extra nanoseconds per operation over the weakest memory order, with the "
        f"95 % interval; "
        f"{found.turns} rounds in {found.seconds:.1f} s",
        out,
    )


def _rows(site: SiteCost) -> list[list[str | Text]]:
    made: list[list[str | Text]] = []
    head = f"{site.annotation} {site.annotation.function}", site.annotation.operation
    for each in site.orders:
        if each.same_as or each.why:
            continue
        names = [one.order for one in site.orders if each.order in (one.order, one.same_as)]
        between = ", " if any(" " in name for name in names) else " "
        orders = Text("  ")
        for at, name in enumerate(names):
            style = "bold" if name == site.annotation.order else ""
            orders.append(between if at else "")
            orders.append(f"[{name}]" if style else name, style=style)
        cells = [_cell(each, timing, first=not made) for timing in (each.alone, each.together)]
        where = head if not made else ("", "")
        last = ("", "") if made else (_executed(site), site.scenario)
        made.append([*where, orders, *cells, *last])
    return made


def _executed(site: SiteCost) -> str:
    """How often one run executes the site, alone and together with other threads."""
    counts = [_times(times) for times in (site.alone, site.together) if times]
    return " / ".join(dict.fromkeys(counts))


def _times(times: Times) -> str:
    if times.least == times.most:
        return f"×{times.most}"
    return f"×{_number(times.mean)} ({times.least}–{times.most})"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _cell(order: OrderCost, timing: Timing | None, *, first: bool) -> Text:
    if first:
        return Text("0")
    if timing is None or order.why:
        return Text("–", style="dim")
    interval = f"[{timing.low:+.1f}, {timing.high:+.1f}]"
    if timing.is_noise:
        return Text(f"within noise {interval}", style="dim")
    return Text(f"{timing.ns:+.1f} {interval}", style="yellow")
