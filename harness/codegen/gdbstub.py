"""Interrupting a program in an emulator at an instruction, by the emulator's stub for gdb.

It implements as much of gdb's remote protocol (its manual, appendix E) as that takes.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from pathlib import Path

_USER_SIGNAL = 30  # SIGUSR1, as gdb numbers signals


def interrupt(path: Path, addresses: Sequence[int], *, seconds: float) -> None:
    """Continue until each of the addresses was reached in turn, send the program SIGUSR1 there, and
    wait for its end. It may end before; the caller handles anything else that stops it."""
    until = time.monotonic() + seconds
    with contextlib.suppress(OSError), _connected(path, until) as connection:
        for address in addresses:
            _ask(connection, f"Z0,{address:x},{_KIND}")
            if _ask(connection, "c")[:3] not in ("S05", "T05"):
                return
            _ask(connection, f"z0,{address:x},{_KIND}")
        _ask(connection, f"C{_USER_SIGNAL:02x}")


_KIND = 4  # bytes of the instruction, of which qemu takes no notice


def _connected(path: Path, until: float) -> socket.socket:
    """A connection to the stub, once the emulator listens."""
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(max(0.1, until - time.monotonic()))
        try:
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.005)
        else:
            return connection


def _ask(connection: socket.socket, text: str) -> str:
    """The answer to a packet. Raises OSError."""
    connection.sendall(_packet(text))
    got = b""
    while b"#" not in got or len(got) < got.index(b"#") + 3:
        chunk = connection.recv(4096)
        if not chunk:
            return ""
        got += chunk
    connection.sendall(b"+")
    return got[got.index(b"$") + 1 : got.index(b"#")].decode(errors="replace")


def _packet(text: str) -> bytes:
    return f"${text}#{sum(text.encode()) % 256:02x}".encode()
