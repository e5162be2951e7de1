"""Running clang on a source file.

In: the path of a C or C++ file and options. Out: the raw text of LLVM
IR and the names of the user's files that it was made from; a compile error is raised as one that
names the place (`clang_errors`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import LimitReached, MissingTool, ToolFailed
from weakspot.generators.source.clang_errors import INCLUDED, UNDECLARED, compile_error, plain_name
from weakspot.generators.source.language import HEADERS, sources
from weakspot.generators.source.languages.cpp import LEAN
from weakspot.system import process, tools
from weakspot.system.compilers import zig
from weakspot.system.compilers.clang import newest
from weakspot.system.deadline import NEVER, Deadline

OLDEST = 15
"""The first clang whose IR today's LLVM reads: pointers without the type that they point to."""

COMPILE_SECONDS = 60.0
"""How long the compiler may take for one file."""

FLAGS = [
    *("-S", "-emit-llvm", "-g", "-O0", "-Xclang", "-disable-O0-optnone"),
    *("-fno-discard-value-names", "-fno-sanitize=all", "-fno-stack-protector"),
    "-fno-semantic-interposition",  # with -fPIC too, functions are those of the program
    # what gcc accepts: operands of inline assembly that are casts and, before version 14, pointers
    # to other types
    *("-fheinous-gnu-extensions", "-Wno-error=incompatible-pointer-types"),
    *("-fno-color-diagnostics", "-w", "-H", "-Xclang", "-fmacro-prefix-map=./=", "-DWEAKSPOT=1"),
    *("-Xclang", "-mno-constructor-aliases"),  # a call of an alias is not inlined
    # marks where the lifetimes of local variables begin and end; nothing else without a sanitizer
    *("-Xclang", "-fsanitize-address-use-after-scope"),
]
ZIG_FLAGS = ["-target", "x86_64-linux-musl", "-mcx16"]

_ROOTS = ("/usr/local/include", "/usr/include")
_MULTIARCH = f"/usr/include/{platform.machine()}-linux-gnu"  # of Debian
PACKAGED = [each for each in (*_ROOTS, _MULTIARCH) if Path(each).is_dir()]
"""Where the system's packages put headers of libraries. The clang in ziglang has its own C library:
there, these folders are searched after all others."""

SYSTEM = ("/usr/include", "/usr/local/include", "/usr/lib", "/opt")
"""Where the headers of an installed clang and of the system are."""

LIBRARY = Path(__file__).resolve().parent / "library"
"""C sources of library functions that a program may call without defining them."""

LIBRARY_FLAGS = [
    *("-x", "c++", "-std=gnu++23", "-gline-tables-only", LEAN),
    *("-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-DHAS_THREAD_LOCAL"),
]
"""How libc++'s own sources are compiled."""
LIBRARY_FOLDERS = ("libcxx/src", "libcxx/libc", "libcxxabi/include")


class Clang(msgspec.Struct, frozen=True):
    """A clang: the command for each language, an identity that changes with its version, the
    folders of its own headers. `library` holds the sources of libc++, if they come with it. What is
    asked of it, and of LLVM's passes, takes until `end` at most."""

    commands: dict[str, list[str]]
    identity: str
    name: str
    headers: list[str]
    library: Path | None = None
    end: Deadline = NEVER

    def describe(self, raw: str) -> str:
        if rustc := re.search(r'producer: "[^"]*?rustc version ([^" ]+)', raw):
            return f"rustc {rustc[1]}"
        version = re.search(r'producer: "[^"]*?clang version ([^" ]+)', raw)
        return f"clang {version[1]} ({self.name})" if version else self.name

    def system_name(self, name: str) -> str | None:
        """`<stdatomic.h>` for /…/include/stdatomic.h below one of `headers`."""
        if name.startswith(f"{HEADERS}/"):
            return f"<{name[len(str(HEADERS)) + 1 :]}>"
        if name.startswith(f"{LIBRARY}/"):
            return f"<weakspot/{name[len(str(LIBRARY)) + 1 :]}>"
        if not any(name.startswith(f"{folder}/") for folder in self.headers):
            return None
        if self.library and name.startswith(f"{self.library}/") and "/include/" not in name:
            return f"<{name[len(str(self.library)) + 1 :]}>"
        return f"<{name.rpartition('/include/')[2] or posixpath.basename(name)}>"


def find() -> Clang:
    """What WEAKSPOT_CLANG names, else the clang in ziglang, else the newest on PATH."""
    named = os.environ.get("WEAKSPOT_CLANG") or None
    if named is None and zig.program() is None and (system := newest(OLDEST)):
        named = system.path
    return _ziglang() if named in (None, *zig.NAMES) else _installed(named)


def _ziglang() -> Clang:
    program, folder = zig.program(), zig.folder()
    if program is None or folder is None:
        raise MissingTool(
            f"no C compiler: neither the Python package ziglang nor clang {OLDEST} or newer is "
            "installed",
            advice=f"{tools.advice(zig.ZIGLANG)}, or install clang; WEAKSPOT_CLANG names one that "
            "is not on PATH",
        )
    name = f"ziglang {zig.version()}"
    # headers that musl does not have, and then those of the system's packages, are searched last
    after = [HEADERS / "absent", folder / "lib/libc/include", *PACKAGED]
    flags = [*ZIG_FLAGS, *(f"-idirafter{each}" for each in after)]
    return Clang(
        commands={"c": [str(program), "cc", *flags], "c++": [str(program), "c++", *flags]},
        identity=name,
        name=name,
        headers=[str(folder / "lib")],
        library=folder / "lib",
    )


def _installed(asked: str) -> Clang:
    found = tools.find(asked)
    if found is None:
        raise MissingTool(
            f"no such compiler: {asked}",
            advice="name an installed clang, or unset WEAKSPOT_CLANG to use the one in ziglang",
        )
    program = Path(found.path).resolve()
    status = program.stat()
    wide = ["-mcx16"] if platform.machine() in ("x86_64", "AMD64") else []
    return Clang(
        commands={"c": [found.path, *wide], "c++": [found.path, "-stdlib=libc++", *wide]},
        identity=f"{program} {status.st_size} {status.st_mtime_ns}",
        name=found.path,
        headers=[*SYSTEM, *(str(program.parents[1] / each) for each in ("include", "lib"))],
    )


def run(clang: Clang, path: Path, options: Sequence[str]) -> tuple[str, list[str]]:
    """The raw text of the IR, and the names of the user's files that it was made from."""
    name = _argument(path)
    language = sources()[path.suffix]
    flags = [*options, *language.flags]
    text, stderr = _required(clang, language.name, flags, path, name, options)
    return text, sorted({path.name, *_included(stderr, clang, path.parent)})


_MARKER = re.compile(r'^# \d+ "((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_FRONT_END = re.compile(r'^ "?([^"\n]+?)"? "?-cc1"? ', re.MULTILINE)


def read_text(clang: Clang, path: Path, options: Sequence[str]) -> Iterator[str]:
    """All that compiling the file depends on: what the preprocessor makes of it, which shows what
    it found and did not find, each file that was read, whose columns the preprocessor loses, the
    options and folders that clang uses in the end, and the program that a wrapper script starts."""
    name = _argument(path)
    language = sources()[path.suffix]
    flags = [*options, *language.flags, "-E", "-v"]
    text, status, stderr = _compiled(clang, language.name, flags, path, name)
    yield from (str(status), stderr, text or "")
    for found in dict.fromkeys(_MARKER.findall(text or "")):
        file = path.parent / re.sub(r"\\(.)", r"\1", found)
        with contextlib.suppress(OSError):  # <built-in>
            yield hashlib.sha256(file.read_bytes()).hexdigest()
    for program in _FRONT_END.findall(stderr):
        with contextlib.suppress(OSError):
            status_of = Path(program).stat()
            yield f"{program} {status_of.st_size} {status_of.st_mtime_ns}"


def own_text(clang: Clang, path: Path, options: Sequence[str], header: Path) -> str:
    """The lines of a header, as the preprocessor leaves them in a source that includes it. Raises
    BadInput, ToolFailed."""
    language = sources()[path.suffix]
    flags = [*options, *language.flags, "-E"]
    text, _ = _required(clang, language.name, flags, path, _argument(path), options)
    parts = _MARKER.split(text)[1:]  # by turns a file's name, and lines of it
    lines: dict[str, list[str]] = {}
    for name, piece in zip(parts[::2], parts[1::2], strict=True):
        lines.setdefault(name, []).append(piece.partition("\n")[2])  # after the marker's flags
    found = (each for each in lines if _is(path.parent / each, header))
    return "".join(part for each in found for part in lines[each])


def _is(path: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):  # <built-in>
        return path.samefile(other)
    return False


def compile_library(clang: Clang, source: str) -> str:
    """The raw text of the IR of one of libc++'s own sources, which is named relative to
    `clang.library`."""
    assert clang.library is not None
    path = clang.library / source
    flags = [*LIBRARY_FLAGS, *(f"-I{clang.library / folder}" for folder in LIBRARY_FOLDERS)]
    return _required(clang, "c++", flags, path, str(path), ())[0]


def _argument(path: Path) -> str:
    """A file's name in its folder, where clang runs."""
    return path.name if not path.name.startswith("-") else f"./{path.name}"


def _required(
    clang: Clang,
    language: str,
    flags: Sequence[str],
    path: Path,
    name: str,
    options: Sequence[str],
) -> tuple[str, str]:
    """The IR and the error output; `options` are those of the user. Raises BadInput, ToolFailed."""
    text, status, stderr = _compiled(clang, language, flags, path, name)
    if text is None:
        has_libcxx = clang.library is not None
        error = compile_error(
            stderr, clang.system_name, path, status, options, has_libcxx=has_libcxx
        )
        if language == "c" and UNDECLARED.match(error.message):
            for_all = _compiled(clang, language, (*flags, "-D_GNU_SOURCE"), path, name)[0]
            if for_all is not None:
                error.advice = (
                    "the C library declares it where _GNU_SOURCE is defined: -D_GNU_SOURCE"
                )
        raise error
    return text, stderr


def _compiled(
    clang: Clang, language: str, flags: Sequence[str], path: Path, name: str
) -> tuple[str | None, int, str]:
    """The IR, or None; the exit status and the error output."""
    with scratch_folder() as scratch:
        out = scratch / "out.ll"
        # zig insists on a cache folder although it only writes passing files into it
        environment = {**os.environ, "LC_ALL": "C", "ZIG_GLOBAL_CACHE_DIR": str(scratch / "zig")}
        command = [*clang.commands[language], *FLAGS, *flags, "-o", str(out), name]
        status, stderr = _execute(command, path, environment, clang.end)
        # random names; zig makes those below the program's folder relative
        stderr = re.sub(r'[^"\s]*' + re.escape(scratch.name) + r'[^"\s]*', "", stderr)
        if status != 0 or not out.exists():
            return None, status, stderr
        return out.read_text(encoding="utf-8", errors="surrogateescape"), status, stderr


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="weakspot-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ToolFailed(
            f"no folder for temporary files: {error.strerror}",
            advice="free some space, or name a folder that can be written in TMPDIR",
        ) from error
    with folder as name:
        yield Path(name)


def time_is_up(place: str, what: str) -> LimitReached:
    """The error about a program of which `what` was in progress at the end of the time."""
    return LimitReached(
        f"the time limit was reached while {what}",
        place=place,
        advice="give it more time with --seconds or --for, or with budget in weakspot.toml; what "
        "is compiled is cached until its files change",
    )


def _execute(
    command: Sequence[str], path: Path, environment: Mapping[str, str], end: Deadline
) -> tuple[int, str]:
    """The exit status and the error output. Processes that the compiler starts end with it."""
    if end.passed:
        raise time_is_up(str(path), "the compiler was about to start")
    ended = process.run(
        command,
        seconds=end.at_most(COMPILE_SECONDS),
        cwd=path.parent,
        env=environment,
        memory=None,
        errors="surrogateescape",  # names of files are bytes
    )
    if not ended.timed_out:
        return ended.code, ended.err
    if end.passed:
        raise time_is_up(str(path), "the compiler was reading it")
    raise ToolFailed(
        f"the compiler did not finish within {COMPILE_SECONDS:.0f} s",
        place=str(path),
        advice="look for a macro that grows without end, or for a very large source",
    )


def _included(stderr: str, clang: Clang, folder: Path) -> Iterator[str]:
    """The user's headers, from what clang's -H lists, relative to the folder."""
    for name in INCLUDED.findall(stderr):
        if clang.system_name(name) is None:
            yield plain_name(name, folder)
