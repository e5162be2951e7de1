"""Pages that are followed step by step, with the real tools, as a reader does it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

from ended import execute

#: a file to save, or a session
STEP = re.compile(
    r"`(?P<name>[\w./-]+)`:\n\n```\w+\n(?P<text>.*?)```"
    r"|^(?P<indent> *)```console\n(?P<session>.*?)```",
    re.S | re.M,
)


def files(page: Path) -> dict[str, str]:
    """The files that the page shows, by name."""
    steps = STEP.finditer(page.read_text(encoding="utf-8"))
    return {step["name"]: step["text"] for step in steps if step["name"]}


def follow(page: Path, folder: Path) -> None:
    """Saves each file in the folder and runs each command there. Every line shown must be printed,
    in this order; `…` stands for lines, and at the end of a line for the rest of it, left out."""
    for step in STEP.finditer(page.read_text(encoding="utf-8")):
        if step["name"]:
            path = folder / step["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"])
            continue
        session = re.sub(f"^{step['indent']}", "", step["session"], flags=re.M)
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", session, re.M):
            _run(command, shown, folder)


def _run(command: str, shown: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = execute(
        "bash", "-c", command, cwd=folder, env={**os.environ, "PATH": path, "NO_COLOR": "1"}
    )
    wrong = re.search(r"^WS[13]|[1-9] tests failed|^::error", shown, re.M)
    assert bool(ended.code) == bool(wrong), f"{command}\n{ended.out}{ended.err}"
    printed = iter(ended.out.splitlines())
    for line in shown.splitlines():
        start, _, rest = line.partition("…")
        found = line == "…" or any(
            each == line or (not rest and "…" in line and each.startswith(start))
            for each in printed
        )
        assert found, f"{command}: not printed in its place: {line}\n{ended.out}"


#: why the next block of commands is not run, or only in the long tier; readers do not see it
MARK = re.compile(r"<!-- (not run|slow): .+ -->")
_PROGRAM = re.compile(
    r"(\w+=\S* )*(\S*/)?(weakspot|pip|dask|kubectl|podman|cmake|ctest|cargo|python) "
)


class Block(NamedTuple):
    """Commands that a page shows without what they print. `mark` is `not run`, `slow` or ""."""

    mark: str
    commands: tuple[str, ...]


def blocks(page: Path) -> list[Block]:
    """The indented blocks and those of a shell that begin with a command, in the page's order."""
    found: list[Block] = []
    mark, language, lines, before = "", "", list[str](), ""

    def end() -> None:
        first = f"{lines[0]} " if lines else ""
        if _PROGRAM.match(first) or first.startswith("scripts/"):
            found.append(Block(mark, tuple(lines)))
        lines.clear()

    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        command = re.split(r" {2,}| +# ", line.strip())[0]
        if line.strip().startswith("```"):
            end()
            language = "" if language else line.strip()[3:] or "text"
            before = line
        elif language == "sh" or (
            not language and line.startswith("    ") and (lines or not before.strip())
        ):
            if command:
                lines.append(command)
        elif not language and line.strip():
            end()
            found_mark = MARK.match(line.strip())
            mark = found_mark[1] if found_mark else ""
            before = line
        elif not language:
            before = line
    end()
    return found


def named(page: Path) -> list[str]:
    """Every command of weakspot that the page names: in the text, in tables and in blocks."""
    text = page.read_text(encoding="utf-8")
    spans = re.findall(r"`(weakspot [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    lines = [command for block in blocks(page) for command in block.commands]
    lines += re.findall(r"^ *\$ (.+)$", text, re.M)
    found = (re.search(r"(?:^|[ (])(weakspot [a-z-].+)", line) for line in (*spans, *lines))
    return [" ".join(each[1].split()) for each in found if each]
