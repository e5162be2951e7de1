"""C source to clean LLVM IR text: one module, calls inlined, locals in registers, nothing lost.

In: the path of a C file. Out: the text of a verified LLVM module in which each memory operation
of the source stands once per call path, with its memory order, its volatile and its dependencies.
Locals are registers, `main` and the functions that threads start stay functions, and the
`inlinedAt` chain of a debug location tells through which calls an operation was reached.

Three rules keep what is there to be checked:

- inline first, promote locals afterwards: the other way round constants are folded across calls
  and `r ^ r` loses its dependency;
- no pass that looks at values (instcombine, gvn, reassociate, sccp, dce, dse, simplifycfg, jump
  threading): each of them removes dependencies or plain accesses;
- clang at -O0, where `assert` stays and nothing is optimised before we look. There, only the rules
  of GNU C89 keep the body of an `inline` function that is not static.

The text depends on the source alone: files are named relative to the source's folder, headers of
the compiler and of the C library as `<name>`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import posixpath
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, MissingTool, ToolFailed, Unsupported

COMPILE_SECONDS = 60.0
"""How long the compiler may take for one file."""

CACHE_ENTRIES = 1000
"""How many compiled files the cache keeps; the oldest go first."""

FLAGS = [
    *("-S", "-emit-llvm", "-g", "-O0", "-Xclang", "-disable-O0-optnone"),
    *("-fno-discard-value-names", "-fgnu89-inline", "-fno-sanitize=all", "-fno-stack-protector"),
    *("-fno-color-diagnostics", "-w", "-H", "-Xclang", "-fmacro-prefix-map=./=", "-DWEAKSPOT=1"),
]
ZIG_FLAGS = ["-target", "x86_64-linux-musl", "-mcx16"]

_CPP_SUFFIXES = {".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx"}


class Ir(msgspec.Struct, frozen=True):
    """Clean LLVM IR of one source file.

    `text` is the verified module. `compiler` names compiler and version. `files` maps each file
    name in the debug information that is not a system header's to the file it stands for.
    """

    text: str
    compiler: str
    files: dict[str, Path]


def compile_source(
    path: Path,
    *,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    compiler: str | None = None,
) -> Ir:
    """Compile one C file to clean LLVM IR.

    `defines` are `NAME` or `NAME=VALUE`; `include` are folders, searched after the file's own.
    `compiler` is the path or name of a clang, by default what WEAKSPOT_CLANG names, and else the
    clang in PyPI's ziglang. `WEAKSPOT` is defined as 1 for the source to know.

    Raises BadInput when the source cannot be read or does not compile, Unsupported for C++,
    MissingTool without a compiler and ToolFailed when the compiler or LLVM fails.
    """
    path = Path(path)
    _check_source(path)
    folder = path.parent
    clang = _find_clang(compiler)
    options = [*(_define(text) for text in defines), "-I."]
    for directory in include:
        if not Path(directory).is_dir():
            raise BadInput(
                f"no such include folder: {directory}",
                advice="name a folder that exists, or leave it out",
            )
        options.append(f"-I{os.path.relpath(directory, folder)}")

    searched = [folder, *(Path(directory) for directory in include)]
    paths = [os.environ.get(name, "") for name in ("CPATH", "C_INCLUDE_PATH")]
    key = _digest(__version__, _own_text(), clang.identity, str(path.absolute()), *paths, *options)
    cached = _read_cache(key, folder, searched)
    if cached is None:
        raw, names = _run_clang(clang, path, options)
        text = _clean(_relative_names(raw, clang, folder), clang)
        cached = _Entry(
            text=text,
            compiler=clang.describe(raw),
            names=names,
            hashes=[_digest_file(folder / name) for name in names],
            listing=_listing(searched),
        )
        _write_cache(key, cached)
    files = {name: Path(os.path.normpath(folder / name)) for name in cached.names}
    return Ir(text=cached.text, compiler=cached.compiler, files=files)


def _check_source(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
    if not path.is_file():
        raise BadInput(f"not a file: {path}", advice="name one C source file")
    if path.suffix in _CPP_SUFFIXES:
        raise Unsupported(
            "C++ sources are not supported yet",
            place=str(path),
            advice="write the operations in a C11 header with <stdatomic.h>; "
            "C++ and C have the same atomics and the same memory model",
        )
    if path.suffix != ".c":
        raise BadInput(
            f"not a C source file: {path.name}",
            place=str(path),
            advice="expected a name that ends in .c",
        )
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror}", advice="check the file's permissions"
        ) from error


def _define(text: str) -> str:
    if not re.match(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)", text) or "\n" in text:
        raise BadInput(
            f"not a macro definition: {text!r}", advice="write NAME or NAME=VALUE, without -D"
        )
    return f"-D{text}"


# --- the compiler -----------------------------------------------------------------------------


class _Clang(msgspec.Struct, frozen=True):
    """A clang: how it is started, what tells it from another, where its own headers lie."""

    command: list[str]
    identity: str
    name: str
    headers: list[str]

    def describe(self, raw: str) -> str:
        version = re.search(r'producer: "[^"]*?clang version ([^" ]+)', raw)
        return f"clang {version[1]} ({self.name})" if version else self.name


def _find_clang(asked: str | None) -> _Clang:
    asked = asked or os.environ.get("WEAKSPOT_CLANG") or None
    return _zig() if asked in (None, "zig", "ziglang") else _system_clang(asked)


def _zig() -> _Clang:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise MissingTool(
            "no C compiler: the Python package ziglang is not installed",
            advice="pip install ziglang, or name an installed clang in WEAKSPOT_CLANG",
        )
    name = f"ziglang {importlib.metadata.version('ziglang')}"
    return _Clang(
        command=[sys.executable, "-m", "ziglang", "cc", *FLAGS, *ZIG_FLAGS],
        identity=name,
        name=name,
        headers=[str(Path(spec.origin).parent / "lib")],
    )


def _system_clang(asked: str) -> _Clang:
    found = shutil.which(asked)
    if found is None:
        raise MissingTool(
            f"no such compiler: {asked}",
            advice="name an installed clang, or unset WEAKSPOT_CLANG to use the one in ziglang",
        )
    program = Path(found).resolve()
    status = program.stat()
    wide = ["-mcx16"] if platform.machine() in ("x86_64", "AMD64") else []
    return _Clang(
        command=[found, *FLAGS, *wide],
        identity=f"{program} {status.st_size} {status.st_mtime_ns}",
        name=found,
        headers=["/usr/include", "/usr/local/include", "/usr/lib", "/opt", str(program.parents[1])],
    )


def _run_clang(clang: _Clang, path: Path, options: Sequence[str]) -> tuple[str, list[str]]:
    """The raw IR text, and the names of the user's files that went into it."""
    name = path.name if not path.name.startswith("-") else f"./{path.name}"
    with _scratch_folder() as scratch:
        out = scratch / "out.ll"
        command = [*clang.command, *options, "-o", str(out), name]
        # zig insists on a cache folder although it only writes passing files into it
        environment = {**os.environ, "LC_ALL": "C", "ZIG_GLOBAL_CACHE_DIR": str(scratch / "zig")}
        status, stderr = _run(command, path, environment)
        if status != 0 or not out.exists():
            raise _compile_error(stderr, path, status)
        text = out.read_text(encoding="utf-8", errors="surrogateescape")
    return text, sorted({path.name, *_included(stderr, clang)})


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="weakspot-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ToolFailed(
            f"no folder for temporary files: {error.strerror}",
            advice="free some space, or name a folder that can be written in TMPDIR",
        ) from error
    with folder as name:
        yield Path(name)


def _run(command: Sequence[str], path: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and error output. What the compiler starts in its turn ends with it."""
    try:
        process = subprocess.Popen(
            command,
            cwd=path.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed(
            f"cannot start {command[0]}: {error.strerror}",
            advice="install it again, or name another clang in WEAKSPOT_CLANG",
        ) from error
    with process:
        try:
            _, stderr = process.communicate(timeout=COMPILE_SECONDS)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ToolFailed(
                    f"the compiler did not finish within {COMPILE_SECONDS:.0f} s",
                    place=str(path),
                    advice="look for a macro that grows without end, or for a very large source",
                ) from error
            raise
    return process.returncode, stderr.decode(errors="surrogateescape")


_INCLUDED = re.compile(r"^\.+ (.+)$", re.MULTILINE)


def _included(stderr: str, clang: _Clang) -> Iterator[str]:
    """The user's headers, from what clang's -H lists."""
    for name in _INCLUDED.findall(stderr):
        if _system_name(name, clang.headers) is None:
            yield posixpath.normpath(name)


_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$",
    re.MULTILINE,
)


def _compile_error(stderr: str, path: Path, status: int) -> BadInput | ToolFailed:
    first = _DIAGNOSTIC.search(stderr)
    if first is None:
        lines = _INCLUDED.sub("", stderr).strip().splitlines()
        what = re.sub(r"^.*?error: ", "", lines[0]) if lines else f"exit status {status}"
        return ToolFailed(
            f"the compiler failed: {what}",
            place=str(path),
            excerpt="\n".join(lines[1:8]) or None,
            advice="the compiler must be a clang; `weakspot doctor` shows which one is used",
        )
    where = os.path.normpath(path.parent / first["file"])
    message = first["message"]
    more = len(_DIAGNOSTIC.findall(stderr)) - 1
    advice = f"{more} more error{'s' if more > 1 else ''} in this file" if more else None
    if message.endswith("file not found"):
        advice = "name the folder that holds it as an include folder"
    return BadInput(
        message,
        place=f"{where}:{first['line']}:{first['column']}",
        excerpt=_excerpt(stderr[first.end() + 1 :]),
        advice=advice,
    )


def _excerpt(after: str) -> str | None:
    """Clang's source line with its caret line, without the line-number gutter."""
    lines = [re.sub(r"^ *\d* \| ", "", line) for line in after.splitlines()[:2]]
    if len(lines) == 2 and "^" in lines[1]:
        return "\n".join(line.rstrip() for line in lines)
    return None


# --- the text ---------------------------------------------------------------------------------


def _relative_names(text: str, clang: _Clang, folder: Path) -> str:
    """Name files relative to the source's folder, and system headers as `<name>`. Clang splits a
    path where it leaves the folder it was started in: the directory is part of the name."""
    here = os.path.realpath(folder)

    def renamed(match: re.Match[str]) -> str:
        name, directory = _unescape(match[1]), _unescape(match[2])
        if posixpath.isabs(name) or posixpath.isabs(directory):
            path = posixpath.normpath(posixpath.join(directory, name))
            system = _system_name(path, clang.headers)
            place, base = os.path.realpath(posixpath.dirname(path)), posixpath.basename(path)
            name = system or os.path.relpath(posixpath.join(place, base), here)
        return f'!DIFile(filename: "{_escape(posixpath.normpath(name))}", directory: ""'

    return re.sub(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"', renamed, text)


def _system_name(name: str, headers: Sequence[str]) -> str | None:
    """`<stdatomic.h>` for /…/include/stdatomic.h below one of `headers`."""
    if not any(name.startswith(f"{folder}/") for folder in headers):
        return None
    return f"<{name.rpartition('/include/')[2] or posixpath.basename(name)}>"


def _unescape(text: str) -> str:
    raw = re.sub(
        rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), os.fsencode(text), flags=re.DOTALL
    )
    return os.fsdecode(raw)


def _escape(text: str) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in os.fsencode(text)
    )


_DEFINE = re.compile(r'^define (?P<head>.*?)@(?P<name>"[^"]*"|[-\w$.]+)\(', re.MULTILINE)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n"]*@("[^"]*"|[-\w$.]+)\(')
_LINKAGE = re.compile(
    r"\b(?:internal|private|available_externally|linkonce|weak|linkonce_odr|weak_odr|external"
    r"|dso_local|hidden|protected|default) "
)


def _prepare(text: str) -> str:
    """Mark what is to be inlined, and make it local to the module so that it then disappears.

    LLVM's Python binding cannot change attributes, so the text is changed. `main` and recursive
    functions stay calls. The attribute groups hold code-generation options and `noinline`, which
    contradicts `alwaysinline`; only what the meaning of a call depends on is kept.
    """
    text = re.sub(r"^(attributes #\d+ = )\{.*\}$", _lean_attributes, text, flags=re.MULTILINE)
    definitions = list(_DEFINE.finditer(text))
    if not any(match["name"] == "main" for match in definitions):
        return text
    calls = {match["name"]: set(_CALL.findall(_body(text, match))) for match in definitions}
    kept = _recursive(calls) | {"main"}

    parts, done = [], 0
    for match in definitions:
        if match["name"] == "main":
            continue
        parts.append(text[done : match.start()])
        head = _LINKAGE.sub("", match["head"])
        end = _closing(text, match.end())
        parts.append(f"define internal {head}@{match['name']}({text[match.end() : end]}")
        done = end
        if match["name"] not in kept:
            address = re.compile(r" (?:local_)?unnamed_addr").match(text, end)
            done = address.end() if address else end
            start = text.index("{\n", done) + 2
            stop = text.index("\n}\n", done)
            parts.append(f"{text[end:done]} alwaysinline{text[done:start]}")
            parts.append(_hold_constants(text[start:stop]))
            done = stop
    return "".join([*parts, text[done:]])


_LABEL = re.compile(r"(?:[-\w$.]+|\"[^\"]*\"):.*\n")
_ARITHMETIC = re.compile(
    r"^  %\S+ = (?:add|sub|mul|[us]div|[us]rem|and|or|xor|shl|[al]shr|icmp)\b(?: [a-z]+)* "
    r"(?P<type>i\d+) (?:%\S+, (?P<right>-?\d+)|(?P<left>-?\d+), %\S+)(?=,|$)",
    re.MULTILINE,
)


def _hold_constants(body: str) -> str:
    """Let arithmetic take its constants from locals, until everything is inlined.

    LLVM's inliner simplifies what it copies: of `r * 0` and `r & 0` it would leave 0 and lose the
    dependency on r. It does not look into locals, and promoting them puts the constants back.
    """
    slots: dict[tuple[str, str], str] = {}

    def held(match: re.Match[str]) -> str:
        width, which = match["type"], "right" if match["right"] else "left"
        slot = slots.setdefault((width, match[which]), f"%constant.{len(slots)}")
        value = f"{slot}.{match.start()}"
        before = match[0][: match.start(which) - match.start()]
        after = match[0][match.end(which) - match.start() :]
        return f"  {value} = load {width}, ptr {slot}\n{before}{value}{after}"

    changed = _ARITHMETIC.sub(held, body)
    label = _LABEL.match(changed)
    start = label.end() if label else 0
    locals_ = "".join(
        f"  {slot} = alloca {width}\n  store {width} {value}, ptr {slot}\n"
        for (width, value), slot in slots.items()
    )
    return changed[:start] + locals_ + changed[start:]


def _lean_attributes(match: re.Match[str]) -> str:
    kept = re.findall(r"\b(?:noreturn|nounwind|returns_twice)\b", match[0])
    # a group must not be empty, so each holds a word that LLVM does not know
    return f'{match[1]}{{ {" ".join(kept)} "weakspot" }}'


def _body(text: str, definition: re.Match[str]) -> str:
    return text[definition.end() : text.index("\n}\n", definition.end())]


def _closing(text: str, position: int) -> int:
    """The position after the parenthesis that closes the one before `position`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position


def _recursive(calls: Mapping[str, set[str]]) -> set[str]:
    """The functions that can reach themselves."""

    def reachable(start: str) -> Iterator[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for callee in calls.get(waiting.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
                    yield callee

    return {name for name in calls if name in reachable(name)}


def _clean(raw: str, clang: _Clang) -> str:
    """Inline, drop what nobody calls, promote locals to registers, verify."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    # each call has a context of its own, so that nothing of an earlier module is left in it
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(_prepare(raw), context=context)
    except RuntimeError as error:
        lines = str(error).splitlines()
        raise ToolFailed(
            f"LLVM cannot read what {clang.describe(raw)} wrote",
            excerpt="\n".join(lines[1:4]) or None,
            advice="unset WEAKSPOT_CLANG to use the clang in ziglang, which fits",
        ) from error
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_lower_invoke_pass()
    passes.add_sroa_pass()
    passes.run(module, builder)
    try:
        module.verify()
    except RuntimeError as error:
        raise ToolFailed(
            "LLVM's verifier refuses the inlined module",
            excerpt="\n".join(str(error).splitlines()[:4]),
            advice="this is a fault of weakspot: please report it with the source file",
        ) from error
    return str(module)


# --- the cache --------------------------------------------------------------------------------


class _Entry(msgspec.Struct, frozen=True):
    """A compiled file, and what must be unchanged for it to hold.

    `hashes` are of the files `names`; `listing` is of the names in the searched folders, since a
    file that is new there may be included instead of another one.
    """

    text: str
    compiler: str
    names: list[str]
    hashes: list[str]
    listing: str


def _entry_path(key: str) -> Path:
    """In the user's cache folder. OSError when there is none that can be written."""
    bases = (os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))
    for base, rest in zip(bases, ("weakspot/ir", ".cache/weakspot/ir"), strict=True):
        if base and Path(base).is_absolute():
            folder = Path(base, rest)
            folder.mkdir(parents=True, exist_ok=True)
            return folder / f"{key}.json"
    raise FileNotFoundError("no cache folder")


def _read_cache(key: str, folder: Path, searched: Sequence[Path]) -> _Entry | None:
    try:
        entry = msgspec.json.decode(_entry_path(key).read_bytes(), type=_Entry)
        fresh = [_digest_file(folder / name) for name in entry.names]
    except (OSError, msgspec.DecodeError):
        return None
    return entry if fresh == entry.hashes and entry.listing == _listing(searched) else None


def _write_cache(key: str, entry: _Entry) -> None:
    """Keep the entry. A cache that cannot be written costs time and nothing else."""
    with contextlib.suppress(OSError, msgspec.EncodeError, UnicodeEncodeError):
        target = _entry_path(key)
        content = msgspec.json.encode(entry)
        handle, scratch = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(scratch).replace(target)
        entries = sorted(target.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in entries[:-CACHE_ENTRIES]:
            old.unlink(missing_ok=True)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _digest_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _listing(folders: Sequence[Path]) -> str:
    names = []
    for folder in folders:
        with contextlib.suppress(PermissionError):
            names.append("/".join(sorted(file.name for file in folder.iterdir())))
    return _digest(*names)


def _own_text() -> str:
    """This file: a changed pass or flag makes every cached answer stale."""
    return Path(__file__).read_text(encoding="utf-8")
