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
        results = []
        for search in Search(models=tuple(models), bounds=bounds).of([group], report):
            search.run()
            results.append(search.result())
        if undecided := tuple(note for result in results for note in result.notes):
            yield OrdersDifference(structure=group.name, undecided=undecided)
            continue
        tables = [recorded(result) for result in results]
        lines = tuple(drift(group.structure, tables))
        if lines and promoted:
            promote(group.structure, tables)
        yield OrdersDifference(structure=group.name, lines=lines)


def recorded(relaxed: Relaxed) -> Weakest:
    """The record of a result."""
    return Weakest(
        model=relaxed.model,
        scenarios=relaxed.scenarios,
        orders=tuple(
            WeakestOrder(
                at=f"{annotation.file}:{annotation.line}:{annotation.column}",
                operation=annotation.operation,
                function=annotation.function,
                written=annotation.order,
                weakest=tuple(weakest.orders[number] for weakest in relaxed.weakest),
                why=tuple(
                    reason(annotation, weakest.needs[number])
                    or ("not exercised" if number in relaxed.unexercised else "")
                    for weakest in relaxed.weakest
                ),
            )
            for number, annotation in enumerate(relaxed.annotations)
        ),
    )


def drift(structure: Structure, tables: Sequence[Weakest]) -> list[str]:
    """The lines in which the structure's record for these models differs from the result."""
    models = {table.model for table in tables}
    old = [table for table in structure.weakest if table.model in models]
    lines = difflib.unified_diff(list(_lines(old)), list(_lines(tables)), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def promote(structure: Structure, tables: Sequence[Weakest]) -> None:
    """Record the result; records for other models stay."""
    path = structure.folder / CLAIMS
    models = {table.model for table in tables}
    others = [table for table in structure.weakest if table.model not in models]
    with disk(path):
        text = path.read_text(encoding="utf-8").partition(HEAD)[0].rstrip("\n")
        lines = "\n".join(_lines([*others, *tables]))
        replace(path, f"{text}\n\n{HEAD}\n\n{lines}\n".encode())


def _lines(tables: Iterable[Weakest]) -> Iterator[str]:
    """TOML with one annotation per line."""
    for table in tables:
        yield "[[weakest]]"
        yield f"model = {_quoted(table.model)}"
        yield f"scenarios = {_quoted(table.scenarios)}"
        yield "orders = ["
        for order in table.orders:
            words = (
                f"{name} = {_quoted(getattr(order, name))}" for name in order.__struct_fields__
            )
            yield f"  {{ {', '.join(words)} }},"
        yield "]"


def _quoted(value: str | tuple[str, ...]) -> str:
    """A string, or a list of strings, in the syntax that JSON and TOML share."""
    return json.dumps(value, ensure_ascii=False)
