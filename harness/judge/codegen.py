"""Compiled code that allows more than its source: WS202."""

from __future__ import annotations

from collections.abc import Iterator

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.record import Record
from weakspot.harness.values.state import state_text


def weaker_code(record: Record) -> Iterator[Finding]:
    """One finding per machine code that allows an outcome which its source forbids."""
    for each in record.compiled:
        if each.result != "Weaker":
            continue
        more = f" and {len(each.beyond) - 1} more" if len(each.beyond) > 1 else ""
        yield Finding(
            id="WS202",
            severity="error",
            message=f"{each.source} by {', '.join(each.builds)} for {each.target}: the code allows "
            f"{state_text(each.beyond[0])}{more}, which {each.model} forbids",
            subject=each.source,
            sites=each.sites,
            evidence=(
                Evidence("code", f"the code as a test, under {each.machine}:\n{each.test.text}")
                if each.test is not None
                else Evidence("verdict", f"under {each.machine}"),
                Evidence("code", f"the machine code:\n{each.assembly}"),
            ),
            fix=KINDS["WS202"].advice,
        )
