"""What to do about a header that the compiler does not find.

In: the header as an include names it, the file that includes it, and the compiler's options. Out:
advice, from what the library of that file, or of a folder that the options name, has: the header in
another folder, a template of it, an empty submodule, or a build script that names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from weakspot.generators.source.files_below import files_below, is_for_another_system

_ROOT = re.compile(
    r"\.git|(?:LICEN[CS]E|COPYING|README)\b.*|CMakeLists\.txt|meson\.build|configure(?:\.ac)?",
    re.IGNORECASE,
)
"""What the outermost folder of a library has."""
_SCRIPT = re.compile(
    r"CMakeLists\.txt|.*\.cmake|meson\.build|configure(?:\.ac)?|(?:GNU)?[Mm]akefile(?:\.\w+)?"
)
_FOLDER = re.compile(r"-(?:I|isystem|iquote)(.+)")
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
_MOST = 20_000
"""How many files of a library are looked at, at most."""
_SHOWN = 3


def advice(header: str, includer: Path, options: Sequence[str]) -> str:
    """What to do where `includer` includes a header that no folder holds. The libraries whose
    folders the compiler's options name are looked at too."""
    name = header.rpartition("/")[2]
    named = [found[1] for each in options if (found := _FOLDER.fullmatch(each))]
    roots = dict.fromkeys([_root(includer), *(_root(Path(each, name)) for each in named)])
    files = list(dict.fromkeys(file for root in roots for file in files_below([root], _MOST)))
    folders = _sorted(
        os.path.relpath(Path(file[: -len(header)])) for file in files if file.endswith(f"/{header}")
    )
    configure = "configure the library, and name the folder that then holds it: -I DIR"
    templates = _sorted(os.path.relpath(file) for file in files if file.endswith(f"/{name}.in"))
    shown = " or ".join(f"-I {each}" for each in folders[:_SHOWN])
    listed = f"name the folder that holds it: {shown}"
    if any(not is_for_another_system(each) for each in folders):
        return listed + (f"; a build makes it of {templates[0]}" if templates else "")
    if templates:
        return f"the library's build makes it of {templates[0]}: {configure}"
    for folder in (each for root in roots for each in _empty_submodules(root)):
        if folder.name in Path(header).parts:
            return f"{os.path.relpath(folder)} is empty: git submodule update --init fills it"
    for file in _sorted(file for file in files if _SCRIPT.fullmatch(Path(file).name)):
        if os.access(file, os.R_OK) and header in Path(file).read_text("utf-8", "replace"):
            return f"the library's build makes it, as {os.path.relpath(file)} says: {configure}"
    if folders:
        return listed
    if name == "config.h":
        return f"the library's build makes it: {configure}"
    return 'name the folder that holds it: -I DIR, or include = ["DIR"] in weakspot.toml'


def _empty_submodules(root: Path) -> list[Path]:
    """The submodules of a git repository that are not checked out."""
    modules = root / ".gitmodules"
    text = modules.read_text("utf-8", "replace") if os.access(modules, os.R_OK) else ""
    return [root / path for path in _SUBMODULE.findall(text) if not _names(root / path)]


def _root(includer: Path) -> Path:
    """The outermost folder of the library: of six above the file, the last that looks like one,
    else the second."""
    above = [*includer.absolute().parents][:6]
    roots = [folder for folder in above if any(_ROOT.fullmatch(each) for each in _names(folder))]
    return roots[-1] if roots else above[:2][-1]


def _names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()] if os.access(folder, os.R_OK) else []


def _sorted(paths: Iterable[str]) -> list[str]:
    """Each path once: those for Linux first, then the shortest."""
    return sorted(
        set(paths),
        key=lambda each: (is_for_another_system(each), "linux" not in each, len(each), each),
    )
