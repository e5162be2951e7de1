"""Generated tests and claims as lines: what `gen` and `structures --claims` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from weakspot.harness.corpus.material import Material
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.judge.claims import ClaimAnswer, claim_answers
from weakspot.harness.report.terminal import columns
from weakspot.harness.values.descriptions import describe_origin
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.record import Entry, GoldenDifference, Record, unique


def tests(entries: Iterable[Entry]) -> list[Text]:
    """One line per test: name, shape, the operations and sites that it comes from."""
    return columns([each.name, each.test.shape, describe_origin(each)] for each in entries)


def notes(material: Material, unmapped: Iterable[str] = ()) -> Iterator[str]:
    """The programs of which not every interleaving was traced, and the tests without assembly."""
    for each in material.programs:
        made = each.generated
        if not made.exhaustive or made.bounded:
            loops = ", ".join(unique(map(str, made.bounded)))
            bounds = f"loops bounded at {loops}" if loops else ""
            how = "; ".join(filter(None, ("" if made.exhaustive else made.how, bounds)))
            yield f"note: {each.name}: {how}: more tests may exist"
    yield from (f"note: {message}" for message in unmapped)


def drifts(found: Mapping[str, GoldenDifference], *, promoted: bool) -> Iterator[str]:
    """What promoting changes, or has changed, in each structure."""
    for structure, drift in found.items():
        amount = len(drift.added) + len(drift.missing) + len(drift.changed)
        if not amount:
            yield f"{structure}: same as the golden tests"
            continue
        command = f"weakspot gen {structure} --promote"
        yield f"{structure}: {'promoted' if promoted else f'differs; {command}'}"
        for label, names in (
            ("added", drift.added),
            ("removed", drift.missing),
            ("changed", drift.changed),
        ):
            yield from (f"  {label:<8} {name}" for name in names)


def claims(
    found: Sequence[Structure], record: Record | None, campaign: Path | None
) -> Iterator[str | Text]:
    """Every claim with its recorded answers, and which tool confirmed them: one row per answer."""
    rows: list[list[str | Text]] = []
    says: dict[int, str] = {}
    undecided = 0
    for structure in found:
        for claim in structure.claims:
            given = claim_answers(record, structure.name, claim)
            groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
            for each in given:
                answer, colour = _answer(each)
                groups.setdefault((answer, colour, each.by), []).append(each.under)
            undecided += any(not each.by for each in given)
            for number, ((answer, colour, by), under) in enumerate(groups.items()):
                rows.append(
                    [
                        structure.name if number == 0 else "",
                        (claim.scenario if number == 0 else ""),
                        (claim.test if number == 0 else ""),
                        Text(answer, style=colour),
                        " ".join(under),
                        ", ".join(by) or Text("not decided", style="yellow"),
                    ]
                )
            says[len(rows) - 1] = f"{claim.says} ({claim.where})"
    head = ["structure", "scenario", "test", "recorded", "under", "decided by"]
    title, *lines = columns([head, *rows])
    yield title
    for number, line in enumerate(lines):
        yield line
        # the claim is printed below its rows
        if number in says:
            yield Text(f"    {says[number]}", style="dim")
    total = sum(len(structure.claims) for structure in found)
    counts = f"{total - undecided} of {amount(total, 'claim')} decided"
    if campaign is None:
        yield f"{counts}: there is no campaign yet; run `weakspot test all`"
    else:
        more = "; run `weakspot test all` to decide the others" if undecided else ""
        yield f"{counts} in {campaign}{more}"


def _answer(each: ClaimAnswer) -> tuple[str, str]:
    """The recorded answer, with what was found if it differs, and a colour."""
    if each.fits is False:
        return f"{each.recorded}, but found {each.found}", "red"
    if each.found and each.found != each.recorded and not each.by:
        return f"{each.recorded} ({each.found})", "yellow"
    return each.recorded, ""


def json_claims(found: Iterable[Structure], record: Record | None) -> Iterator[str]:
    """One JSON object per claim and model, or kind of machine."""
    for structure in found:
        for claim in structure.claims:
            for each in claim_answers(record, structure.name, claim):
                yield msgspec.json.encode(each).decode()
