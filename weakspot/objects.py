"""Questions about an object: linearize, relax_object, and the clients that mutate asks.

In: a C, C++ or Rust file that defines the operations of an object, and which clients call them.
Out: what these clients show. `weakspot.api` describes what all of these functions have in common.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.executor import Stopped
from weakspot.harness.campaign.folder import new_manifest
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.campaign.tools import installed
from weakspot.harness.corpus.material import Report, material_of
from weakspot.harness.corpus.models import LANGUAGE, resolve
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.linearizability import Linearizability
from weakspot.harness.values.record import Plan, Record
from weakspot.projects import Relaxations, search_of
from weakspot.system.deadline import ending

if TYPE_CHECKING:
    from weakspot.harness.clients.mutants import Clients
    from weakspot.harness.clients.subject import ClientChoice


def linearize(
    path: str | os.PathLike[str],
    choice: ClientChoice,
    *,
    models: Sequence[str] = (LANGUAGE,),
    output: str | os.PathLike[str] | None = None,
    bounds: Bounds | None = None,
    seconds: float | None = None,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Iterator[tuple[Linearizability, Record | None]]:
    """Whether the operations that a C, C++ or Rust file defines are linearizable, under each model:
    every execution of every client of the `choice`.

    `bounds.seconds` is the time for all clients under one model; with `seconds`, which are for all
    models together, it is that for one client. `output` is a C or C++ file to write: one program in
    which main chooses one of these clients, for the other functions.

    A violation comes with a Record of the smallest client that shows it. After Ctrl-C, what was
    found until then is yielded before Stopped is raised. Raises BadInput.
    """
    from weakspot.harness.clients import search as clients
    from weakspot.harness.orders import repair_jobs

    progress = progress or Quiet()
    limits = bounds or Bounds(seconds=60.0)
    subject, size = choice.subject(path), choice.size
    end = None if seconds is None else ending(seconds)
    chosen = planning.models(models)
    if output is not None:
        clients.written(subject, size, Path(output))
    with clients.compiled(subject, size, build, end or ending(limits.seconds)) as compiled:
        for each in chosen:
            searching = clients.Search(
                subject, compiled, each, size, limits, progress=progress, end=end
            )
            try:
                searching.run()
            except Stopped:
                yield searching.found(), None
                raise
            found, client = searching.found(), searching.client
            if client is None:
                yield found, None
                continue
            tools = msgspec.structs.replace(installed(), repairs=repair_jobs.jobs)
            plan = Plan(what=(os.fspath(path),)).within(limits)
            campaign = Campaign(
                plan, MemoryStore(new_manifest(plan)), tools, progress=progress, printed=True
            )
            # what also happens under sc, no memory order prevents
            also = list({one.name: one for one in (each, resolve("sc"))}.values())
            client = msgspec.structs.replace(client, models=tuple(one.name for one in also))
            campaign.take(material_of(subject.source.path, client), also)
            campaign.explore()
            yield found, campaign.record()


def relax_object(
    path: str | os.PathLike[str],
    choice: ClientChoice,
    *,
    models: Sequence[str] = (LANGUAGE,),
    machine_models: Sequence[str] | None = None,
    fences: bool = False,
    seconds: float | None = None,
    bounds: Bounds | None = None,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Relaxations:
    """The weakest memory orders with which an object behaves as specified in every client of the
    `choice`: `relax` with these clients as its programs, and the same other arguments. `linearize`
    shows whether the object behaves so with the memory orders that it has.

    Raises BadInput.
    """
    from weakspot.harness.clients import search as clients

    search = search_of(models, machine_models, bounds, seconds, fences=fences)

    def read(report: Report, flags: tuple[str, ...]) -> tuple[ProgramGroup, ...]:
        subject = choice.subject(path)
        report(str(subject.source.path))
        return (clients.group(subject, choice.size, build.with_flags(flags), search.end),)

    return Relaxations(read, search, progress=progress)


def object_clients(
    path: str | os.PathLike[str],
    choice: ClientChoice,
    *,
    bounds: Bounds | None = None,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Clients:
    """The clients of an object for `mutate`; `bounds.seconds` is the time for one change. Raises
    BadInput."""
    from weakspot.harness.clients import mutants

    limits = bounds or Bounds(seconds=20.0)
    return mutants.clients_of(
        choice.subject(path), choice.size, limits, build, progress=progress or Quiet()
    )
