"""A computer that a worker of a Dask cluster announces as one of its resources.

    dask worker tcp://HOST:8786 --nthreads 1 --resources "board=1"

makes that worker's computer the machine `worker:board`. Whatever runs on it takes the whole
resource, so that Dask's scheduler gives the machine one program at a time, also when several
commands use it. The cluster is that of --cluster, else that of Dask's own configuration
(DASK_SCHEDULER_ADDRESS). Programs are compiled here and linked statically; Dask sends each to the
worker once, and the worker drops it when the session ends.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from weakspot.errors import MissingTool, WeakspotError
from weakspot.harness.machines import Lost, Machine, Session, local
from weakspot.harness.machines.ssh import described
from weakspot.system import tools
from weakspot.system.process import Ended
from weakspot.system.tools import Module, Requirement

T = TypeVar("T")

Client = Any
Future = Any

DASK = Module(
    "distributed",
    lost="several computers (--cluster), and runs on machines of a cluster's workers",
    advice="pip install 'weakspot[cluster]'",
)

_EVERY = 2.0
"""Seconds after which a session that waits asks whether the worker is still there."""

_PATIENCE = 10.0
"""Seconds within which a scheduler answers, and a worker that died is there again."""


class WorkerKind(msgspec.Struct, frozen=True):
    """See machines.MachineKind."""

    name: str = "worker"
    rank: int = 3
    form: str = "worker:NAME"
    requires: tuple[Requirement, ...] = (DASK,)
    elsewhere: bool = True

    def accepts(self, rest: str) -> bool:
        # what `dask worker --resources` can give a name to
        return bool(rest) and rest.isprintable() and not set(rest) & set(" ,=:")

    def machines(self) -> str:
        return "worker:NAME for every worker of the cluster that announces NAME"

    def machine(self, rest: str) -> Machine:
        with opened(rest) as there:
            return described(there, f"{self.name}:{rest}", kind=self.name, host=rest)

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        return opened(machine.host, patience=_PATIENCE)


KIND = WorkerKind()


@contextlib.contextmanager
def opened(name: str, *, patience: float = 0.0) -> Iterator[There]:
    """See machines.opened. Waits for so many seconds for a worker, which Dask's nanny may be
    starting again. Raises Lost, MissingTool without Dask."""
    there = There(_client(), name, patience)
    try:
        yield there
    finally:
        there.close()


def dask() -> Any:
    """Dask distributed, whose functions have no types; imported where a cluster is asked for.
    Raises MissingTool."""
    tools.require(DASK)
    return importlib.import_module("distributed")


def _client() -> Client:
    """The client of --cluster, or of the scheduler that Dask's configuration names. Raises
    MissingTool and Lost."""
    try:
        return dask().default_client()
    except ValueError:
        address = importlib.import_module("dask").config.get("scheduler-address", None)
    if not address:
        raise MissingTool(
            "no cluster is named whose workers could be machines",
            advice="give --cluster ADDRESS, or set DASK_SCHEDULER_ADDRESS",
        )
    return _connected(address)


@lru_cache(maxsize=1)
def _connected(address: str) -> Client:
    """A client for the rest of the process. Raises Lost."""
    try:
        return dask().Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Lost(
            f"no Dask scheduler answers at {address}",
            advice="DASK_SCHEDULER_ADDRESS, or Dask's configuration, names it",
        ) from error


class There:
    """See Session. It is the session of one worker: that of another process on the same computer
    begins anew."""

    def __init__(self, client: Client, name: str, patience: float) -> None:
        self._client, self._name = client, name
        self._sent: dict[tuple[Path, int], Future] = {}
        ends = time.monotonic() + patience
        while not (found := self._announced()) and time.monotonic() < ends:
            time.sleep(0.2)
        if not found:
            raise self._lost("no worker announces it")
        if len(found) > 1:
            raise Lost(
                f"{len(found)} workers announce {name}: {', '.join(found)}",
                advice="give each machine a name of its own, and one worker",
            )
        ((self._address, self._amount),) = found.items()

    def run(self, program: Path, arguments: Sequence[str] = (), *, seconds: float) -> Ended:
        return self._asked(_run, self._scattered(program), tuple(arguments), seconds)

    def shell(self, script: str, *, seconds: float = 20.0) -> Ended:
        return self._asked(_shell, script, seconds)

    def close(self) -> None:
        """Have the worker drop the programs."""
        for future in self._sent.values():
            with contextlib.suppress(Exception):
                future.release()

    def _scattered(self, program: Path) -> Future:
        """The program's content, in the memory of the worker. Raises Lost."""
        key = program, program.stat().st_mtime_ns
        if key not in self._sent:
            with self._reachable():
                self._sent[key] = self._client.scatter(
                    program.read_bytes(), workers=[self._address], hash=True
                )
        return self._sent[key]

    def _asked(self, function: Callable[..., T], *arguments: object) -> T:
        """Have the worker call a function, when nothing else runs on the machine. Raises Lost, and
        what the function raises."""
        with self._reachable():
            future = self._client.submit(
                function,
                *arguments,
                key=f"{self._name}-{uuid.uuid4().hex}",
                pure=False,
                workers=[self._address],
                resources={self._name: self._amount},
                priority=1,
            )
            try:
                while True:
                    try:
                        found: T = future.result(timeout=_EVERY)
                        return found
                    except TimeoutError:
                        if self._address not in self._announced():
                            raise self._lost("its worker is gone") from None
            finally:
                if not future.done():
                    future.cancel(force=True)
                future.release()

    @contextlib.contextmanager
    def _reachable(self) -> Iterator[None]:
        """Turns what Dask raises inside the block into Lost."""
        try:
            yield
        except WeakspotError:
            raise
        except (ImportError, AttributeError) as error:
            raise Lost(
                f"worker:{self._name} cannot read what it is sent: {error}",
                advice="install weakspot of the same version on every worker",
            ) from error
        except (CancelledError, OSError, RuntimeError, TimeoutError) as error:
            why = "its worker is gone" if self._is_gone() else f"{error or type(error).__name__}"
            raise self._lost(why) from error

    def _is_gone(self) -> bool:
        try:
            return self._address not in self._announced()
        except (OSError, RuntimeError, TimeoutError):
            return False

    def _announced(self) -> dict[str, float]:
        """The workers that announce the machine, by address, with how much of the resource."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {
            address: each["resources"][self._name]
            for address, each in workers.items()
            if each["resources"].get(self._name)
        }

    def _lost(self, why: str) -> Lost:
        return Lost(
            f"worker:{self._name} is not there: {why}",
            advice=f'dask worker ADDRESS --nthreads 1 --resources "{self._name}=1" announces it',
        )


# --- what a worker calls ------------------------------------------------------------------------


def _run(program: bytes, arguments: Sequence[str], seconds: float) -> Ended:
    """Run the program of that content here. Raises Lost where the disk does not take it."""
    try:
        with tempfile.TemporaryDirectory(prefix="weakspot-") as folder:
            path = Path(folder, "program")
            path.write_bytes(program)
            path.chmod(0o700)
            return local.Here().run(path, arguments, seconds=seconds)
    except OSError as error:
        raise Lost(f"the worker does not take a program: {error}") from error


def _shell(script: str, seconds: float) -> Ended:
    return local.Here().shell(script, seconds=seconds)
