"""A Rust crate to bitcode, as cargo builds it.

In: a crate's Cargo.toml, and options for rustc. Out: what cargo can build of it (`targets`), and
the bitcode of one of these with its dependencies and std (`build`). Features, editions,
dependencies and the toolchain are the crate's own; whether cargo may use the network is for its
configuration to say. The crate's folder stays as it is but for Cargo.lock, which cargo writes where
there is none: all else is built in the user's cache folder, once for all commands.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, ToolFailed, excerpt, quoted
from weakspot.generators.source import overlay, rust
from weakspot.generators.source.build import Target
from weakspot.generators.source.clang import time_is_up
from weakspot.generators.source.language import MANIFEST
from weakspot.generators.source.languages.rust import MEANING
from weakspot.system import cache, process, tools
from weakspot.system.deadline import Deadline

CARGO = tools.Program(
    "cargo",
    lost="reading Rust crates",
    advice="install Rust: https://rustup.rs, or the package cargo",
)
_FOLDERS = 16
"""How many folders there are in which cargo builds; one takes some 100 MB."""

_PATIENCE = 1200.0  # seconds without a time limit: dependencies are compiled too


class _Target(msgspec.Struct, frozen=True):
    kind: tuple[str, ...]
    name: str
    src_path: str
    test: bool
    required_features: tuple[str, ...] = msgspec.field(name="required-features", default=())


class _Package(msgspec.Struct, frozen=True):
    id: str
    name: str
    manifest_path: str
    targets: tuple[_Target, ...]


class _Metadata(msgspec.Struct, frozen=True):
    packages: tuple[_Package, ...]
    workspace_root: str
    workspace_default_members: tuple[str, ...] = ()


class _Span(msgspec.Struct, frozen=True):
    file_name: str
    line_start: int
    column_start: int
    is_primary: bool


class _Diagnostic(msgspec.Struct, frozen=True):
    message: str
    level: str
    spans: tuple[_Span, ...] = ()
    rendered: str | None = None


class _Message(msgspec.Struct, frozen=True):
    """A line of what cargo prints for programs."""

    reason: str
    manifest_path: str = ""
    message: _Diagnostic | None = None


def targets(manifest: Path, end: Deadline) -> tuple[Target, ...]:
    """What cargo builds of a crate, or of the members of a workspace: tests first. Raises BadInput
    for a Cargo.toml that cargo refuses, MissingTool, ToolFailed, LimitReached."""
    read = _metadata(manifest, end)
    own = [each for each in read.packages if Path(each.manifest_path).samefile(manifest)]
    members = own or [
        each for each in read.packages if each.id in (read.workspace_default_members or (each.id,))
    ]
    return tuple(each for package in members for each in _targets(package))


def _targets(package: _Package) -> Iterator[Target]:
    folder = Path(package.manifest_path).parent
    libraries = ("lib", "rlib", "dylib", "cdylib", "staticlib")
    found = [
        (next(("lib" for kind in each.kind if kind in libraries), each.kind[0]), each)
        for each in package.targets
    ]
    for kind, each in found:
        made = Target(
            package=package.name,
            folder=folder,
            kind=kind,
            name=each.name,
            root=Path(each.src_path),
            tested=True,
            features=each.required_features,
        )
        if kind in ("lib", "bin", "test") and each.test:
            yield made
        if kind in ("bin", "example"):
            yield msgspec.structs.replace(made, tested=False)


def _metadata(manifest: Path, end: Deadline) -> _Metadata:
    command = ["metadata", "--format-version=1", "--no-deps", "--manifest-path", MANIFEST]
    ended = _run(command, manifest.parent, manifest, end)
    if ended.code != 0:
        raise _refused(ended, manifest)
    return msgspec.json.decode(ended.out, type=_Metadata)


def _run(
    arguments: Sequence[str],
    folder: Path,
    place: Path,
    end: Deadline,
    variables: dict[str, str] | None = None,
) -> process.Ended:
    """What cargo prints in a folder, where rustup may have another version than elsewhere."""
    ended = process.run(
        [tools.require(CARGO).path, *arguments],
        seconds=end.at_most(_PATIENCE),
        cwd=folder,
        env={**os.environ, "CARGO_TERM_COLOR": "never", **(variables or {})},
        memory=None,  # as much as the user's own build may use
    )
    if ended.timed_out:
        raise time_is_up(str(place), "cargo was building it")
    return ended


LOOM = Path(__file__).with_name("loom") / "lib.rs"
"""What is compiled in place of loom."""
_WRAPPER = f"""\
#!/bin/sh
# cargo starts this with rustc's path and arguments; a test may have loom's name too
case " $* " in
*" --crate-name loom "*" --crate-type lib "*)
  for word do
    shift
    case $word in *.rs) word={shlex.quote(str(LOOM))} ;; esac
    set -- "$@" "$word"
  done ;;
esac
exec "$@"
"""


def build(
    target: Target,
    options: Sequence[str],
    features: Sequence[str],
    end: Deadline,
    *,
    loom: bool = False,
) -> Path:
    """The bitcode of a target, built as far as it is not up to date. With `loom`, `cfg(loom)` is
    set, and LOOM compiled in place of that crate, whatever its version. Raises BadInput when the
    crate or a dependency does not compile, ToolFailed, MissingTool, LimitReached."""
    root, options = overlay.mirror(options)
    rustc = rust.find(target.folder)
    flags = (*_own_flags(), *MEANING, *(("--cfg=loom", "--check-cfg=cfg(loom)") if loom else ()))
    flags += tuple(options)
    folder = _folder(target, rustc, (*flags, *features, LOOM.read_text(encoding="utf-8")))
    name = "-".join((target.package, target.kind, target.name, *(["test"] * target.tested)))
    made = (folder if root == Path("/") else root.parent) / "bitcode" / f"{name}.bc"
    made.parent.mkdir(exist_ok=True)
    command = [
        *("rustc", "--manifest-path", MANIFEST, *target.arguments, "--message-format=json"),
        *("--target", rustc.host, "--target-dir", str(folder)),  # build scripts get no flags then
        *(f"--features={each}" for each in (*features, *target.features)),
        *("--", "-Clto=fat", f"--emit=llvm-bc={made}"),
    ]
    variables = {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "CARGO_INCREMENTAL": "0"}
    if loom:
        wrapper = folder / "rustc"
        if not wrapper.exists():
            wrapper.write_text(_WRAPPER, encoding="utf-8")
            wrapper.chmod(0o755)
        variables["RUSTC_WRAPPER"] = str(wrapper)
    manifest = target.folder / MANIFEST
    ended = _run(command, overlay.below(root, target.folder), manifest, end, variables)
    if ended.code != 0:
        raise _error(ended, manifest, end)
    if not made.is_file():
        raise ToolFailed(
            f"cargo has built {target.name}, but its bitcode is not there",
            place=str(manifest),
            advice=f"remove {folder}, in which something is missing",
        )
    return made


def _own_flags() -> tuple[str, ...]:
    """The user's own flags for rustc, in the environment."""
    if encoded := os.environ.get("CARGO_ENCODED_RUSTFLAGS"):
        return tuple(encoded.split("\x1f"))
    return tuple(os.environ.get("RUSTFLAGS", "").split())


def _folder(target: Target, rustc: rust.Rustc, flags: Sequence[str]) -> Path:
    """Where cargo builds. The folders that were not used for longest are removed."""
    known = cache.folder_of("cargo") or Path(tempfile.gettempdir(), f"weakspot-{os.getuid()}")
    folder = known / cache.digest(str(target.folder), rustc.path, rustc.version, *flags)[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    by_age = sorted(known.iterdir(), key=lambda each: each.stat().st_mtime)
    for old in by_age[:-_FOLDERS]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


# --- errors -------------------------------------------------------------------------------------


def _error(ended: process.Ended, manifest: Path, end: Deadline) -> BadInput:
    """The compiler's first error, or else cargo's own."""
    for line in ended.out.splitlines():
        try:
            found = msgspec.json.decode(line, type=_Message)
        except msgspec.DecodeError:  # what a build script prints
            continue
        error = found.message
        if found.reason != "compiler-message" or error is None or error.level != "error":
            continue
        spans = sorted(error.spans, key=lambda each: not each.is_primary)
        if not spans:  # as one of the linker
            lines = (error.rendered or "").splitlines()
            message = error.message.partition("\n")[0]
            return BadInput(message, place=str(manifest), excerpt=quoted(lines[1:9]))
        # rustc runs in the workspace's root for its members, and in the crate's for others
        first, crate = spans[0], Path(found.manifest_path).parent
        roots = (Path(_metadata(manifest, end).workspace_root), crate)
        file = next((one for each in roots if (one := each / first.file_name).is_file()), None)
        path = file or Path(first.file_name)
        outside = not path.is_relative_to(manifest.parent.absolute())
        return BadInput(
            error.message,
            place=f"{path}:{first.line_start}:{first.column_start}",
            excerpt=excerpt(path, first.line_start, first.column_start),
            advice=f"{crate.name} must compile: cargo check" if outside else None,
        )
    return _refused(ended, manifest)


_NETWORK = ("failed to download", "failed to get", "no matching package", "failed to fetch")


def _refused(ended: process.Ended, manifest: Path) -> BadInput:
    """An error of cargo's."""
    lines = [line for line in ended.err.splitlines() if line.strip()]
    at = next((at for at, line in enumerate(lines) if line.startswith("error")), 0)
    message = lines[at].partition(": ")[2] if lines else "it says nothing"
    fetched = any(each in line for line in lines[at:] for each in _NETWORK)
    return BadInput(
        f"cargo cannot build this crate: {message}",
        place=str(manifest),
        excerpt=quoted(lines[at + 1 : at + 9]),
        advice="run cargo fetch here, with the network; afterwards none is needed"
        if fetched
        else "cargo check in its folder must succeed",
    )
