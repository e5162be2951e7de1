"""Records a session of a terminal as text; see `scripts/record.py --help`.

The commands run in a pseudo-terminal, as in front of a person. What they print is written in
asciinema's format (version 2), or shown as text: each line with the time at which it appeared;
those that change, such as a progress bar, at most once in a while. pyte, a terminal emulator, says
what each line reads.
"""

from __future__ import annotations

import argparse
import codecs
import errno
import fcntl
import itertools
import json
import math
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

EVERY = 20.0
"""How often a line that keeps changing is shown, in seconds."""
MOST = 28
"""How many of the lines that appear at once are shown, half of them from each end."""
LOOK = 10.0
"""How often the screen is looked at, in seconds, and at the end of each command."""
PROMPT = "$ "

Line = tuple[float, str]
"""When a line appeared, in seconds from the begin, and what it reads."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run commands in a terminal, one after the other, and record what it shows.",
        epilog="example: record.py -o run.cast scripts/run, and then record.py --show run.cast",
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="a line for the shell")
    parser.add_argument("-o", "--output", type=Path, help="the recording, in asciinema's format")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print a recording as text")
    parser.add_argument("--columns", type=int, default=100, help="of the terminal (default 100)")
    asked = parser.parse_args()
    if bool(asked.show) == bool(asked.commands) or (asked.commands and not asked.output):
        parser.error("give commands and -o FILE, or --show FILE")
    if asked.show:
        return show(asked.show)
    return record(asked.commands, asked.output, asked.columns)


def record(commands: list[str], output: Path, columns: int) -> int:
    """The exit code of the last command."""
    begin = time.monotonic()
    code = 0
    with output.open("w", encoding="utf-8") as out:
        size = {"width": columns, "height": 40}
        print(json.dumps({"version": 2, "timestamp": int(time.time()), **size}), file=out)

        def print_event(text: str) -> None:
            print(json.dumps([round(time.monotonic() - begin, 3), "o", text]), file=out, flush=True)

        for command in commands:
            print_event(f"{PROMPT}{command}\r\n")
            code = run(command, columns, print_event)
    return code


def run(command: str, columns: int, write: Callable[[str], None]) -> int:
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execvpe("bash", ["bash", "-c", command], {**os.environ, "TERM": "xterm-256color"})
    signal.signal(signal.SIGINT, lambda *_: os.write(terminal, b"\x03"))
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while True:
        select.select([terminal], [], [])
        try:
            data = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno == errno.EIO:  # the terminal is closed
                break
            raise
        if not data:
            break
        write(decoder.decode(data))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def show(recording: Path) -> int:
    last = 0.0
    for batch in batches(lines(recording)):
        left_out = len(batch) - MOST
        for at, (when, text) in enumerate(batch):
            if left_out > 1 and MOST // 2 <= at < MOST // 2 + left_out:
                if at == MOST // 2:
                    print(f"      … {left_out} more lines")
                continue
            print(f"{clock(when)}  {text}".rstrip())
        last = batch[-1][0]
    print(f"{clock(max(last, ended(recording)))}")
    return 0


def lines(recording: Path) -> Iterator[Line]:
    """The lines of the terminal as they appear; one that keeps changing is repeated after EVERY
    seconds, or when it is about something else."""
    import pyte

    header, *events = (json.loads(line) for line in recording.read_text("utf-8").splitlines())
    screen = pyte.Screen(header["width"], 20_000)  # so that nothing scrolls
    stream = pyte.Stream(screen)
    shown: dict[int, Line] = {}
    changed: dict[int, float] = {}
    for (when, _, text), following in itertools.zip_longest(events, events[1:]):
        stream.feed(text)
        changed.update(dict.fromkeys(screen.dirty, when))
        screen.dirty.clear()
        next_time, _, next_text = following or (math.inf, "", "")
        if next_time // LOOK == when // LOOK and not next_text.startswith(PROMPT):
            continue
        for row, since in sorted(changed.items()):
            cells = screen.buffer[row]
            reads = "".join(cells[column].data for column in range(screen.columns)).rstrip()
            before = shown.get(row, (-math.inf, ""))
            if reads and (since - before[0] >= EVERY or about(reads) != about(before[1])):
                shown[row] = since, reads
                yield since, reads
        changed.clear()


def about(text: str) -> str:
    """What stays the same where a line counts."""
    return re.sub(r"[\W\d_]+", "", text)[:10]


def batches(found: Iterator[Line]) -> Iterator[list[Line]]:
    """The lines that appeared together: each less than a second after the one before."""
    batch: list[Line] = []
    for line in found:
        if batch and line[0] - batch[-1][0] >= 1.0:
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


def ended(recording: Path) -> float:
    """When the last thing was printed."""
    return float(json.loads(recording.read_text("utf-8").splitlines()[-1])[0])


def clock(seconds: float) -> str:
    """`1:05`"""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


if __name__ == "__main__":
    sys.exit(main())
