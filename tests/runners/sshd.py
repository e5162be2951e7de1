"""A host that ssh knows: an sshd of the test's own on the loopback, with its own keys, and a user's
configuration that leads there."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

HOST = "over-there"
_SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
_SSH, _KEYGEN = shutil.which("ssh"), shutil.which("ssh-keygen")


class Sshd:
    """The host `over-there`. It runs from the beginning; `stop` ends it with all its connections,
    `start` brings it back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"  # what programs over there call TMPDIR
        self.home.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for name in ("host_key", "user_key"):
            made_key(folder / name)
        public = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {' '.join(public)}\n")
        (folder / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\n"
            f"AuthorizedKeysFile {folder}/user_key.pub\nPidFile none\nStrictModes no\nUsePAM no\n"
            f"PasswordAuthentication no\nSetEnv TMPDIR={self.home}\n"
        )
        (folder / "ssh_config").write_text(
            f"Host {HOST}\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n"
        )
        bin = folder / "bin"
        bin.mkdir()
        # OpenSSH finds ~ in the system's list of users, whatever HOME says
        (bin / "ssh").write_text(f'#!/bin/sh\nexec "{_SSH}" -F "{folder}/ssh_config" "$@"\n')
        (bin / "ssh").chmod(0o755)
        self.path = f"{bin}:{os.environ['PATH']}"
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        assert _SSHD is not None
        log = self.folder / "log"
        with log.open("wb") as out:
            self._child = subprocess.Popen(
                [_SSHD, "-D", "-e", "-f", self.folder / "sshd_config"], stderr=out
            )
        until = time.monotonic() + 20
        while "Server listening" not in (logged := log.read_text(errors="replace")):
            if self._child.poll() is not None or time.monotonic() > until:
                pytest.skip(f"sshd does not start here: {logged.strip()[-200:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        if self._child is None:
            return
        connections = _children(self._child.pid)
        self._child.kill()
        self._child.wait()
        self._child = None
        for pid in connections:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def folders(self) -> list[Path]:
        """What was made over there and is not removed."""
        return list(self.home.iterdir())


def made_key(path: Path) -> None:
    assert _KEYGEN is not None
    subprocess.run([_KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def _children(parent: int) -> list[int]:
    """The processes that handle connections: children, and their children of another user."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = status.read_text().rpartition(")")
            if int(rest.split()[1]) == parent and "sshd" in name:
                pid = int(status.parent.name)
                found += [pid, *_children(pid)]
    return found


def started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Sshd:
    """The host; the test is skipped where there is no OpenSSH."""
    missing = [n for n, p in (("sshd", _SSHD), ("ssh", _SSH), ("ssh-keygen", _KEYGEN)) if not p]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed (openssh-server)")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, parents=True, exist_ok=True)  # sshd insists
    sshd = Sshd(folder)
    monkeypatch.setenv("PATH", sshd.path)
    return sshd
