"""What relax finds of sources, whole."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.corpus import models
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.program_groups import program_groups
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.relax import Relaxing
from weakspot.harness.orders.scenes import versions
from weakspot.harness.values.bounds import Bounds


def relaxings(
    *what: str | Path,
    model: str = models.LANGUAGE,
    bounds: Bounds | None = None,
    fences: bool = False,
    prices: Prices | None = None,
    report: Report = lambda _: None,
) -> list[Relaxing]:
    """One for each version of the one source that is named, not yet run."""
    (group,) = program_groups([str(each) for each in what])
    explorations = Explorations(models.resolve(model), bounds or Bounds())
    return [
        Relaxing(version, explorations, fences=fences, prices=prices, report=report)
        for version in versions(group, explorations)
    ]


def ran(*what: str | Path, model: str = models.LANGUAGE, fences: bool = False) -> Relaxing:
    """The one of a source that has one version, run."""
    (work,) = relaxings(*what, model=model, fences=fences)
    work.run()
    return work
