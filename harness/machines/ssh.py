"""Another machine, by ssh: plain ssh, with the user's own configuration.

Hosts, users, ports, keys and jumps come from ~/.ssh/config. One connection serves all the work: a
shell on the other machine reads commands, one per line, and answers with how each ended and what it
printed. Programs are compiled here and linked statically, so that the other machine needs nothing
but Linux. The shell creates a temporary folder and removes it when the connection ends, whatever
ends it.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.isa import ISAS
from weakspot.harness.machines import Lost, Machine, Session, emulation
from weakspot.harness.machines.local import arch as local_arch
from weakspot.system import process, tools
from weakspot.system.tools import Program, Requirement

SSH = Program(
    "ssh",
    lost="runs on other machines (--on ssh:HOST)",
    advice="install an OpenSSH client (Debian, Ubuntu: openssh-client)",
    version_option="-V",
)
_PATIENCE = 20.0  # seconds within which a host answers
#: no prompts, and an end to a dead connection
_OPTIONS = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
)
_READY = "weakspot is ready"
#: what a user's start-up files print comes before READY and is skipped
_SHELL = (
    'd=$(mktemp -d) && cd "$d" || exit 3; trap "" PIPE; trap "exit 3" HUP INT TERM; '
    """trap 'cd /; rm -rf "$d"' EXIT; """
    f'echo; echo "{_READY}"; '
    'while IFS= read -r line; do eval "$line" >.out 2>.err; echo $? $(wc -c <.out) $(wc -c <.err); '
    "cat .out .err; done"
)
_ADVICE = {
    "Permission denied": "the key has to be usable without a question: name it in ~/.ssh/config, "
    "or add it to the agent with ssh-add",
    "Host key verification failed": "connect by hand once, `ssh {host}`, and confirm the host's "
    "key",
    "Could not resolve": "check the name, or give it an entry in ~/.ssh/config",
}


def machine(host: str) -> Machine:
    """The machine that ssh calls `host`, described by itself.

    Raises Lost if it cannot be reached, Unsupported if tests cannot be made for it.
    """
    with opened(host) as there:
        return described(there, f"ssh:{host}", kind="ssh", host=host)


def described(at: Session, name: str, *, kind: str, host: str) -> Machine:
    """Another machine, as it describes itself; programs for it are linked statically. Raises Lost,
    and Unsupported if tests cannot be made for it."""
    # nproc obeys OpenMP's variables, which Dask sets for its workers
    cores_there = "unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc || getconf _NPROCESSORS_ONLN"
    system, arch, cores, *_ = [
        *at.shell(f"uname -s; uname -m; {cores_there}").out.split(),
        *("unknown", "unknown", "1"),
    ]
    isa = ISAS.find(arch)
    if system != "Linux" or isa is None:
        raise Unsupported(
            f"tests cannot run on {name}: it is {system} on {arch}",
            advice=f"known is Linux on {', '.join(ISAS.names())}",
        )
    kernel, cpuinfo = (
        at.shell(f"head -c {emulation.MOST} {file}").out
        for file in (emulation.KERNEL, emulation.CPUINFO)
    )
    return Machine(
        name=name,
        arch=arch,
        cores=int(cores) if cores.isdecimal() else 1,
        emulated=emulation.is_emulated(arch, kernel, cpuinfo),
        kind=kind,
        host=host,
        native=arch == local_arch(),
        flags=("-O2", "-static"),
        litmus7=("-carch", isa.dialect, "-affinity", "none"),
    )


@contextlib.contextmanager
def opened(host: str) -> Iterator[There]:
    """See machines.opened. Raises Lost, MissingTool without ssh."""
    command = [tools.require(SSH).path, *_OPTIONS, host, f"exec sh -c {shlex.quote(_SHELL)}"]
    with process.start(command, memory=None, talking=True) as child:
        there = There(host, child)
        there.greet()
        yield there
        assert child.stdin is not None
        with contextlib.suppress(OSError):
            child.stdin.close()  # the shell removes its folder and ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE)


class Ssh(msgspec.Struct, frozen=True):
    """See machines.MachineKind."""

    name: str = "ssh"
    rank: int = 2
    form: str = "ssh:HOST"
    requires: tuple[Requirement, ...] = (SSH,)
    elsewhere: bool = True

    def accepts(self, rest: str) -> bool:
        # what begins with a dash would be an option of ssh
        return bool(rest) and rest[0] != "-" and rest.isprintable() and " " not in rest

    def machines(self) -> str:
        return "ssh:HOST for every host that ssh knows"

    def machine(self, rest: str) -> Machine:
        return machine(rest)

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        return opened(machine.host)


KIND = Ssh()


class There:
    """See Session."""

    def __init__(self, host: str, child: subprocess.Popen[str]) -> None:
        self._host, self._child, self._greeted = host, child, False
        self._read = b""
        self._copied: dict[tuple[Path, int], str] = {}

    def greet(self) -> None:
        """Wait until the shell is there. Raises Lost with what to do about it."""
        deadline = time.monotonic() + _PATIENCE
        while self._line(deadline) != _READY:
            pass
        self._greeted = True

    def run(self, program: Path, arguments: Sequence[str] = (), *, seconds: float) -> process.Ended:
        limit = max(1, round(seconds + 0.5))
        words = ["timeout", "-s", "KILL", str(limit), f"./{self._copy(program)}", *arguments]
        return self._asked(f"{shlex.join(words)} </dev/null", limit)

    def shell(self, script: str, *, seconds: float = 20.0) -> process.Ended:
        return self._asked(f"sh -c {shlex.quote(script)} </dev/null", seconds)

    def _copy(self, program: Path) -> str:
        """The program's name on the other machine; it is copied there first if necessary."""
        key = program, program.stat().st_mtime_ns
        if key not in self._copied:
            name, content = f"p{len(self._copied)}", program.read_bytes()
            # head may read ahead, as busybox's does: nothing more is sent until it has answered
            command = f"head -c {len(content)} >{name} && chmod 700 {name}"
            sent = self._asked(command, 60.0, content)
            if sent.code != 0:
                why = sent.err.strip() or f"code {sent.code}"
                raise Lost(f"ssh:{self._host} does not take a program: {why}")
            self._copied[key] = name
        return self._copied[key]

    def _asked(self, command: str, seconds: float, content: bytes = b"") -> process.Ended:
        """Have the shell run a command. Raises Lost."""
        assert self._child.stdin is not None
        begin = time.monotonic()
        try:
            with os.fdopen(self._child.stdin.fileno(), "wb", closefd=False) as pipe:
                pipe.write(f"{command}\n".encode() + content)
        except OSError:
            raise self._lost() from None
        deadline = begin + seconds + _PATIENCE
        head = self._line(deadline)
        try:
            code, out, err = map(int, head.split())
        except ValueError:
            raise Lost(f"ssh:{self._host} answers with {head[:60]!r}") from None
        output, errors = (self._text(size, deadline) for size in (out, err))
        spent = time.monotonic() - begin
        # a shell adds 128 to the number of a signal; 137 is also what timeout's own kill gives
        killed = code == 137 and spent >= seconds
        return process.Ended(
            code if code <= 128 else 128 - code, output, errors, spent, timed_out=killed
        )

    def _line(self, deadline: float) -> str:
        while b"\n" not in self._read:
            self._more(deadline)
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace").strip()

    def _text(self, size: int, deadline: float) -> str:
        while len(self._read) < size:
            self._more(deadline)
        found, self._read = self._read[:size], self._read[size:]
        return found.decode(errors="replace")

    def _more(self, deadline: float) -> None:
        assert self._child.stdout is not None
        handle = self._child.stdout.fileno()
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([handle], [], [], left)[0]:
            raise Lost(f"ssh:{self._host} no longer answers")
        chunk = os.read(handle, 1 << 16)
        if not chunk:
            raise self._lost()
        self._read += chunk

    def _lost(self) -> Lost:
        """The error for a connection that ended, with what ssh printed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(2.0)
        process.kill(self._child)
        assert self._child.stderr is not None
        printed = [line.strip() for line in self._child.stderr.read().splitlines() if line.strip()]
        why = printed[-1] if printed else "the connection ended"
        advice = next((how for what, how in _ADVICE.items() if what in why), "")
        advice = advice or f"see whether `ssh {self._host} true` works by itself"
        what = "is lost" if self._greeted else "cannot be reached"
        return Lost(f"ssh:{self._host} {what}: {why}", advice=advice.format(host=self._host))
