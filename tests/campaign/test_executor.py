"""The executor performs what a store does not hold, once, and hands over each answer at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from fakes import FakeMachine

from weakspot.errors import BadInput, ToolFailed, WeakspotError
from weakspot.harness.campaign.executor import Events, LocalExecutor, Stopped, answer_of, ask
from weakspot.harness.campaign.folder import resume_or_create
from weakspot.harness.campaign.iteration import IterableStore
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.progress import Left, TimeLeft
from weakspot.harness.campaign.store import MemoryStore, Store
from weakspot.harness.machines import Lost, Machine
from weakspot.harness.runners.steadiness import SteadinessProbe
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import Plan
from weakspot.system.deadline import Deadline

LOCAL, OTHER = FakeMachine("local"), FakeMachine("ssh:other")


class Note(Job, frozen=True, kw_only=True):
    """A job that answers with its key and notes what is performed together. `act` is done before
    each answer."""

    group: str = "all"
    most: int = 0
    seconds: float = 60.0
    on: FakeMachine | None = None
    performed: list[list[str]]
    act: Callable[[Note, Sink], None] = lambda _, __: None

    @property
    def phase(self) -> str:
        return f"noting {self.group}"

    @property
    def machine(self) -> Machine | None:
        return self.on  # type: ignore[return-value]

    @property
    def batch(self) -> Hashable:
        return self.group

    @property
    def together(self) -> int:
        return self.most

    def within(self, seconds: float) -> Self:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return type(self)(**{**values, "seconds": seconds})

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        jobs[0].performed.append([job.key for job in jobs])
        for job in jobs:
            job.act(job, sink)
            sink.answered(job, f"answer {job.key}")


class Watcher:
    """Progress that is remembered."""

    def __init__(self) -> None:
        self.phases: list[tuple[int, str]] = []
        self.left: list[TimeLeft | None] = []
        self.done = 0

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        self.phases.append((total, what))
        self.left.append(left and left())

    def advance(self, count: int = 1) -> None:
        self.done += count

    def at(self, text: str) -> None: ...

    def message(self, text: str) -> None: ...


@contextlib.contextmanager
def steady(_: Machine) -> Iterator[SteadinessProbe]:
    yield SteadinessProbe()


def executor() -> LocalExecutor:
    return LocalExecutor(gauge=steady)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_jobs_of_one_batch_are_performed_together_in_the_order_of_the_plan() -> None:
    performed: list[list[str]] = []
    jobs = [
        Note(key=key, group=group, most=most, performed=performed)
        for key, group, most in (("a", "x", 0), ("b", "x", 0), ("c", "y", 2), ("d", "y", 2))
    ]
    jobs += [Note(key="e", group="y", most=2, performed=performed)]
    store, watcher = MemoryStore(), Watcher()
    ask(jobs, store, executor(), progress=watcher, known=lambda job: float(len(job.phase)))
    assert performed == [["a", "b"], ["c", "d"], ["e"]]
    found = [each and round(each.seconds) for each in watcher.left]
    assert found == [2 * len("noting x"), 3 * len("noting y")]
    assert watcher.phases == [(2, "noting x"), (3, "noting y")]
    assert watcher.done == store.count == 5
    assert store.get("c") == "answer c"


def test_a_job_is_performed_once_and_not_if_its_answer_is_stored() -> None:
    performed: list[list[str]] = []
    store = MemoryStore()
    store.put("b", "known")
    job = Note(key="a", performed=performed)
    ask([job, Note(key="b", performed=performed), job], store, executor())
    assert answer_of(job, store, executor()) == "answer a"
    assert performed == [["a"]]
    assert store.get("b") == "known"


def test_ctrl_c_stores_what_was_answered_and_the_rest_is_asked_next_time() -> None:
    performed: list[list[str]] = []
    first = Note(key="a", performed=performed)
    store = MemoryStore()
    with pytest.raises(Stopped, match="interrupted; 1 answer is stored"):
        ask([first, Note(key="b", performed=performed, act=interrupt)], store, executor())
    ask([first, Note(key="b", performed=performed)], store, executor())
    assert performed == [["a", "b"], ["b"]]


def test_every_job_gets_its_share_of_the_time_and_the_command_ends_in_time() -> None:
    given: list[float] = []

    def use_all(job: Note, _: Sink) -> None:
        given.append(job.seconds)
        time.sleep(job.seconds)

    jobs = [Note(key=str(number), performed=[], act=use_all) for number in range(4)]
    begin = time.monotonic()
    ask(jobs, MemoryStore(), executor(), end=Deadline(begin + 0.4))
    assert time.monotonic() - begin < 0.4 + len(jobs)
    assert given[0] == pytest.approx(0.1, abs=0.05)
    assert all(seconds <= 0.21 for seconds in given)


def test_time_that_one_job_leaves_goes_to_the_others() -> None:
    given: list[float] = []
    jobs = [
        Note(key=key, performed=[], act=lambda job, _: given.append(job.seconds)) for key in "ab"
    ]
    ask(jobs, MemoryStore(), executor(), end=Deadline(time.monotonic() + 20))
    assert given[0] <= 10 < given[1]


def test_a_phase_leaves_the_others_their_share_of_the_time() -> None:
    given: list[float] = []
    jobs = [
        Note(key=key, group=group, performed=[], act=lambda job, _: given.append(job.seconds))
        for key, group in (("a", "x"), ("b", "y"), ("c", "z"))
    ]
    ask(jobs, MemoryStore(), executor(), end=Deadline(time.monotonic() + 60))
    assert [round(60 / seconds) for seconds in given] == [3, 2, 1]


def test_a_malformed_file_is_reported_where_the_others_can_be_asked() -> None:
    def refuse(*_: object) -> None:
        raise BadInput("not a model")

    store, events = MemoryStore(), Tolerant()
    jobs = [Note(key="a", group="x", performed=[], act=refuse), Note(key="b", performed=[])]
    ask(jobs, store, executor(), events=events)
    assert events.reported == ["noting x: not a model"]
    assert store.has("b")
    with pytest.raises(BadInput):
        ask(jobs, MemoryStore(), executor())


def test_a_time_limit_that_is_over_leaves_no_time_but_asks() -> None:
    given: list[float] = []
    job = Note(key="a", performed=[], act=lambda job, _: given.append(job.seconds))
    ask([job], MemoryStore(), executor(), end=Deadline(time.monotonic() - 1))
    assert given == [0.0]


def fail(*_: object) -> None:
    raise ToolFailed("it fell over")


class Tolerant(Events):
    def __init__(self) -> None:
        self.reported: list[str] = []
        self.met: list[str] = []

    def failed(self, job: Job, error: WeakspotError) -> None:
        self.reported.append(f"{job.label}: {error.message}")

    def measured(self, machine: Machine, facts: dict[str, Any]) -> None:
        assert "probes" in facts
        self.met.append(machine.name)


def test_a_tool_that_fails_ends_the_command() -> None:
    with pytest.raises(ToolFailed):
        ask([Note(key="a", performed=[], act=fail)], MemoryStore(), executor())


def test_a_tool_that_fails_is_reported_where_the_others_can_be_asked() -> None:
    store, events = MemoryStore(), Tolerant()
    jobs = [Note(key="a", group="x", performed=[], act=fail), Note(key="b", performed=[])]
    ask(jobs, store, executor(), events=events)
    assert events.reported == ["noting x: it fell over"]
    assert (store.has("a"), store.has("b")) == (False, True)


def test_machines_run_one_after_the_other_and_are_measured_meanwhile() -> None:
    performed: list[list[str]] = []
    jobs = [
        Note(key=f"{machine.name} {number}", on=machine, performed=performed)
        for machine in (LOCAL, OTHER)
        for number in (1, 2)
    ]
    events = Tolerant()
    ask(jobs, MemoryStore(), executor(), events=events)
    assert performed == [["local 1", "local 2"], ["ssh:other 1", "ssh:other 2"]]
    assert events.met == ["local", "ssh:other"]


def lose(job: Note, sink: Sink) -> None:
    sink.answered(job, "lost", final=False)
    raise Lost("the connection broke")


def test_a_lost_machine_is_tried_again_and_the_lost_job_next_time() -> None:
    performed: list[list[str]] = []
    jobs = [
        Note(key="a", on=LOCAL, performed=performed, act=lose),
        Note(key="b", on=LOCAL, performed=performed),
    ]
    store, events = MemoryStore(), Tolerant()
    ask(jobs, store, executor(), events=events)
    assert performed == [["a", "b"], ["b"]]
    assert events.reported == ["noting all: the connection broke"]
    assert (store.has("a"), store.get("a"), store.has("b")) == (False, "lost", True)


def test_a_machine_that_answers_nothing_is_left_alone() -> None:
    performed: list[list[str]] = []
    jobs = [Note(key=key, on=LOCAL, performed=performed, act=fail) for key in "ab"]
    ask(jobs, MemoryStore(), executor(), events=Tolerant())
    assert performed == [["a", "b"]]


def test_another_executor_is_a_class_with_one_method() -> None:
    class Backwards:
        def run(self, jobs: Sequence[Job], to: Any) -> None:
            for job in reversed(jobs):
                to.answered(job, job.key)

    store = MemoryStore()
    ask([Note(key="a", performed=[]), Note(key="b", performed=[])], store, Backwards())
    assert (store.get("a"), store.get("b")) == ("a", "b")


def test_a_folder_holds_the_histogram_of_a_lost_machine_but_asks_again(tmp_path: Path) -> None:
    lost = Histogram(
        test="SB",
        machine="local",
        runner="native",
        histogram=(),
        target=0,
        iterations=0,
        seconds=0.0,
        lost=True,
    )
    with resume_or_create(tmp_path / "campaign", Plan(what=("SB",))) as store:
        held: Store = store
        held.put("t:local", lost, final=False)
        assert (held.has("t:local"), held.count) == (False, 1)
    with resume_or_create(tmp_path / "campaign", Plan(what=("SB",))) as store:
        assert not store.has("t:local")
        store.put("t:local", lost)
        assert store.has("t:local")


# --- answers as they come ---------------------------------------------------------------------


def test_answers_come_one_by_one_as_soon_as_they_are_stored() -> None:
    going = threading.Event()

    def wait(job: Note, _: Sink) -> None:
        assert job.key == "a" or going.wait(10)

    store = IterableStore()
    store.put("known", "before")
    jobs = [Note(key=key, performed=[], act=wait) for key in ("a", "known", "b")]
    found = store.iterate(lambda: ask(jobs, store, executor()))
    assert [next(found), next(found), store.has("b")] == ["before", "answer a", False]
    going.set()
    assert list(found) == ["answer b"]
    assert list(store.iterate(lambda: None)) == ["before", "answer a", "answer b"]


def test_leaving_the_loop_ends_the_work_at_its_next_answer() -> None:
    going = threading.Event()
    began: list[str] = []

    def wait(job: Note, _: Sink) -> None:
        began.append(job.key)
        assert job.key == "a" or going.wait(10)

    store = IterableStore()
    jobs = [Note(key=key, group=key, performed=[], act=wait) for key in "abc"]
    for answer in store.iterate(lambda: ask(jobs, store, executor())):
        assert answer == "answer a"
        break
    going.set()
    store.resume()
    assert began in (["a"], ["a", "b"])
    assert not store.has("c")


def test_the_loop_raises_what_the_work_raises() -> None:
    store = IterableStore()
    jobs = [Note(key="a", performed=[], act=fail)]
    with pytest.raises(ToolFailed):
        list(store.iterate(lambda: ask(jobs, store, executor())))
