"""Performs commands of weakspot in processes that have its modules already.

Importing them takes most of the time of most commands. Each line of standard input is a request,
a JSON object: the arguments, folder and environment of a command, and the files for its standard
input, output and errors. Each line of standard output is the exit code of its command.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
from typing import Any

from weakspot.harness.cli import COMMANDS, main

SECONDS = 120
"""After which a command is killed."""

#: what commands import when they need it
OTHERS = ("weakspot.api", "weakspot.harness.report.answers", "llvmlite.binding", "rich.progress")


def become(command: dict[str, Any]) -> None:
    """Make this process what the command would be in one of its own."""
    signal.alarm(SECONDS)
    for descriptor, path in enumerate(command["files"]):
        file = os.open(path, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - until the process ends
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    sys.argv = ["weakspot", *command["arguments"]]


def serve() -> None:
    """Perform the requests, each in a process of its own; returns in that process."""
    for line in sys.stdin:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            become(json.loads(line))
            return
    sys.exit()


if __name__ == "__main__":
    for name in (*(f"weakspot.harness.cli.{each}" for each in COMMANDS), *OTHERS):
        importlib.import_module(name)
    gc.freeze()  # a collection would copy the pages of all that was imported
    serve()
    main()
