"""Asks whether the operations of a file are linearizable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.progress import Quiet
from weakspot.harness.clients import kinds, operations, search
from weakspot.harness.clients.subject import Subject, Variation, subject_of
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.linearizability import Linearizability, Size

OBJECTS = Path(__file__).parent / "objects"
LITMUS = Path(__file__).resolve().parents[2] / "litmus"


def found(
    path: Path,
    behaves_as: str,
    variation: Variation | None = None,
    *,
    calls: int = 3,
    threads: int = 2,
    defines: tuple[str, ...] = (),
    meanings: Mapping[str, str] | None = None,
    model: str = "rc20",
) -> Linearizability:
    size = Size(calls, threads)
    kind = kinds.kind(behaves_as)
    subject: Subject = subject_of(
        operations.read(path),
        kind or path.parent / behaves_as,
        variation or Variation(),
        meanings or {},
    )
    structure = LITMUS / path.stem
    include = (structure,) if structure.is_dir() else ()
    with search.compiled(subject, size, Build(defines=defines, include=include)) as made:
        return answered(subject, made, model, size, 60.0)


def answered(
    subject: Subject, made: Program, model: str, size: Size, seconds: float
) -> Linearizability:
    searching = search.Search(
        subject, made, models.resolve(model), size, Bounds(seconds=seconds), progress=Quiet()
    )
    searching.run()
    return searching.found()
