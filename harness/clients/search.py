"""Explores the clients of an object, the smallest first, until one violates something."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from weakspot.errors import BadInput, WeakspotError, excerpt
from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.plan import explorations, under
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.clients import rust_operations
from weakspot.harness.clients.clients import Client, clients
from weakspot.harness.clients.program import parameters, text
from weakspot.harness.clients.subject import Subject
from weakspot.harness.corpus.material import Material, ScenarioProgram
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import INTERRUPTED
from weakspot.harness.values.linearizability import Linearizability, Result, Size
from weakspot.harness.values.numbers import amount
from weakspot.system import cache
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.durations import duration_text
from weakspot.system.files import disk

_TOGETHER = 48
"""How many clients are explored before it is looked whether one violates something."""


@contextmanager
def compiled(
    subject: Subject, size: Size, build: Build = NO_OPTIONS, end: Deadline = NEVER
) -> Iterator[Program]:
    """The program that performs any client of at most this size. Raises BadInput, Unsupported,
    MissingTool, ToolFailed, or LimitReached at the `end`."""
    path = subject.source.path
    binding = subject.source.binding
    own = Build(include=(path.parent,))
    content = text(subject, threads=size.threads, calls=size.calls)
    # the same folder for one text, so that what is compiled is found in the cache
    with cache.folder("clients", cache.digest("clients", content, binding)) as folder:
        file = folder / f"clients{'.c' if binding else path.suffix}"
        try:
            file.write_text(content, encoding="utf-8")
            if binding:
                bound = folder / f"object{path.suffix}"
                bound.write_text(binding, encoding="utf-8")
                own = Build(sources=(bound,), crates=(path.absolute(),))
            yield read_program(file, build=own.over(build), base=Path.cwd(), end=end)
        except WeakspotError as error:
            if error.place and str(folder) in error.place:
                path, binding = subject.source.path, subject.source.binding
                line = rust_operations.line_of(error.place, binding)
                error.place = f"{path}:{line}" if line else str(path)
                error.excerpt = excerpt(path, line, 1) if line else error.excerpt
                if isinstance(error, BadInput):
                    error.advice = (
                        "the operations are called with numbers, which are cast to the types of "
                        "their arguments: write functions around them for which that is possible"
                    )
            raise


def all_clients(subject: Subject, size: Size) -> Iterator[Client]:
    """The clients of at most this size, the smallest first."""
    for calls in range(1, size.calls + 1):
        yield from clients(subject.signatures, calls=calls, threads=size.threads)


def group(
    subject: Subject, size: Size, build: Build = NO_OPTIONS, end: Deadline = NEVER
) -> ProgramGroup:
    """The clients of at most this size as programs that are relaxed together, the smallest first.
    Raises what `compiled` raises."""
    with compiled(subject, size, build, end) as program:
        return ProgramGroup(
            str(subject.source.path),
            tuple(
                (each.text(subject.signatures), client_program(program, each, size))
                for each in all_clients(subject, size)
            ),
            clients=size,
        )


def client_program(program: Program, client: Client, size: Size) -> Program:
    """The program that performs this client."""
    return program.with_parameters(parameters(client, threads=size.threads, calls=size.calls))


def written(subject: Subject, size: Size, file: Path) -> int:
    """Write a program in which main chooses one of all clients up to this size: a scenario like any
    other. Returns how many clients it lists. Raises BadInput for a file that cannot be written."""
    listed = list(all_clients(subject, size))
    write_scenario(subject, listed, size.threads, file)
    return len(listed)


def write_scenario(subject: Subject, listed: Sequence[Client], threads: int, file: Path) -> None:
    """Write a program in which main chooses one of these clients. Raises BadInput for a file that
    cannot be written, and for operations in Rust."""
    if subject.source.binding:
        raise BadInput(
            "clients of operations in Rust are not written to a file",
            place=str(subject.source.path),
            advice="weakspot linearize, relax and mutate generate them each time: leave out -o",
        )
    calls = max(len(each) for client in listed for each in client.threads)
    with disk(file):
        file.write_text(
            text(subject, threads=threads, calls=calls, listed=listed, beside=file.parent),
            encoding="utf-8",
        )


def program_of(
    subject: Subject, program: Program, client: Client, size: Size, models: Sequence[str]
) -> ScenarioProgram:
    """A client as a program to explore."""
    named = NamedProgram(
        client_program(program, client, size),
        Habits(),
        subject.source.path.name,
        client.text(subject.signatures),
    )
    return ScenarioProgram.of(named, tuple(models))


class Search:
    """The exploration of all clients under a model, until the `end`, by default for
    `bounds.seconds` in all. `found` is available at any time, also after Ctrl-C."""

    def __init__(
        self,
        subject: Subject,
        program: Program,
        model: Model,
        size: Size,
        bounds: Bounds,
        *,
        progress: Progress,
        end: Deadline | None = None,
    ) -> None:
        self._subject, self._program, self._model = subject, program, model
        self._size, self._bounds, self._progress = size, bounds, progress
        self._begun, self._end = time.monotonic(), end or ending(bounds.seconds)
        self._explored = self._executions = self._complete = 0
        self._violated: tuple[ScenarioProgram, Exploration] | None = None
        self.found_client: Client | None = None
        """The calls of the client that violates something."""
        self._reasons: list[str] = []
        self._ended = False
        if model.acyclic == "dependencies":
            raise BadInput(
                f"{model.name} does not say which call happens before which",
                advice="linearizability is decided under models of the language, sc and tso; "
                "weakspot linearize -o FILE writes the clients as a scenario, whose hangs this "
                "model shows, too",
            )

    def run(self) -> None:
        """Explore the clients, until one violates something. Raises what exploring raises, Stopped
        on Ctrl-C among it."""
        for calls in range(1, self._size.calls + 1):
            made = list(clients(self._subject.signatures, calls=calls, threads=self._size.threads))
            left = len(made)
            for at in range(0, len(made), _TOGETHER):
                left -= self._ask(made[at : at + _TOGETHER])
                if self._violated is not None or self._end.passed:
                    break
            if self._violated is not None:
                break
            if not left:
                self._complete = calls
            elif self._end.passed:
                limit = self._end.at - self._begun
                of = f" of {duration_text(limit)}" if limit > 0 else ""
                self._reasons.append(
                    f"time limit{of}: {left:,} of the "
                    f"{amount(len(made), 'client')} of {amount(calls, 'call')} are not explored"
                )
                break
        self._ended = True

    def _ask(self, made: Sequence[Client]) -> int:
        """Explore these clients; how many of them were explored completely."""
        programs = [
            program_of(self._subject, self._program, each, self._size, (self._model.name,))
            for each in made
        ]
        material = Material(structures=(), entries=(), programs=tuple(programs), sources=())
        explorer = EngineExplorer(end=self._end)
        under_model = under([self._model])
        jobs = explorations(material, under_model, explorer, self._bounds, Frontiers())
        if jobs.skipped:
            raise BadInput(jobs.skipped[0].reason)
        store, done = MemoryStore(), 0
        ask(jobs.jobs, store, LocalExecutor(gauge=None), progress=self._progress)
        for job, each, calls in zip(jobs.jobs, programs, made, strict=True):
            answer = store.get(job.key)
            assert isinstance(answer, Exploration)
            self._executions += answer.executions
            if answer.violations and self._violated is None:
                self._violated, self.found_client = (each, answer), calls
            if answer.result != "Unknown":
                done += 1
            elif not self._end.passed:
                self._reasons.append(f"{each.scenario}: {'; '.join(answer.reasons)}")
        self._explored += done
        return done

    @property
    def client(self) -> ScenarioProgram | None:
        """The client that violates something."""
        return self._violated[0] if self._violated else None

    def found(self) -> Linearizability:
        """What is known so far."""
        reasons = [*self._reasons, *([] if self._ended else [INTERRUPTED])]
        decided = "Unknown" if reasons else "Held"
        client, answer = self._violated or (None, None)
        return Linearizability(
            object=str(self._subject.source.path),
            specification=self._subject.behaviour,
            model=self._model.name,
            result="Violated" if client else cast("Result", decided),
            clients=self._explored,
            calls=self._size.calls,
            threads=self._size.threads,
            complete=self._complete,
            executions=self._executions,
            seconds=round(time.monotonic() - self._begun, 6),
            client=client.scenario if client else "",
            violations=answer.violations if answer else (),
            reasons=tuple(reasons),
            interrupted=not self._ended,
        )
