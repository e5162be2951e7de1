"""Several programs are explored side by side, and their answers come in the order of the plan."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from weakspot.harness.campaign import several_programs
from weakspot.harness.campaign.several_programs import side_by_side
from weakspot.harness.values.exploration import Exploration

Watch = Callable[[int, tuple[float, float] | None], object]


def answer(question: str) -> Exploration:
    return Exploration(program=question, model="sc", result="Safe")


def asked(
    questions: list[str], explore: Callable[[str, Watch], Exploration], cores: int = 2
) -> dict[str, Exploration]:
    found: dict[str, Exploration] = {}

    def take(question: str, exploration: Exploration) -> None:
        assert threading.current_thread() is threading.main_thread()
        found[question] = exploration

    side_by_side(questions, explore, take, cores=cores)
    return found


def test_two_cores_explore_two_programs_at_once() -> None:
    both = threading.Barrier(2, timeout=20)

    def explore(question: str, _: Watch) -> Exploration:
        both.wait()
        return answer(question)

    assert set(asked(["one", "two"], explore)) == {"one", "two"}


def test_what_takes_long_is_left_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several_programs, "LITTLE", 0.05)

    def explore(question: str, watch: Watch) -> Exploration:
        while question == "long":
            time.sleep(0.01)
            watch(1, None)
        return answer(question)

    assert set(asked(["long", "short"], explore)) == {"short"}


def test_an_error_ends_the_others_and_is_raised() -> None:
    def explore(question: str, watch: Watch) -> Exploration:
        while question == "patient":
            time.sleep(0.01)
            watch(1, None)
        raise ValueError(question)

    with pytest.raises(ValueError, match="wrong"):
        asked(["patient", "wrong"], explore)
