"""The engine's answers in the form in which herdtools.py has those of herd7."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asking import answers
from herdtools import Answer

from weakspot.system import herdtools

if TYPE_CHECKING:
    from weakspot._engine import AnswerDict


def engine(cat: Path, tests: Sequence[Path], jobs: int = 0) -> dict[str, Answer]:
    """By test name, under the model of a cat file."""
    library = herdtools.libdir()
    texts = [(path.name, path.read_text()) for path in tests]
    found = answers(texts, cat, folders=[str(library)] if library else [], jobs=jobs)
    return {answer["name"]: as_answer(answer) for answer in found}


def as_answer(answer: AnswerDict) -> Answer:
    undefined = answer["observation"] == "Undefined"
    observation = answer["observation"]
    if undefined:
        positive, negative = answer["positive"], answer["negative"]
        observation = "Never" if not positive else "Sometimes" if negative else "Always"
    return Answer(
        states=frozenset(
            "".join(f"{name}={value}; " for name, value in state.items()).strip()
            for state in answer["states"]
        ),
        observation=observation,
        undefined=undefined,
        flags=tuple(sorted(answer["flags"])),
    )
