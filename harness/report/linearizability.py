"""What the clients of an object show: `weakspot linearize`."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from weakspot.harness.report.terminal import print_dim, style
from weakspot.harness.values.linearizability import Linearizability, Size
from weakspot.harness.values.numbers import amount


def summary(found: Linearizability, out: Console) -> None:
    """One line for the result, and what was explored."""
    article = "" if found.specification == "once" else "a "
    subject = f"{found.object} as {article}{found.specification}, under {found.model}: "
    if found.result == "Held":
        held = (
            f"{Size(found.complete, found.threads).covered(found.clients)} behave"
            if found.clients != 1
            else "the one client behaves"
        )
        out.print(Text.assemble(subject, (f"{held} as specified", style("Safe"))))
    elif found.result == "Violated":
        kinds = dict.fromkeys(each.kind for each in found.violations)
        wrong = "not linearizable" if "linearizability" in kinds else ", ".join(kinds)
        out.print(Text.assemble(subject, (wrong, style("Violated")), f": {found.client}"))
    else:
        up_to = (
            f"{Size(found.complete, found.threads).covered()} behave as specified"
            if found.complete
            else "no size is complete"
        )
        out.print(Text.assemble(subject, ("Unknown", style("Unknown")), f"; {up_to}"))
        for reason in found.reasons[:6]:
            print_dim(reason, out)
        if len(found.reasons) > 6:
            print_dim(f"and {len(found.reasons) - 6:,} more", out)
    print_dim(
        f"{amount(found.clients, 'client')}, {amount(found.executions, 'execution')} explored "
        f"in {found.seconds:.1f} s",
        out,
    )
