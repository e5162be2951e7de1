"""Several projects in one run of the gate, each with its own configuration.

Each is run by itself: names in its outcome are relative to its folder, and so are those in its
baseline and its cache. What is reported is one outcome, whose names are relative to the folder
where the user is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from weakspot.generators.litmus import of_library
from weakspot.harness.campaign.executor import Executor
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.last_findings import store_findings
from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding, SourceSpan
from weakspot.harness.gate.run import GateInterrupted, repository_of, run
from weakspot.system import project_file

_T = TypeVar("_T")


def run_projects(
    selected: Sequence[tuple[Config, tuple[str, ...]]],
    here: Path,
    *,
    cached: bool = True,
    new_baseline: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> GateOutcome:
    """Run the projects one after the other. One project alone that `here` is in keeps its names;
    else all names become relative to `here`. Raises what `run` raises."""
    single = len(selected) == 1 and here.is_relative_to(selected[0][0].root)
    outcomes: list[GateOutcome] = []
    seen: list[GateOutcome] = []
    for config, scenarios in selected:
        names = _Names(config.root, config.root if single else here)
        try:
            outcome = run(
                config,
                scenarios,
                cached=cached,
                new_baseline=new_baseline,
                progress=progress,
                executor=executor,
            )
        except GateInterrupted as interrupted:
            known = [each for one in seen for each in one.scenarios]
            known += [replace(each, file=names.file(each.file)) for each in interrupted.results]
            raise GateInterrupted(known) from None
        outcomes.append(outcome)
        seen.append(outcome if single else names.outcome(outcome))
    if single:
        return outcomes[0]
    merged = GateOutcome(
        below=",".join(each.below for each in seen),
        folder=str(here),
        repository=seen[0].repository,
        scenarios=_all(seen, lambda each: each.scenarios),
        findings=_all(seen, lambda each: each.findings),
        file_notes=_all(seen, lambda each: each.file_notes),
        stale=_all(seen, lambda each: each.stale),
        baseline=", ".join(each.baseline for each in seen),
        whole=all(each.whole for each in seen),
        seconds=sum(each.seconds for each in seen),
        pages=next((each.pages for each in seen if each.pages), ""),
        projects=tuple(outcomes),
    )
    nearest = project_file.find(here)
    store_findings(nearest.parent if nearest is not None else here, merged)
    return merged


def _all(
    outcomes: Sequence[GateOutcome], part: Callable[[GateOutcome], tuple[_T, ...]]
) -> tuple[_T, ...]:
    return tuple(each for outcome in outcomes for each in part(outcome))


class _Names:
    """From names relative to the folder `root` to those relative to `here`."""

    def __init__(self, root: Path, here: Path) -> None:
        self._root, self._here = root, here

    def file(self, name: str) -> str:
        if of_library(name):
            return name
        return Path(os.path.relpath(self._root / name, self._here)).as_posix()

    def text(self, text: str) -> str:
        """A text in which places of the project's files are named."""

        def moved(match: re.Match[str]) -> str:
            return self.file(match[0]) if (self._root / match[0]).is_file() else match[0]

        return re.sub(r"[^\s:,()\[\]]+(?=:\d)", moved, text)

    def outcome(self, outcome: GateOutcome) -> GateOutcome:
        return replace(
            outcome,
            folder=str(self._here),
            repository=str(repository_of(self._here) or outcome.repository),
            scenarios=tuple(replace(each, file=self.file(each.file)) for each in outcome.scenarios),
            findings=tuple(map(self._finding, outcome.findings)),
            file_notes=tuple(
                replace(each, file=self.file(each.file)) for each in outcome.file_notes
            ),
            stale=tuple(
                replace(each, file=self.file(each.file), message=self.text(each.message))
                for each in outcome.stale
            ),
        )

    def _finding(self, reported: ReportedFinding) -> ReportedFinding:
        return replace(
            reported,
            message=self.text(reported.message),
            scenario=self.file(reported.scenario),
            places=tuple(map(self._span, reported.places)),
            needs=tuple(replace(each, place=self._span(each.place)) for each in reported.needs),
            edits=tuple(replace(each, file=self.file(each.file)) for each in reported.edits),
            fix=self.text(reported.fix),
            steps=tuple(each and self._span(each) for each in reported.steps),
            cause=f"{self.file('.')} {reported.cause}",
        )

    def _span(self, span: SourceSpan) -> SourceSpan:
        return replace(span, file=self.file(span.file))
