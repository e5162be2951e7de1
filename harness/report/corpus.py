"""Structures and models as plain lines: what `structures` and `models` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.structures import Structure


def structures(found: Sequence[Structure], *, alone: bool) -> Iterator[str]:
    """One line per structure; with `alone`, structures in full."""
    if not alone:
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
        yield f"  claims     {len(each.claims)}; --claims shows them"
        yield ""


def json_structures(found: Iterable[Structure]) -> Iterator[str]:
    """The structures as JSON lines, with their claims."""
    for each in found:
        yield msgspec.json.encode(each, enc_hook=str).decode()


def models(found: Sequence[Model], *, alone: bool) -> Iterator[str]:
    """One line per model; with `alone`, models in full, with their cat files."""
    if not alone:
        names = max((len(each.name) for each in found), default=0)
        roles = max((len(each.role) for each in found), default=0)
        for each in found:
            yield f"{each.name:<{names}}  {each.role:<{roles}}  {each.title}"
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
