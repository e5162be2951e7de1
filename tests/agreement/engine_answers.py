"""The engine's answers in the form in which herdtools.py has those of herd7, and whether they are
equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asking import answers
from figures import Keep, Row
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


def agree(
    theirs: Mapping[str, Answer],
    ours: Mapping[str, Answer],
    figures: Keep,
    *,
    dialect: str,
    model: str,
    material: str,
) -> None:
    """Fails if an answer of herd7 is another one, or none, in the engine; keeps the figures."""
    both = [(answer, ours[name]) for name, answer in theirs.items() if name in ours]
    different = {
        name: (answer, ours.get(name))
        for name, answer in theirs.items()
        if answer != ours.get(name)
    }
    figures(
        Row(
            dialect=dialect,
            model=model,
            material=material,
            tests=len(theirs),
            states=sum(a.states == b.states for a, b in both),
            observation=sum(a.observation == b.observation for a, b in both),
            flags=sum((a.undefined, a.flags) == (b.undefined, b.flags) for a, b in both),
            different=tuple(different),
        )
    )
    assert not different, f"{len(different)} of {len(theirs)}: {dict([*different.items()][:3])}"
