"""Starting other programs: with a time limit, a memory limit, and no child left behind.

A child leads a process group of its own; it is killed with its descendants when its time is up,
when the caller is interrupted, and (on Linux) when weakspot itself is killed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import resource
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from weakspot.errors import ToolFailed

#: what a program may use unless specified otherwise, in bytes of address space
MEMORY = 6 << 30


Result = TypeVar("Result")


class Crew:
    """The programs that one piece of work has running, so that they can be ended together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[str]] = set()
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the work is over: what still runs is killed, what starts is killed too."""
        return self._ended

    def add(self, child: subprocess.Popen[str]) -> None:
        with self._lock:
            self._children.add(child)
            if self._ended:
                kill(child)

    def remove(self, child: subprocess.Popen[str]) -> None:
        with self._lock:
            self._children.discard(child)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            for child in self._children:
                kill(child)


class Ended(msgspec.Struct, frozen=True):
    """How a program ended. `code` is its exit code, negative for a signal; `timed_out` says that
    it was killed because its time was up."""

    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool


def run(
    command: Sequence[str],
    *,
    seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    memory: int | None = MEMORY,
    crew: Crew | None = None,
    errors: str = "replace",
) -> Ended:
    """Run a program to its end, or for `seconds`, whichever comes first. `errors` says what becomes
    of output that is no UTF-8.

    Raises ToolFailed if it cannot be started.
    """
    begin = time.monotonic()
    with start(command, cwd=cwd, env=env, memory=memory, crew=crew, errors=errors) as child:
        try:
            out, err = child.communicate(timeout=seconds)
            timed_out = False
        except subprocess.TimeoutExpired:
            kill(child)
            out, err = child.communicate()
            timed_out = True
    return Ended(child.returncode, out, err, time.monotonic() - begin, timed_out)


@contextlib.contextmanager
def start(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    memory: int | None = MEMORY,
    merged: bool = False,
    talking: bool = False,
    crew: Crew | None = None,
    errors: str = "replace",
) -> Iterator[subprocess.Popen[str]]:
    """A running program, killed with its children when the block is left, however it is left.

    `merged` joins its error output with its output, in the order of writing; `talking` opens its
    input, which is empty else; `crew` lets others end it. Raises ToolFailed if it cannot be
    started.
    """
    try:
        child = subprocess.Popen(
            [*_guard(), *command],
            stdin=subprocess.PIPE if talking else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            text=True,
            errors=errors,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed(
            f"cannot start {command[0]}: {error.strerror}", advice="weakspot doctor says more"
        ) from error
    if crew is not None:
        crew.add(child)
    try:
        if memory is not None:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                resource.prlimit(child.pid, resource.RLIMIT_AS, (memory, memory))
        yield child
    finally:
        kill(child)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        child.wait()
        if crew is not None:
            crew.remove(child)


def kill(child: subprocess.Popen[str]) -> None:
    """Kill the program and its descendants. Harmless when it has ended."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


def read_lines(child: subprocess.Popen[str], deadline: Callable[[], float]) -> Iterator[str | None]:
    """The lines of a program's output as they come. None, once, and the end, when the clock
    (time.monotonic) passes `deadline()`, which is asked anew before each line."""
    assert child.stdout is not None
    handle = child.stdout.fileno()
    rest = b""
    while True:
        left = deadline() - time.monotonic()
        ready = left > 0 and select.select([handle], [], [], left)[0]
        if not ready:
            yield None
            return
        chunk = os.read(handle, 1 << 16)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk and rest:
            lines = [rest]
        for line in lines:
            yield line.decode(errors="replace")
        if not chunk:
            return


def in_parallel(
    tasks: Sequence[Callable[[Crew, Callable[[Result], None]], None]],
    *,
    workers: int,
    done: Callable[[Result], None],
) -> None:
    """Do the tasks, `workers` at a time. What a task hands to its second argument reaches `done`
    in the caller's thread, at once.

    The first error of a task, or an interruption, ends all of them, programs included, and is
    raised.
    """
    crew = Crew()
    waiting: queue.SimpleQueue[Callable[[Crew, Callable[[Result], None]], None]]
    waiting = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    results: queue.SimpleQueue[tuple[str, Result | BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            while not crew.ended:
                task = waiting.get_nowait()
                task(crew, lambda result: results.put(("result", result)))
        except queue.Empty:
            pass
        except BaseException as error:
            results.put(("error", error))
        finally:
            results.put(("end", None))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        running = len(threads)
        while running:
            what, value = results.get()
            if what == "end":
                running -= 1
            elif what == "error":
                assert isinstance(value, BaseException)
                raise value
            else:
                done(value)  # type: ignore[arg-type]
    finally:
        crew.end()
        for thread in threads:
            thread.join()


@lru_cache(maxsize=1)
def _guard() -> tuple[str, ...]:
    """The prefix by which the kernel kills the child when weakspot dies without a word."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    # util-linux before 2.33 has no --pdeathsig
    probe = subprocess.run(
        [setpriv, "--pdeathsig", "KILL", "true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return (setpriv, "--pdeathsig", "KILL", "--") if probe.returncode == 0 else ()
