"""The models of models/models.toml, cat files of the user, and configurations of herd7 (.cfg), of
which the Linux kernel's is known as lkmm where it is installed.

A Model is what weakspot knows about a cat file besides its axioms: the machines it describes, on
which an outcome that it forbids is a contradiction, and what exploration may assume.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.litmus import ARCHITECTURES, Test
from weakspot.harness.values.record import digest
from weakspot.system import herdtools, kernel, packages

LANGUAGE = "rc20"
"""The model of C and C++ where none is named."""

LANGUAGE_MODELS = ("sc", "tso", LANGUAGE)
"""The models of a C test outside any structure; for other architectures see `models_of`."""

MACHINES: tuple[str, ...] = ("imm",)
"""The models under which programs that are safe under those of the language are explored too:
weaker in some respect, as machines are."""

LINUX = "lkmm"
"""The name of the Linux kernel's model."""

OF_KERNEL = (LINUX, Path(kernel.CONFIGURATION).stem)
"""The names that it has: the other one where its folder is named."""

_ABOUT_LINUX = "The model of the kernel's source code, for litmus tests with the kernel's macros."
_CONFIGURATION = ".cfg"
_COMMENTS = r"\s*(?:(?:\(\*.*?\*\)|//[^\n]*)\s*)*"

Role = Literal["reference", "language", "hardware", "paper"]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cat file and what is known about it; models.toml explains each field.

    `file` is a name in models/, or the absolute path of a user's file: a cat file, or a
    configuration, which names a cat file, a bell file and macros.
    """

    name: str
    file: str
    title: str
    role: Role
    dialects: tuple[str, ...] = ()  # of litmus tests; empty if unknown
    machines: tuple[str, ...] = ()  # empty: every machine
    programs: str = ""  # "": file, if that applies to C
    acyclic: Literal["program order", "dependencies", "none"] | None = None
    one_size: bool = False
    cbmc: Literal["sc", "tso", "pso"] | None = None
    stronger_than: tuple[str, ...] = ()
    earlier: str = ""
    permitted: str = ""
    beyond: str = ""
    reference: str = ""
    about: str = ""
    digest: str = ""  # of a user's file, as it was when the model was resolved

    @property
    def is_current(self) -> bool:
        """Whether a user's file, and those that it names, are as they were."""
        return not self.digest or self.digest == _digest(self.path)

    @property
    def digest_of_text(self) -> str:
        """A name for the text of the model, with the files that it includes or names."""
        return self.digest or _digest(self.path, self.of_programs.path)

    @property
    def path(self) -> Path:
        """The cat file itself."""
        return folder() / self.file

    @property
    def is_configuration(self) -> bool:
        return self.path.suffix == _CONFIGURATION

    @property
    def is_of_c(self) -> bool:
        """Whether programs that are safe under it are explored under models of machines too. What
        the primitives of the Linux kernel are there, none of these says."""
        return self.role == "language" and not self.is_configuration

    @property
    def of_programs(self) -> Model:
        """The model that programs are explored under."""
        if not self.programs:
            return self
        return msgspec.structs.replace(self, file=self.programs, dialects=("C",))

    def applies_to(self, machine: str) -> bool:
        """Whether observing a forbidden outcome on this kind of machine contradicts the model."""
        return not self.machines or machine in self.machines


def of_machines(models: Sequence[str], chosen: Sequence[str] | None) -> tuple[str, ...]:
    """The models that safe programs are explored under too: those that are chosen; else the
    defaults, unless `models` are."""
    if chosen is None:
        return () if models else MACHINES
    return tuple(chosen)


def include_folders(model: Model) -> list[Path]:
    """Where the includes of a user's cat file are looked up: as herd7 does, then among our own."""
    if model.path.parent == folder():
        return []
    library = herdtools.libdir()
    return [each for each in (library, folder()) if each is not None]


@lru_cache(maxsize=1)
def folder() -> Path:
    """The folder of weakspot's own cat files."""
    return packages.folder("weakspot.models")


@lru_cache(maxsize=1)
def load() -> dict[str, Model]:
    """weakspot's own models by name, in the order of models.toml."""
    entries = msgspec.toml.decode((folder() / "models.toml").read_bytes())
    return {
        name: msgspec.convert({"name": name, **entry}, Model) for name, entry in entries.items()
    }


def available() -> dict[str, Model]:
    """weakspot's own models, and that of the Linux kernel where it is installed or configured."""
    of_kernel = kernel.folder()
    if of_kernel is None:
        return load()
    model = _of_file(of_kernel / kernel.CONFIGURATION)
    return {**load(), LINUX: msgspec.structs.replace(model, name=LINUX, about=_ABOUT_LINUX)}


def resolve(name_or_path: str | Path) -> Model:
    """The model with that name, or the one in that cat file, configuration or folder.

    Raises BadInput, with similar names, if it is neither.
    """
    models = load()
    wanted = str(name_or_path)
    if wanted in models:
        return models[wanted]
    path = Path(wanted).expanduser()
    if wanted == LINUX and not path.exists():
        if LINUX in (known := available()):
            return known[LINUX]
        raise BadInput("the Linux kernel's memory model is not installed", advice=kernel.ADVICE)
    if path.is_dir():
        return _of_file(_configuration(path))
    if path.suffix in (".cat", _CONFIGURATION) or len(path.parts) > 1:
        return _of_file(path)
    close = difflib.get_close_matches(wanted.lower(), models, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise BadInput(
        f"unknown model {wanted!r}",
        advice=f"{hint}the models are {', '.join(models)}, or give the path of a cat file",
    )


def _configuration(folder: Path) -> Path:
    """The only configuration in a folder, or that of the Linux kernel."""
    found = sorted(folder.glob(f"*{_CONFIGURATION}"))
    of_kernel = [each for each in found if each.name == kernel.CONFIGURATION]
    if len(chosen := of_kernel or found) == 1:
        return chosen[0]
    raise BadInput(
        f"the folder has {len(found) or 'no'} configurations",
        place=str(folder),
        advice="name a cat file, a .cfg file, or the folder tools/memory-model of a Linux kernel",
    )


def _of_file(path: Path) -> Model:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"cannot read the model: {error.strerror or error}",
            place=str(path),
            advice=f"name a cat file, or one of {', '.join(load())}",
        ) from error
    except UnicodeDecodeError as error:
        raise BadInput(
            "the model is not a text file", place=str(path), advice="name a cat file"
        ) from error
    is_configuration = path.suffix == _CONFIGURATION
    title = _title_of_configuration(path, text) if is_configuration else _title(text)
    return Model(
        name=path.stem,
        file=str(path.resolve()),
        title=title or path.stem,
        role="language",
        dialects=("C",) if is_configuration else _dialects(text),
        digest=_digest(path.resolve()),
    )


_INCLUDE = r'\binclude\s+"([^"]+)"'


def _digest(*paths: Path) -> str:
    return digest(*(text for _, text in sorted(texts(*paths).items())))


def texts(*paths: Path) -> dict[Path, str]:
    """The texts of cat files and configurations, and of the files beside them that they include or
    name."""
    found: dict[Path, str] = {}
    waiting = list(paths)
    while waiting:
        file = waiting.pop()
        if file in found or not file.is_file():
            continue
        found[file] = file.read_text(encoding="utf-8", errors="replace")
        included = re.findall(
            r"^\s*(?:bell|cat|macros|model)\s+(\S+)" if file.suffix == ".cfg" else _INCLUDE,
            found[file],
            re.MULTILINE,
        )
        waiting.extend(file.parent / name for name in included)
    return found


def _title_of_configuration(path: Path, text: str) -> str | None:
    """The title of the cat file that a configuration names."""
    named = re.search(r"^\s*model\s+(\S+)", text, re.MULTILINE)
    cat = path.parent / named[1] if named else None
    return _title(cat.read_text(errors="replace")) if cat is not None and cat.is_file() else None


def _dialects(cat: str) -> tuple[str, ...]:
    """The architecture that a cat file may begin with."""
    word = re.match(rf"{_COMMENTS}(\w+)", cat, re.DOTALL)
    return (word[1],) if word and word[1] in ARCHITECTURES else ()


def _title(cat: str) -> str | None:
    """The title of a cat file: a string, after an optional dialect."""
    match = re.match(rf'{_COMMENTS}(?:\w+\s+)?"([^"\n]+)"', cat, re.DOTALL)
    return match[1] if match else None


def default_models(test: Test) -> tuple[str, ...]:
    """The models of a litmus file if none are named: those that can read it."""
    return models_of("" if test.unread else test.arch)


@lru_cache
def models_of(arch: str) -> tuple[str, ...]:
    """The models that can read tests of an architecture, "" if it is not known."""
    if arch in ("C", ""):
        return LANGUAGE_MODELS
    return tuple(model.name for model in load().values() if arch in model.dialects)
