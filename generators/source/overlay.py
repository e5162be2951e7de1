"""Changed files that are compiled in place of those on the disk.

In: the files' new contents. Out: one option, which clang knows, and for rustc and cargo a folder
below which every path leads to the file of that path, changed or not: folders that lead to a
changed file hold links to all else that they have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_OPTION = "-ivfsoverlay"


def option(changed: Mapping[str, bytes], folder: Path) -> str:
    """The option by which these files are read, which are written to the folder."""
    roots = []
    here = Path(os.environ.get("PWD", Path.cwd()))
    if not (here.exists() and here.samefile(Path.cwd())):
        here = Path.cwd()
    for number, (path, content) in enumerate(changed.items()):
        copy = folder / str(number)
        copy.write_bytes(content)
        # clang names the current folder as the shell does, perhaps through a link
        shell = Path(here, os.path.relpath(path))
        roots += [
            {"type": "file", "name": name, "external-contents": str(copy)}
            for name in sorted({path, os.path.normpath(shell)})
        ]
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}))
    # one word, since ziglang's clang takes a second one for a source
    return f"{_OPTION}{overlay}"


def mirror(options: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The folder below which the paths are, and the other options; without changed files, it is the
    root of all."""
    others = tuple(each for each in options if not each.startswith(_OPTION))
    found = [Path(each.removeprefix(_OPTION)) for each in options if each not in others]
    if not found:
        return Path("/"), others
    root = Path(os.path.realpath(found[-1].parent), "files")
    if not root.exists():
        for each in json.loads(found[-1].read_bytes())["roots"]:
            _place(root, Path(os.path.realpath(each["name"])), Path(each["external-contents"]))
    return root, others


def _place(root: Path, path: Path, content: Path) -> None:
    for folder in reversed(path.parents):
        here = below(root, folder)
        if here.is_symlink():
            here.unlink()
        if not here.exists():
            here.mkdir()
            for each in folder.iterdir():
                (here / each.name).symlink_to(each)
    here = below(root, path)
    here.unlink(missing_ok=True)
    here.symlink_to(content)


def below(root: Path, path: Path) -> Path:
    """Where a path leads to below a mirror's root."""
    return root / Path(os.path.realpath(path)).relative_to("/")


def original(root: Path, path: Path) -> Path:
    """The path that leads to a file below a mirror's root."""
    return Path("/") / path.relative_to(root) if path.is_relative_to(root) else path
