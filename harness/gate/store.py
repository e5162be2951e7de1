"""A project's answers between runs, in its folder `.weakspot`: one file per answer, written as soon
as it is known, under a key of all that it depends on, with the content of the source's files.

So Ctrl-C loses at most the answer in progress, an unchanged scenario costs the preprocessor's time,
and a truncated file is an answer that is asked for again. An answer that a time limit truncated is
not stored: the next run may find more. Answers for other contents of the files stay, such as those
of another branch.

An answer is stored with what findings need of the source, so that an unchanged source is not
compiled again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.litmus import Site
from weakspot.generators.source.links import Links
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.gate.architectures import possible_on
from weakspot.harness.gate.scenarios import Scenario
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.verdict import Verdict
from weakspot.system import cache

if TYPE_CHECKING:
    from weakspot.generators.source.program import Program

FOLDER = ".weakspot"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a scenario under a model: its exploration, a litmus test's verdict, or how
    the scenario is repaired. `sites` are those of the exploration's violations, `machines` says for
    each of its tests which kinds of machine can show it. `files` are the source files that the
    explored program was made of, relative to its folder, `links` those of them that nobody named:
    the key of the answer does not stand for them."""

    exploration: Exploration | None = None
    verdict: Verdict | None = None
    repair: SuggestedRepair | None = None
    sites: tuple[Site, ...] = ()
    machines: dict[str, dict[str, bool]] = {}
    files: tuple[str, ...] = ()
    links: Links | None = None

    @property
    def seconds(self) -> float:
        """How long finding it took."""
        found = self.exploration or self.verdict
        return found.seconds if found is not None else 0.0

    @property
    def is_known(self) -> bool:
        """Whether there is one."""
        return (self.exploration or self.verdict) is not None

    @property
    def unknown(self) -> bool:
        """Whether a limit was reached."""
        if self.exploration is not None:
            return self.exploration.result == "Unknown"
        return self.verdict is None or self.verdict.observation == "Unknown"


class CacheStore(MemoryStore):
    """The answers below a folder; without a folder they last as long as the process. `stored` are
    the keys of answers that an earlier run has left; `scenarios` says what keys are about."""

    def __init__(self, folder: Path | None) -> None:
        super().__init__()
        self._folder = folder
        self.place = FOLDER if folder is not None else ""
        self.stored: set[str] = set()
        self.scenarios: dict[str, Scenario] = {}
        self._holding: dict[tuple[Links, Path], bool] = {}

    def has(self, key: str) -> bool:
        if key not in self._answers and (found := cache.read(self._path(key), Answer)) is not None:
            scenario, links = self.scenarios.get(key), found.links
            if not (links and scenario) or self._hold(links, scenario):
                self._answers[key] = found
                self.stored.add(key)
        return super().has(key)

    def _hold(self, links: Links, scenario: Scenario) -> bool:
        """`Links.hold`, which reads the files once for all models."""
        about = (links, scenario.path)
        if about not in self._holding:
            self._holding[about] = links.hold(scenario.path, scenario.build)
        return self._holding[about]

    def get(self, key: str) -> Answer | None:
        found = super().get(key)
        assert found is None or isinstance(found, Answer)
        return found

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        """Store an Exploration, a Verdict or a SuggestedRepair; one for this command only if a file
        was edited between the question and the compilation."""
        scenario = self.scenarios.get(key)
        match answer:
            case Exploration():
                compiled = scenario.compiled if scenario is not None else None
                stored = _with_sources(answer, compiled.program if compiled is not None else None)
            case Verdict():
                stored = Answer(verdict=answer)
            case SuggestedRepair():
                stored = Answer(repair=answer)
            case _:
                raise AssertionError(answer)
        final = final and (scenario is None or scenario.is_current)
        super().put(key, stored, final=final)
        if final:
            cache.write(self._path(key), stored)

    def _path(self, key: str) -> Path | None:
        return self._folder / f"{cache.digest(key)}.json" if self._folder is not None else None


def project_folder(root: Path) -> Path:
    """The folder `.weakspot` of the project, which git ignores. A folder that cannot be written
    costs time only."""
    made = root / FOLDER
    with contextlib.suppress(OSError):
        made.mkdir(exist_ok=True)
        if not (made / ".gitignore").exists():
            (made / ".gitignore").write_text("*\n", encoding="utf-8")
    return made


def _with_sources(found: Exploration, program: Program | None) -> Answer:
    if program is None:
        return Answer(exploration=found)
    reported = (*found.violations, *found.warnings)
    shown = {site for each in reported for site in _sites(each)}
    # a site that several calls lead to counts once
    sites = (
        msgspec.structs.replace(site, chain=()) for site in program.sites if str(site) in shown
    )
    return Answer(
        exploration=found,
        sites=tuple(dict.fromkeys(sites)),
        machines={test.name: possible_on(test) for test in found.tests},
        files=tuple(program.files),
        links=program.links,
    )


def _sites(violation: Violation) -> Iterator[str]:
    yield from violation.sites
    if violation.witness is not None:
        yield from (event.site for event in violation.witness.events)
