"""Running rustc on a source file, and reading its errors.

In: the path of the crate's root file, and options for rustc. Out: the text of LLVM IR, as
`clang.run` makes it of C, which is that of the crate's module with what it needs of std
(`rust_modules`); a compile error is raised as one that names the place.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, MissingTool, ToolFailed, Unsupported, excerpt, quoted
from weakspot.generators.source import overlay
from weakspot.generators.source.clang import scratch_folder, time_is_up
from weakspot.generators.source.languages.rust import LANGUAGE
from weakspot.generators.source.rust_modules import program_of
from weakspot.system import process, tools
from weakspot.system.deadline import Deadline

RUSTC = tools.Program(
    "rustc",
    lost="reading Rust programs",
    advice="install Rust: https://rustup.rs, or the package rustc",
)

_PATIENCE = 600.0  # seconds without a time limit


class Rustc(msgspec.Struct, frozen=True):
    """A rustc: its path, its version, its own machine, the major version of its LLVM."""

    path: str
    version: str
    host: str
    llvm: int


def find(folder: Path) -> Rustc:
    """The rustc on PATH for sources in a folder, where rustup may have another version than
    elsewhere. Raises MissingTool, ToolFailed."""
    return _identified(tools.require(RUSTC).path, folder.resolve())


@lru_cache(maxsize=16)
def _identified(path: str, folder: Path) -> Rustc:
    try:
        output = subprocess.run(
            [path, "-vV"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolFailed(f"cannot start {path}: {error}", advice=tools.advice(RUSTC)) from error
    release = re.search(r"^release: (\S+)$", output, re.M)
    host = re.search(r"^host: (\S+)$", output, re.M)
    llvm = re.search(r"^LLVM version: (\d+)", output, re.M)
    if release is None or host is None or llvm is None:
        raise MissingTool(
            f"{path} is no rustc that works: {output.strip() or 'it prints no version'}",
            advice="rustup default stable installs one",
        )
    return Rustc(path=path, version=release[1], host=host[1], llvm=int(llvm[1]))


def _dependencies(made: Path) -> tuple[list[str], list[str]]:
    """What rustc's dep-info lists: the files that the crate is made of, the root first, and the
    variables of the environment that it reads, with their values."""
    rule, *others = made.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    names = re.findall(r"(?:\\ |\S)+", rule.partition(": ")[2])
    files = [name.replace("\\ ", " ") for name in names]
    return files, [line for line in others if line.startswith("# env-dep:")]


def run(rustc: Rustc, path: Path, options: Sequence[str], end: Deadline) -> tuple[str, list[str]]:
    """The text of the program's IR, and the names of its files relative to its own folder. Raises
    BadInput when it does not compile, Unsupported for an LLVM that is newer than ours, ToolFailed,
    LimitReached."""
    require_readable(rustc, path)
    root, options = overlay.mirror(options)
    with scratch_folder() as scratch:
        # without a linked program there is no link-time optimisation, which brings std's code
        made, files = scratch / "program.bc", scratch / "program.d"
        emitted = f"--emit=llvm-bc={made},link={scratch / 'program'},dep-info={files}"

        def built(*flags: str) -> bytes:
            _run(rustc, overlay.below(root, path), [*options, *flags, emitted], end)
            return made.read_bytes()

        text = program_of(built(), "main", root, partial(built, "-Cpanic=unwind"))
        names, _ = _dependencies(files)
        return text, names


def require_readable(rustc: Rustc, path: Path) -> None:
    """Raises Unsupported for a rustc whose LLVM is newer than ours."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    if rustc.llvm > llvm.llvm_version_info[0]:
        raise Unsupported(
            f"rustc {rustc.version} writes IR of LLVM {rustc.llvm}, and the installed llvmlite "
            f"reads that of LLVM {llvm.llvm_version_info[0]}",
            place=str(path),
            advice="pip install --upgrade llvmlite, or use an older Rust",
        )


def _run(rustc: Rustc, path: Path, options: Sequence[str], end: Deadline) -> None:
    ended = process.run(
        [rustc.path, *LANGUAGE.flags, "--error-format=short", *options, path.name],
        seconds=end.at_most(_PATIENCE),
        cwd=path.parent,
    )
    if ended.timed_out:
        raise time_is_up(str(path), "rustc was compiling it")
    if ended.code != 0:
        raise _error(ended.err, path)


_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): error(?:\[E\d+\])?: (?P<message>.*)$", re.M
)


def _error(stderr: str, path: Path) -> BadInput | ToolFailed:
    found = list(_DIAGNOSTIC.finditer(stderr))
    if not found:
        lines = stderr.strip().splitlines()
        return ToolFailed(
            f"rustc failed: {lines[0] if lines else 'it says nothing'}",
            place=str(path),
            excerpt=quoted(lines[1:8]),
            advice="rustc must compile the file by itself: name the root of a crate that has no "
            "dependencies",
        )
    first, file = found[0], path.parent / found[0]["file"]
    return BadInput(
        first["message"],
        place=f"{file}:{first['line']}:{first['column']}",
        excerpt=excerpt(file, int(first["line"]), int(first["column"])),
        advice=f"{len(found) - 1} more in this crate" if len(found) > 1 else None,
    )


def read_text(rustc: Rustc, path: Path, options: Sequence[str], end: Deadline) -> Iterator[str]:
    """All that the IR depends on: the compiler, the files with their content, the environment."""
    root, options = overlay.mirror(options)
    path = overlay.below(root, path)
    with scratch_folder() as scratch:
        made = scratch / "program.d"
        _run(rustc, path, [*options, f"--emit=dep-info={made}"], end)
        files, environment = _dependencies(made)
    yield f"rustc {rustc.version} {rustc.path}"
    yield from environment
    for name in files:
        yield name
        yield (path.parent / name).read_text(encoding="utf-8", errors="surrogateescape")
