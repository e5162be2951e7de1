"""Findings as diagnostics in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.violations import repair_of, violations_of
from weakspot.harness.report import terminal, witness
from weakspot.harness.report.folding import folded
from weakspot.harness.report.terminal import style
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.record import Record
from weakspot.harness.values.repair import ELSEWHERE, Need
from weakspot.harness.values.witness import Witness


def findings(
    record: Record, found: Sequence[Finding], out: Console, *, unfold: bool = False
) -> None:
    """Print findings in their order, those of one cause once; a violation of a program with an
    execution that shows it, in which library calls are one line each unless `unfold`."""
    for finding, *others in by_cause(found):
        head = Text.assemble((f"{finding.id} ", style(finding.severity)), finding.message)
        if finding.severity != "error":
            head.append(f"  [{finding.severity}]", style="dim")
        elif finding.id in KINDS:
            head.append(f"  [{KINDS[finding.id].title}]", style="dim")
        out.print(head)
        for site in finding.sites[:6]:
            out.print(Text.assemble("  --> ", site))
        shown = _witness(record, finding)
        repair = repair_of(record, finding)
        needs = repair.changes if repair else ()
        in_witness = [need for need in needs if _shows(shown, need)]
        for need in sorted(needs, key=lambda each: each not in in_witness):
            named = Text.assemble("   |  ", (str(need), "bold"))
            out.print(named if need in in_witness else named.append(f" {ELSEWHERE}"))
        for evidence in finding.evidence:
            for line in evidence.text.rstrip().split("\n"):
                out.print(Text(f"   |  {line}".rstrip()))
        if shown is not None and not unfold:
            events = shown.events
            keep = [number for number, each in enumerate(events) if _named(each.site, needs)]
            shown, _ = folded(shown, keep.__contains__)
        for line in witness.columns(
            shown and witness.shortened(shown), terminal.text_width(out, 8)
        ):
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


def _witness(record: Record, finding: Finding) -> Witness | None:
    """The shortest execution that shows the violation under one of its models."""
    shown = [each.witness for _, each in violations_of(record, finding) if each.witness is not None]
    return min(shown, key=lambda each: len(each.events), default=None)


def _shows(shown: Witness | None, need: Need) -> bool:
    """Whether an event of the witness is at the place that needs something."""
    return shown is None or any(
        _named(each.site, [need]) or _named(each.caller, [need]) for each in shown.events
    )


def _named(site: str, needs: Sequence[Need]) -> bool:
    """Whether something is needed at that place; paths may have more folders there."""
    return bool(site) and any(f"/{need.at}".endswith(f"/{site}") for need in needs)
