"""The weakest memory orders of a structure as recorded at the end of its claims.toml, which is
promoted like golden tests and never edited."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence

from weakspot.harness.corpus.structures import CLAIMS, Structure
from weakspot.harness.orders.relaxation import Relaxed, reason
from weakspot.harness.values.claims import Weakest, WeakestOrder
from weakspot.system.files import disk, replace

HEAD = "# --- the weakest orders: promoted by weakspot relax, never edited ---"


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
                why=tuple(reason(one.needs[number]) for one in found.weakest),
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
