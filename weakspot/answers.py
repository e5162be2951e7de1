"""What the functions about programs and tests return: answers, and generated tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar, cast, overload

from weakspot.generators.litmus import Test
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.folder import new_manifest
from weakspot.harness.campaign.iteration import IterableStore
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.campaign.tools import installed
from weakspot.harness.checkers import FileChecker
from weakspot.harness.corpus import golden
from weakspot.harness.corpus.material import FolderTests, Material
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import Plan, Record
from weakspot.harness.values.verdict import PrintedVerdict

A = TypeVar("A", covariant=True)


class Answers(Generic[A]):
    """The answers to what a function was asked.

    Iterating performs the work in a thread of its own and yields each answer as soon as it is
    known; leaving the loop ends the work after the answer in progress. `wait` performs the work in
    the calling thread. Answers that are known are yielded again by a later iteration, and work
    that was left is resumed by it. `record` and `findings` hold what is known so far.
    """

    def __init__(
        self,
        campaign: Campaign,
        store: IterableStore,
        kinds: tuple[type, ...],
        work: Callable[[], None],
    ) -> None:
        self._campaign, self._store, self._kinds, self._work = campaign, store, kinds, work

    def __iter__(self) -> Iterator[A]:
        for answer in self._store.iterate(self._work):
            if isinstance(answer, self._kinds):
                yield cast("A", answer)

    def wait(self, progress: Progress | None = None) -> Record:
        """Perform the work and return the record. Raises Stopped on Ctrl-C: `record` then has the
        answers until then."""
        self._store.resume()
        self._campaign.progress.to = progress or Quiet()
        self._work()
        return self.record

    @property
    def material(self) -> Material:
        """The programs and tests in question."""
        return self._campaign.material

    @property
    def record(self) -> Record:
        """All answers so far with their tests, sources and findings."""
        return self._campaign.record()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the answers so far mean together, the gravest first."""
        return self.record.findings


class FolderAnswers(MemoryStore):
    """The answers about the litmus tests of folders, which `wait` hands on part by part: the store
    of a campaign that holds none of them."""

    def __init__(
        self, plan: Plan, tests: FolderTests, checker: FileChecker, models: Sequence[str]
    ) -> None:
        super().__init__(new_manifest(plan))
        material = Material(structures=(), entries=(), programs=(), sources=(), files=tests)
        self._checker = checker
        self._take: Callable[[Sequence[PrintedVerdict]], None] = lambda _: None
        self._campaign = Campaign(plan, self, installed(), printed=True)
        self._campaign.take(material, planning.models(models or material.models))

    def put(self, key: str, answer: object, *, final: bool = True) -> None:  # noqa: ARG002
        self._take(cast("tuple[PrintedVerdict, ...]", answer))

    def wait(
        self,
        take: Callable[[Sequence[PrintedVerdict]], None],
        form: str = "json",
        progress: Progress | None = None,
    ) -> None:
        """Perform the work; `take` gets the verdicts in the order of the tests, printed in a form;
        "" is for none. Raises Stopped on Ctrl-C, after `take` got what was known."""
        self._take = take
        self._campaign.progress.to = progress or Quiet()
        self._campaign.check_files(self._checker, form)


class GeneratedTests(Sequence[Test]):
    """The tests of `generate`. `unmapped` says which tests have no assembly for an instruction set,
    and why."""

    def __init__(self, material: Material, unmapped: Sequence[str] = ()) -> None:
        self.material, self.unmapped = material, tuple(unmapped)
        self._tests = tuple(entry.test for entry in material.entries)

    def __len__(self) -> int:
        return len(self._tests)

    @overload
    def __getitem__(self, at: int) -> Test: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Test, ...]: ...
    def __getitem__(self, at: int | slice) -> Test | tuple[Test, ...]:
        return self._tests[at]

    def write(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write each test to a file in the folder, and the list @all, which herd7 and litmus7 take
        as an argument. Returns the file names."""
        return golden.write(Path(folder), self._tests, index=True)
