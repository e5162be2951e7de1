"""What memory orders cost, as `weakspot cost` prints it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from weakspot.harness.cost import Costs, OrderCost, SiteCost, Timing
from weakspot.harness.report.terminal import columns


def costs(found: Costs, out: Console) -> None:
    """A row for each order of a site that has code of its own; sites of which all orders have the
    same are counted below."""
    emulated = "  emulated: says nothing of real hardware" if found.emulated else ""
    out.print(Text.assemble((found.subject, "bold"), f"  {found.machine}", (emulated, "yellow")))
    rows: list[list[str | Text]] = [["", "", "", "alone", "together", "in"]]
    alike: list[str] = []
    without: list[str] = []
    for site in found.sites:
        if refused := [each for each in site.orders if each.why]:
            without.append(f"{site.annotation} {refused[0].order}: {refused[0].why}")
        if sum(not each.same_as and not each.why for each in site.orders) > 1:
            rows += _rows(site)
        elif not all(each.why for each in site.orders):
            alike.append(str(site.annotation))
    if len(rows) > 1:
        for line in columns(rows, indent=2):
            out.print(line)
    if alike:
        where = ", ".join(alike)
        out.print(Text(f"  every order gives the same machine code at {where}"))
    for run in found.runs:
        if run.alone is None and run.together is None:
            out.print(Text(f"  {run.scenario}: not measured: {run.why}", style="dim"))
            continue
        alone, together = (
            "not measured" if ns is None else f"{ns:.0f} ns" for ns in (run.alone, run.together)
        )
        why = f" ({run.why})" if run.why else ""
        out.print(
            Text(
                f"  a run of {run.scenario} as written: {alone} alone, {together} together{why}",
                style="dim",
            )
        )
    for left_out in without:
        out.print(Text(f"  not measured: {left_out}", style="dim"))
    out.print(
        Text(
            f"nanoseconds a run more than with the weakest order, and the interval of 95 %; "
            f"{found.rounds} rounds in {found.seconds:.1f} s",
            style="dim",
        )
    )


def _rows(site: SiteCost) -> list[list[str | Text]]:
    made: list[list[str | Text]] = []
    head = f"{site.annotation} {site.annotation.function}", site.annotation.operation
    for each in site.orders:
        if each.same_as or each.why:
            continue
        names = [one.order for one in site.orders if each.order in (one.order, one.same_as)]
        orders = Text(" ")
        for name in names:
            style = "bold" if name == site.annotation.order else ""
            orders.append(" ").append(f"[{name}]" if style else name, style=style)
        cells = [_cell(each, timing, first=not made) for timing in (each.alone, each.together)]
        where = head if not made else ("", "")
        made.append([*where, orders, *cells, "" if made else site.scenario])
    return made


def _cell(order: OrderCost, timing: Timing | None, *, first: bool) -> Text:
    if first:
        return Text("0")
    if timing is None or order.why:
        return Text("–", style="dim")
    interval = f"[{timing.low:+.1f}, {timing.high:+.1f}]"
    if timing.is_noise:
        return Text(f"within noise {interval}", style="dim")
    return Text(f"{timing.ns:+.1f} {interval}", style="yellow")
