"""What is noted about the answer of an exploration: what it did not ask, and what may surprise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weakspot.generators.litmus import Site, of_library
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import LOOPS, Bounds, Part

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict
    from weakspot.generators.source.program import Program

_FAILS_ONCE = "weak compare-exchanges fail at most once per site and thread (--weak-failures once)"
_BY_REFERENCE = "explored by the reference, with no reduction"


def doubled_loops(found: ExplorationDict, bounds: Bounds) -> int | None:
    """The bound on rounds of loops, if it was doubled."""
    loops = found["loop_bound"]
    return loops if not bounds.loops and loops > LOOPS else None


def notes(
    found: ExplorationDict, model: Model, bounds: Bounds, part: Part, program: Program
) -> tuple[str, ...]:
    """What a person has to know of an exploration's answer."""
    sites = program.sites
    once = part.weak_failures == "once" and found["fails"]
    loops = None if "loops" in found["limits"] else doubled_loops(found, bounds)
    return (
        *([f"loops were followed for up to {loops} iterations"] if loops else ()),
        *([_BY_REFERENCE] if part.reference else ()),
        *([_calls_not_compared(model)] if found["skips_calls"] else ()),
        *([_FAILS_ONCE] if once else ()),
        *([] if (mixed := found["mixed_sizes"]) is None else [_mixed_sizes(sites[mixed])]),
        *_compiler_barriers(found, model, sites),
        *_volatile(found, program),
        *([_not_asserted(place)] if (place := program.without_assertions) else ()),
        *_unreached(found, program),
        *([str(program.links)] if program.links else ()),
    )


def _compiler_barriers(
    found: ExplorationDict, model: Model, sites: Sequence[Site]
) -> Iterator[str]:
    """What code for x86 may take for an order that the language does not give."""
    own = (site for site in sites if site.kind == "SF" and not of_library(site.file))
    first = next(own, None)
    if found["violations"] and model.role == "language" and first is not None:
        yield (
            f"{first}: a compiler barrier orders nothing under {model.name}; code that relies on "
            "x86 for the rest is explored with --model tso"
        )


def _volatile(found: ExplorationDict, program: Program) -> Iterator[str]:
    """What a racing access may have been meant to be."""
    volatile = frozenset(program.lowered.volatile_sites)
    races = (each["witness"] for each in found["violations"] if each["kind"] == "race")
    events = (each["events"][event] for each in races if each for event in each["conflict"] or ())
    first = next((each["site"] for each in events if each["site"] in volatile), None)
    if first is not None and program.language != "rust":
        yield (
            f"{program.sites[first]}: this access is volatile, and not atomic for that in C and "
            "C++; --volatile relaxed takes it for a relaxed atomic one"
        )


def _unreached(found: ExplorationDict, program: Program) -> Iterator[str]:
    """What a Safe program asserts in vain."""
    sites = (program.sites[number] for number in found["not_asserted"])
    own = [str(site) for site in sites if site.file == program.name]
    if own and found["result"] == "Safe":
        yield f"{', '.join(dict.fromkeys(own))}: no execution comes to this assertion"


def _not_asserted(place: str) -> str:
    return f"{place}: NDEBUG is defined here, so that the program's assertions are not checked"


def _mixed_sizes(site: Site) -> str:
    return (
        f"{site}: this access and an atomic one of another size overlap, which C and C++ do not "
        "define; explored with accesses that are not torn"
    )


def _calls_not_compared(model: Model) -> str:
    return (
        f"linearizability is not decided under {model.name}, which does not say which call happens "
        "before which"
    )
