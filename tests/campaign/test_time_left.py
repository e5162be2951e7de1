"""The time that is left of a phase is that of the jobs that are left, by what kind each is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
import pytest

from weakspot.harness.campaign import time_left
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import TimeLeft
from weakspot.harness.campaign.time_left import Remaining


class Asked(Job, frozen=True, kw_only=True):
    """A job that takes so many seconds."""

    group: str = ""
    takes: float = 1.0

    @property
    def phase(self) -> str:
        return "asking"

    @property
    def kind(self) -> Hashable:
        return self.group


class Clock:
    """The time that jobs have taken."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(time_left, "time", found)
    return found


def asked(group: str, count: int, takes: float) -> list[Asked]:
    return [Asked(key=f"{group}{at}", group=group, takes=takes) for at in range(count)]


def answer(jobs: Sequence[Asked], left: Remaining, clock: Clock) -> None:
    for job in jobs:
        clock.now += job.takes
        left.answered(job)


def unknown(_: Job) -> None:
    return None


def given(job: Job) -> float | None:
    return job.takes if isinstance(job, Asked) else None


def seconds_left(left: Remaining) -> tuple[float, bool]:
    found = left.left()
    assert found is not None
    return round(found.seconds, 6), found.complete


def test_quick_jobs_do_not_predict_slow_ones_of_another_kind(clock: Clock) -> None:
    quick, slow = asked("engine", 100, 0.01), asked("cbmc", 10, 5.0)
    left = Remaining([*quick, *slow], unknown)
    assert left.left() is None
    answer(quick[:50], left, clock)
    assert seconds_left(left) == (0.5, False), "nothing is known of the slow ones yet"
    answer([*quick[50:], *slow[:2]], left, clock)
    assert seconds_left(left) == (40.0, True)
    answer(slow[2:], left, clock)
    assert left.left() is None


def test_what_is_known_beforehand_counts_from_the_beginning(clock: Clock) -> None:
    quick, slow = asked("engine", 100, 0.01), asked("cbmc", 10, 5.0)
    left = Remaining([*quick, *slow], given)
    assert seconds_left(left) == (51.0, True)
    answer(quick, left, clock)
    assert seconds_left(left) == (50.0, True)


def test_the_longest_first_do_not_predict_the_others(clock: Clock) -> None:
    jobs = [*asked("long", 2, 30.0), *asked("short", 60, 0.5)]
    jobs = [msgspec.structs.replace(job, group="exploring") for job in jobs]
    left = Remaining(jobs, given)
    answer(jobs[:2], left, clock)
    assert seconds_left(left) == (30.0, True)


def test_a_slower_computer_than_before_corrects_what_is_known(clock: Clock) -> None:
    jobs = asked("herd7", 100, 3.0)
    left = Remaining(jobs, lambda _: 1.0)
    answer(jobs[:50], left, clock)
    assert seconds_left(left) == (round(50 * (10 + 150) / (10 + 50), 6), True)


def test_a_job_without_a_time_takes_the_mean_of_its_kind(clock: Clock) -> None:  # noqa: ARG001
    jobs = asked("exploring", 3, 1.0)
    left = Remaining(jobs, lambda job: {"exploring0": 2.0, "exploring1": 6.0}.get(job.key))
    assert seconds_left(left) == (12.0, True)


def test_time_passes_during_a_job(clock: Clock) -> None:
    jobs = asked("running", 4, 10.0)
    left = Remaining(jobs, given)
    answer(jobs[:2], left, clock)
    clock.now += 4.0
    assert seconds_left(left) == (16.0, True)
    clock.now += 30.0
    assert left.left() is None, "it takes longer than expected"


def test_an_answer_that_comes_twice_counts_once(clock: Clock) -> None:
    jobs = asked("running", 2, 10.0)
    left = Remaining(jobs, unknown)
    answer([jobs[0], jobs[0]], left, clock)
    clock.now -= 10.0
    assert left.left() == TimeLeft(10.0, complete=True)
