"""What is stored of an exploration that ends early is resumed for the same question alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot import _engine
from weakspot.harness.campaign import frontiers
from weakspot.harness.campaign.frontiers import DAMAGED, OTHER_ENGINE, RESUMES, Frontier, Frontiers
from weakspot.harness.checkers.explorer import Keep
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason

LIMIT = Reason(kind="limit", limit="executions", number=5)


def explored(
    frontier: Frontier, question: str, left: bytes | None = None
) -> tuple[bytes | None, Exploration]:
    """What an exploration gets that leaves these bytes, and its answer."""
    got: list[bytes | None] = []

    def explore(earlier: bytes | None, keep: Keep | None) -> Exploration:
        got.append(earlier)
        if left is not None and keep is not None:
            keep(left)
        if left is None:
            return Exploration(program="p", model="sc", result="Safe")
        return Exploration(program="p", model="sc", result="Unknown", incomplete=(LIMIT,))

    answer = frontier.explored(question, explore, lambda: True)
    return got[0], answer


@pytest.fixture
def frontier(tmp_path: Path) -> Frontier:
    return Frontiers(tmp_path / "one").of("p", "sc")


def test_what_is_left_open_is_given_to_the_next(frontier: Frontier) -> None:
    first, answer = explored(frontier, "question", b"open")
    assert first is None
    assert answer.incomplete == (LIMIT, RESUMES)
    assert explored(frontier, "question", b"less")[0] == b"open"
    assert explored(frontier, "question")[0] == b"less"
    assert explored(frontier, "question")[0] is None, "all was explored"


def test_what_is_left_of_another_question_is_ignored_and_replaced(frontier: Frontier) -> None:
    explored(frontier, "question", b"open")
    got, answer = explored(frontier, "another", b"other")
    assert (got, answer.notes) == (None, ())
    assert explored(frontier, "question", b"open")[0] is None


def test_what_another_build_has_left_is_not_resumed_and_a_note_says_so(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(_engine, "__version__", "0.0.0+other")
        explored(frontier, "question", b"open")
    got, answer = explored(frontier, "question", b"less")
    assert (got, answer.notes) == (None, (OTHER_ENGINE,))
    got, answer = explored(frontier, "question")
    assert (got, answer.notes) == (b"less", ())


def test_each_program_and_model_has_its_own(tmp_path: Path) -> None:
    folder = Frontiers(tmp_path)
    explored(folder.of("p", "sc"), "question", b"open")
    assert explored(folder.of("p", "tso"), "question", b"open")[0] is None
    assert explored(folder.of("q", "sc"), "question", b"open")[0] is None
    assert explored(folder.of("p", "sc"), "question")[0] == b"open"


@pytest.mark.parametrize("length", [0, 20, 40, 70])
def test_a_damaged_file_is_noted(frontier: Frontier, length: int) -> None:
    explored(frontier, "question", b"open" * 10)
    assert frontier.path is not None
    frontier.path.write_bytes(frontier.path.read_bytes()[:length])
    got, answer = explored(frontier, "question")
    assert (got, answer.notes) == (None, (DAMAGED,))


def test_what_is_too_large_is_not_stored(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontiers, "MOST", 2**20)
    _, answer = explored(frontier, "question", bytes(3 * 2**20))
    assert answer.notes == (
        "the exploration cannot be resumed: that takes 3 MiB, and 1 MiB are stored",
    )
    assert answer.incomplete == (LIMIT,)
    assert explored(frontier, "question")[0] is None


def test_what_an_earlier_campaign_left_is_used_until_there_is_newer(tmp_path: Path) -> None:
    earlier = Frontiers(tmp_path / "earlier")
    later = Frontiers(tmp_path / "later", (tmp_path / "none", tmp_path / "earlier"))
    explored(earlier.of("p", "sc"), "question", b"open")
    assert explored(later.of("p", "sc"), "another", b"open")[0] is None
    assert explored(later.of("p", "sc"), "question", b"newer")[0] == b"open"
    assert explored(later.of("p", "sc"), "question")[0] == b"newer"
    assert explored(earlier.of("p", "sc"), "question")[0] == b"open"


def stopped_by(frontier: Frontier, raised: type[BaseException]) -> bytes | None:
    """What is stored of an exploration that ends with this exception."""

    def explore(_: bytes | None, keep: Keep | None) -> Exploration:
        assert keep is not None
        keep(b"open")
        raise raised

    with pytest.raises(raised):
        frontier.explored("question", explore, lambda: True)
    return explored(frontier, "question")[0]


def test_ctrl_c_stores_what_is_open(frontier: Frontier) -> None:
    assert stopped_by(frontier, KeyboardInterrupt) == b"open"


def test_what_nobody_waits_for_any_more_is_not_stored(frontier: Frontier) -> None:
    assert stopped_by(frontier, RuntimeError) is None


def test_without_a_folder_nothing_is_stored() -> None:
    frontier = Frontiers().of("p", "sc")
    assert explored(frontier, "question", b"open")[1].incomplete == (LIMIT,)
    assert explored(frontier, "question")[0] is None


def test_a_folder_that_cannot_be_written_is_noted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way\n")
    frontier = Frontiers(tmp_path / "file").of("p", "sc")
    _, answer = explored(frontier, "question", b"open")
    assert answer.notes == (
        f"the exploration cannot be resumed: {frontier.path} cannot be written",
    )
