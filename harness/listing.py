"""Structures, models and generated tests as lines: what `structures`, `models` and `gen` print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.text import Text

from weakspot.harness.material import Material
from weakspot.harness.models import Model
from weakspot.harness.record import Drift, Entry
from weakspot.harness.report.terminal import columns
from weakspot.harness.report.text import where
from weakspot.harness.structures import Claim, Structure


def tests(entries: Iterable[Entry]) -> list[Text]:
    """A line a test: name, shape, the operations and sites that it comes from."""
    return columns([each.name, each.test.shape, where(each)] for each in entries)


def notes(material: Material) -> Iterator[str]:
    """What generating showed of the programs themselves."""
    for each in material.explorations:
        for violation in each.violations:
            place = f" ({', '.join(violation.sites)})" if violation.sites else ""
            yield f"note: {each.program}: {violation.kind}: {violation.message}{place}"
        if each.result == "Unknown":
            yield f"note: {each.program}: {each.how}: more tests may exist"


def drifts(found: Iterable[tuple[Structure, Drift]], *, promoted: bool) -> Iterator[str]:
    """What promoting changes, or has changed."""
    for structure, drift in found:
        amount = len(drift.added) + len(drift.missing) + len(drift.changed)
        if not amount:
            yield f"{structure.name}: as the golden tests"
            continue
        said = "promoted" if promoted else f"differs; weakspot gen {structure.name} --promote"
        yield f"{structure.name}: {said}"
        for label, names in (
            ("added", drift.added),
            ("removed", drift.missing),
            ("changed", drift.changed),
        ):
            yield from (f"  {label:<8} {name}" for name in names)


def structures(found: Sequence[Structure], *, claims: bool, alone: bool) -> Iterator[str]:
    """A line a structure; one that was asked for by name in full."""
    if not alone and not claims:
        width = max((len(each.name) for each in found), default=0)
        for each in found:
            yield f"{each.name:<{width}}  {each.title}"
        return
    for each in found:
        yield f"{each.name}  {each.title}"
        yield f"  source     {each.source}"
        yield f"  models     {' '.join(each.models)}"
        yield f"  tests      {len(list((each.folder / 'tests').glob('*.litmus')))} golden"
        yield f"  folder     {each.folder}"
        width = max((len(scenario.name) for scenario in each.scenarios), default=0)
        for number, scenario in enumerate(each.scenarios):
            defines = "".join(f" -D{define}" for define in scenario.defines)
            label = "scenarios" if number == 0 else ""
            line = f"  {label:<9}  {scenario.name:<{width}}  {scenario.file}{defines}"
            yield f"{line}  {scenario.about}".rstrip()
        if claims:
            for claim in each.claims:
                yield from _claim(claim)
        else:
            yield f"  claims     {len(each.claims)}; --claims shows them"
        yield ""


def _claim(claim: Claim) -> Iterator[str]:
    yield f"  {claim.where}"
    yield from textwrap.wrap(
        f"claims: {claim.says}", 96, initial_indent="    ", subsequent_indent="      "
    )
    if claim.interleavings:
        yield f"    true: {claim.scenario} is {claim.interleavings} under sequential consistency"
    else:
        said = ", ".join(f"{model} {verdict}" for model, verdict in claim.verdict.items())
        seen = f"; seen on {', '.join(claim.seen)}" if claim.seen else ""
        yield f"    true: {claim.test}: {said}{seen}"


def json_structures(found: Iterable[Structure]) -> Iterator[str]:
    """The structures as JSON lines, with their claims."""
    for each in found:
        yield msgspec.json.encode(each, enc_hook=str).decode()


def models(found: Sequence[Model], *, alone: bool) -> Iterator[str]:
    """A line a model; one that was asked for by name in full, with its cat file."""
    if not alone:
        rows = [[each.name, each.role, each.title] for each in found]
        yield from (line.plain for line in columns(rows))
        return
    for each in found:
        yield f"{each.name}  {each.title}"
        yield f"  role       {each.role}"
        if each.machines:
            yield f"  machines   {' '.join(each.machines)}"
        if each.stronger_than:
            yield f"  stronger than {' '.join(each.stronger_than)}"
        if each.reference:
            yield f"  paper      {each.reference}"
        if each.about:
            yield f"  about      {each.about}"
        yield f"  file       {each.path}"
        yield ""
        yield each.path.read_text(encoding="utf-8").rstrip()
        yield ""
