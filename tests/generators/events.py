"""Traces written by hand: `thread("W x na", "W y rel")`, with a word for each operation."""

from __future__ import annotations

from typing import Any

from weakspot.generators.cycles.patterns import Pattern, pattern
from weakspot.generators.litmus import Site

Word = str | tuple[str, dict[str, Any]]


def event(text: str, index: int, **more: Any) -> dict[str, Any]:
    """`W x rel`, `R x acq`, `F sc`, `exch x sc`, `fetch.add x rlx`, `cas x acq_rel`,
    `LOCK m`, `UNLOCK m`; a trailing `ctrl` makes it depend on all reads before."""
    words = text.split()
    kind, loc, order = words[0], "", ""
    if kind == "F":
        order = words[1]
    elif kind in ("LOCK", "UNLOCK"):
        loc, order = words[1], "acq" if kind == "LOCK" else "rel"
    else:
        loc, order = words[1], words[2]
    op = {"exch": "xchg", "cas": "cas"}.get(kind, kind.partition("fetch.")[2])
    return {
        "site": index,
        "kind": "RMW" if op else kind,
        "order": order,
        "loc": loc,
        "address": 0,
        "size": 4,
        "read": 1 if kind == "R" or op else None,
        "written": 1 if kind == "W" or op else None,
        "op": op,
        "operand": 1 if op else None,
        "volatile": False,
        "call": 1,
        "operation": "op",
        "addr": [],
        "data": [],
        "ctrl": [],
        "other": None,
        **more,
    }


def trace_of(*threads: list[str]) -> Pattern:
    """The access pattern of one run in which these threads are started by nobody."""
    sites: list[Site] = []
    runs: list[list[dict[str, Any]]] = []
    for number, texts in enumerate(threads):
        events: list[dict[str, Any]] = []
        for text in texts:
            dependent = text.endswith(" ctrl")
            made = event(text.removesuffix(" ctrl"), len(sites))
            if dependent:
                made["ctrl"] = [at for at, each in enumerate(events) if each["read"] is not None]
            events.append(made)
            sites.append(
                Site(f"t{number}.c", len(events), 1, f"f{number}", made["kind"], made["order"])
            )
        runs.append(events)
    run = {"threads": runs, "outcome": "complete", "message": "", "site": None, "count": 1}
    trace = {"runs": [run], "interleavings": 1, "exhaustive": True, "how": "", "bound_sites": []}
    return pattern(trace, sites)  # type: ignore[arg-type]
