"""Findings as diagnostics in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.report import terminal, witness
from weakspot.harness.report.terminal import style
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.record import Record


def findings(record: Record, found: Sequence[Finding], out: Console) -> None:
    """Print findings in their order, those of one cause once; a violation of a program with an
    execution that shows it."""
    for finding, *others in by_cause(found):
        head = Text.assemble((f"{finding.id} ", style(finding.severity)), finding.message)
        if finding.severity != "error":
            head.append(f"  [{finding.severity}]", style="dim")
        elif finding.id in KINDS:
            head.append(f"  [{KINDS[finding.id].title}]", style="dim")
        out.print(head)
        for site in finding.sites[:6]:
            out.print(Text.assemble("  --> ", site))
        repair = record.repair_of.get(finding.subject)
        if repair is not None and finding.fix.startswith(repair.fix or "\0"):
            for need in repair.needs:
                out.print(Text.assemble("   |  ", (need, "bold")))
        for evidence in finding.evidence:
            for line in evidence.text.rstrip().split("\n"):
                out.print(Text(f"   |  {line}".rstrip()))
        for line in _witness(record, finding, terminal.text_width(out, 8)):
            out.print(Text(f"   |    {line}"))
        for other in others:
            repeat = Text.assemble(
                "   =  same cause: ", (f"{other.id} ", style(other.severity)), other.message
            )
            if sites := other.unnamed_sites:
                repeat.append(f" ({', '.join(sites[:6])})")
            out.print(repeat)
        if finding.fix and finding.severity != "note":
            out.print(Text.assemble(("help: ", "cyan"), finding.fix))


def _witness(record: Record, finding: Finding, most: int | None) -> list[str]:
    """The shortest execution that shows the violation under one of its models."""
    shown = [each.witness for _, each in violations_of(record, finding) if each.witness is not None]
    if not shown:
        return []
    return witness.columns(witness.shortened(min(shown, key=lambda each: len(each.events))), most)
