"""Findings as diagnostics in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.violations import repair_of, violations_of
from weakspot.harness.report import terminal, witness
from weakspot.harness.report.terminal import advice, diagnostic
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.record import Record
from weakspot.harness.values.repair import ELSEWHERE
from weakspot.harness.values.witness import Execution


def findings(
    record: Record, found: Sequence[Finding], out: Console, *, unfold: bool = False
) -> None:
    """Print findings in their order, those of one cause once; a violation of a program with an
    execution that shows it, in which library calls are one line each unless `unfold`."""
    for finding, *others in by_cause(found):
        is_error = finding.severity == "error"
        note = KINDS[finding.id].title if is_error else finding.severity
        out.print(diagnostic(finding.id, finding.severity, finding.message, note))
        for site in finding.sites[:6]:
            out.print(Text.assemble("  --> ", site))
        shown = _witness(record, finding)
        repair = repair_of(record, finding)
        needs = repair.changes if repair else ()
        places = [need.at for need in needs]
        explorations = record.explorations_of.get(finding.subject, ())
        own = [each.witness for exploration in explorations for each in exploration.violations]
        unshown = repair.unshown(shown, own) if repair else {}
        for at in sorted(range(len(needs)), key=unshown.__contains__):
            named = Text.assemble("   |  ", (str(needs[at]), "bold"))
            out.print(named.append(f" {ELSEWHERE}") if at in unshown else named)
        for evidence in finding.evidence:
            for line in evidence.text.rstrip().split("\n"):
                out.print(Text(f"   |  {line}".rstrip()))
        drawn = [("", shown)]
        drawn += [
            (f"{places[at]} is too weak, as this execution shows:", execution)
            for at, execution in unshown.items()
            if execution is not None
        ]
        for above, execution in drawn:
            if above:
                out.print(Text(f"   |  {above}"))
            for line in witness.columns(
                execution and witness.readable(execution, places, unfold=unfold),
                terminal.text_width(out, 8),
            ):
                out.print(Text(f"   |    {line}"))
        for other in others:
            sites = ", ".join(other.unnamed_sites[:6])
            where = f" ({sites})" if sites else ""
            repeated = diagnostic(other.id, other.severity, f"{other.message}{where}")
            out.print(Text("   =  same cause: ").append_text(repeated))
        if finding.fix and finding.severity != "note":
            out.print(advice(finding.fix))


def _witness(record: Record, finding: Finding) -> Execution | None:
    """The shortest execution that shows the violation under one of its models."""
    violations = (each for _, each in violations_of(record, finding))
    shortest = min(violations, key=lambda each: each.size, default=None)
    return None if shortest is None else shortest.witness
