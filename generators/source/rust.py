"""Running rustc on a source file, and reading its errors.

In: the path of the crate's root file, and options for rustc. Out: the text of LLVM IR, as
`clang.run` makes it of C, which is that of the crate's module with what it needs of std and of
other crates (`rust_modules`); a compile error is raised as one that names the place.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

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

_Kind = Literal["bin", "cdylib", "rlib"]


class Root(msgspec.Struct, frozen=True):
    """The root file of a crate. It is a program; or, with `exports`, a part of one, whose exported
    functions C calls. It uses the public items of the `crates`, each a root file, by the names of
    these."""

    path: Path
    exports: bool = False
    crates: tuple[Path, ...] = ()

    @property
    def kind(self) -> _Kind:
        return "cdylib" if self.exports else "bin"


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


def run(rustc: Rustc, root: Root, options: Sequence[str], end: Deadline) -> tuple[str, list[str]]:
    """The text of the program's IR, and the names of its files relative to its own folder. Raises
    BadInput when it does not compile, Unsupported for an LLVM that is newer than ours, ToolFailed,
    LimitReached."""
    require_readable(rustc, root.path)
    mirror, options = overlay.mirror(options)
    with scratch_folder() as scratch:
        made, files = scratch / "program.bc", scratch / "program.d"
        names: list[str] = []

        def built(*flags: str) -> bytes:
            given = [*options, *flags]
            crates, read = _crates(rustc, root, mirror, given, scratch, end)
            # without a linked program there is no link-time optimisation, which brings std's code
            emitted = f"--emit=llvm-bc={made},link={scratch / 'program'},dep-info={files}"
            path = overlay.below(mirror, root.path)
            _run(rustc, root.kind, path, [*given, *crates, "-Clto=fat", emitted], end)
            names[:] = [*_dependencies(files)[0], *read]
            return made.read_bytes()

        symbol = "" if root.exports else "main"
        return program_of(built(), symbol, mirror, partial(built, "-Cpanic=unwind")), names


def _crates(
    rustc: Rustc, root: Root, mirror: Path, options: Sequence[str], scratch: Path, end: Deadline
) -> tuple[list[str], list[str]]:
    """Compile the crates that a crate uses: the options by which it finds them, and the names of
    their files relative to its folder."""
    words, names = list[str](), list[str]()
    for each in root.crates:
        name, path = re.sub(r"\W", "_", each.stem), overlay.below(mirror, each)
        made, files = scratch / f"lib{name}.rlib", scratch / f"{name}.d"
        emitted = f"--emit=link={made},dep-info={files}"
        _run(rustc, "rlib", path, [*options, f"--crate-name={name}", emitted], end)
        words += ["--extern", f"{name}={made}"]
        read, _ = _dependencies(files)
        away = os.path.relpath(*map(os.path.realpath, (each.parent, root.path.parent)))
        names += (os.path.normpath(Path(away, one)) for one in read)
    return words, names


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


def _run(rustc: Rustc, kind: _Kind, path: Path, options: Sequence[str], end: Deadline) -> None:
    given = ["--error-format=short", f"--crate-type={kind}", *options, path.name]
    ended = process.run(
        [rustc.path, *LANGUAGE.flags, *given],
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
        re.sub(r"^(.*): \1$", r"\1", first["message"]),  # its label may repeat it
        place=f"{file}:{first['line']}:{first['column']}",
        excerpt=excerpt(file, int(first["line"]), int(first["column"])),
        advice=f"{len(found) - 1} more in this crate" if len(found) > 1 else None,
    )


def read_text(rustc: Rustc, root: Root, options: Sequence[str], end: Deadline) -> Iterator[str]:
    """All that the IR depends on: the compiler, the files with their content, the environment."""
    mirror, options = overlay.mirror(options)
    path = overlay.below(mirror, root.path)
    yield f"rustc {rustc.version} {rustc.path} {root.kind}"
    for each in root.crates:
        yield from read_text(rustc, Root(each), options, end)
    with scratch_folder() as scratch:
        made = scratch / "program.d"
        crates, _ = _crates(rustc, root, mirror, options, scratch, end)
        _run(rustc, root.kind, path, [*options, *crates, f"--emit=dep-info={made}"], end)
        files, environment = _dependencies(made)
    yield from environment
    for name in files:
        yield name
        yield (path.parent / name).read_text(encoding="utf-8", errors="surrogateescape")
