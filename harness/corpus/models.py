"""The models of models/models.toml, and cat files of the user.

A Model is what weakspot knows about a cat file besides its axioms: the machines it describes, on
which an outcome that it forbids is a contradiction, and what exploration may assume.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.litmus import ARCHITECTURES
from weakspot.system import herdtools

LANGUAGE = "rc20"
"""The model of C and C++ where none is named."""

MACHINES: tuple[str, ...] = ("imm",)
"""The models under which programs that are safe under those of the language are explored too:
weaker in some respect, as machines are."""

Role = Literal["reference", "language", "hardware", "paper"]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cat file and what is known about it; models.toml explains each field.

    `file` is a name in models/, or the absolute path of a user's file.
    """

    name: str
    file: str
    title: str
    role: Role
    dialects: tuple[str, ...] = ()  # of litmus tests; empty if unknown
    machines: tuple[str, ...] = ()  # empty: every machine
    programs: str = ""  # "": file, if that applies to C
    acyclic: Literal["program order", "dependencies", "none"] | None = None
    cbmc: Literal["sc", "tso", "pso"] | None = None
    stronger_than: tuple[str, ...] = ()
    earlier: str = ""
    permitted: str = ""
    beyond: str = ""
    reference: str = ""
    about: str = ""

    @property
    def path(self) -> Path:
        """The cat file itself."""
        return folder() / self.file

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
    return Path(str(files("weakspot.models").joinpath("models.toml"))).parent


@lru_cache(maxsize=1)
def load() -> dict[str, Model]:
    """weakspot's own models by name, in the order of models.toml."""
    entries = msgspec.toml.decode((folder() / "models.toml").read_bytes())
    return {
        name: msgspec.convert({"name": name, **entry}, Model) for name, entry in entries.items()
    }


def resolve(name_or_path: str | Path) -> Model:
    """The model with that name, or the one in that cat file.

    Raises BadInput, with similar names, if it is neither.
    """
    models = load()
    wanted = str(name_or_path)
    if wanted in models:
        return models[wanted]
    path = Path(wanted).expanduser()
    if path.suffix == ".cat" or len(path.parts) > 1:
        return _of_file(path)
    close = difflib.get_close_matches(wanted.lower(), models, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}? " if close else ""
    raise BadInput(
        f"unknown model {wanted!r}",
        advice=f"{hint}the models are {', '.join(models)}, or give the path of a cat file",
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
    return Model(
        name=path.stem,
        file=str(path.resolve()),
        title=_title(text) or path.stem,
        role="language",
        dialects=_dialects(text),
    )


def _dialects(cat: str) -> tuple[str, ...]:
    """The architecture that a cat file may begin with."""
    word = re.match(r"\s*(?:\(\*.*?\*\)\s*)*(\w+)", cat, re.DOTALL)
    return (word[1],) if word and word[1] in ARCHITECTURES else ()


def _title(cat: str) -> str | None:
    """The title of a cat file: a string, after an optional dialect."""
    match = re.match(r'\s*(?:\(\*.*?\*\)\s*)*(?:\w+\s+)?"([^"\n]+)"', cat, re.DOTALL)
    return match[1] if match else None
