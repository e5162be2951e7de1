"""The weakest memory orders of a structure as recorded at the end of its claims.toml, which is
promoted like golden tests and never edited."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.corpus.structures import CLAIMS, Structure
from weakspot.harness.orders.relaxation import Relaxed, reason
from weakspot.harness.orders.searches import Search
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.claims import Weakest, WeakestOrder
from weakspot.system.files import disk, replace

HEAD = "# --- the weakest orders: promoted by weakspot relax, never edited ---"


class OrdersDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How the weakest memory orders of a structure differ from those that the corpus records:
    removed and added `lines` of its claims.toml. `undecided` are the limits that were reached;
    nothing is compared then."""

    structure: str
    undecided: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def refuse_own_sources(groups: Iterable[ProgramGroup]) -> None:
    """Raises BadInput if a group's sources do not belong to the corpus."""
    if own := [each.name for each in groups if not each.structure]:
        raise BadInput(
            "results are recorded only for structures of the corpus",
            place=own[0],
            advice="name a structure, or all; weakspot structures lists them",
        )


def differences(
    groups: Iterable[ProgramGroup],
    models: Sequence[Model],
    bounds: Bounds,
    *,
    promoted: bool,
    report: Report = lambda _: None,
) -> Iterator[OrdersDifference]:
    """Relax each structure and compare the result with its record; with `promoted`, replace the
    record. What the corpus records depends on no machine, so measured costs are not used."""
    for group in groups:
        assert group.structure is not None
        found = []
        for search in Search(models=tuple(models), bounds=bounds).of([group], report):
            search.run()
            found.append(search.result())
        if undecided := tuple(note for each in found for note in each.notes):
            yield OrdersDifference(structure=group.name, undecided=undecided)
            continue
        tables = [recorded(each) for each in found]
        lines = tuple(drift(group.structure, tables))
        if lines and promoted:
            promote(group.structure, tables)
        yield OrdersDifference(structure=group.name, lines=lines)


def recorded(found: Relaxed) -> Weakest:
    """The record of a result."""
    return Weakest(
        model=found.model,
        scenarios=found.scenarios,
        orders=tuple(
            WeakestOrder(
                at=f"{each.file}:{each.line}:{each.column}",
                operation=each.operation,
                function=each.function,
                written=each.order,
                weakest=tuple(one.orders[number] for one in found.weakest),
                why=tuple(
                    reason(one.needs[number])
                    or ("not exercised" if number in found.unexercised else "")
                    for one in found.weakest
                ),
            )
            for number, each in enumerate(found.annotations)
        ),
    )


def drift(structure: Structure, found: Sequence[Weakest]) -> list[str]:
    """The lines in which the structure's record for these models differs from the result."""
    models = {each.model for each in found}
    old = [each for each in structure.weakest if each.model in models]
    lines = difflib.unified_diff(list(_lines(old)), list(_lines(found)), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def promote(structure: Structure, found: Sequence[Weakest]) -> None:
    """Record the result; records for other models stay."""
    path = structure.folder / CLAIMS
    models = {each.model for each in found}
    others = [each for each in structure.weakest if each.model not in models]
    with disk(path):
        text = path.read_text(encoding="utf-8").partition(HEAD)[0].rstrip("\n")
        lines = "\n".join(_lines([*others, *found]))
        replace(path, f"{text}\n\n{HEAD}\n\n{lines}\n".encode())


def _lines(tables: Iterable[Weakest]) -> Iterator[str]:
    """TOML with one annotation per line."""
    for table in tables:
        yield "[[weakest]]"
        yield f"model = {_quoted(table.model)}"
        yield f"scenarios = {_quoted(table.scenarios)}"
        yield "orders = ["
        for each in table.orders:
            words = (f"{name} = {_quoted(getattr(each, name))}" for name in each.__struct_fields__)
            yield f"  {{ {', '.join(words)} }},"
        yield "]"


def _quoted(value: str | tuple[str, ...]) -> str:
    """A string, or a list of strings, in the syntax that JSON and TOML share."""
    return json.dumps(value, ensure_ascii=False)
