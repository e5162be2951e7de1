"""Campaigns made of paper: a small one that has everything, and one with many tests."""

from __future__ import annotations

import msgspec

from weakspot.generators.litmus import Atom, Body, Fence, Load, Origin, Site, Store, Test
from weakspot.harness.judge.findings import judge
from weakspot.harness.values.claims import Claim, Scenario, Weakest, WeakestOrder
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.histogram import Count, Histogram
from weakspot.harness.values.record import (
    FORMAT,
    Entry,
    MachineInfo,
    Manifest,
    ModelInfo,
    Plan,
    Record,
    SourceFile,
    StructureInfo,
    digest,
)
from weakspot.harness.values.state import State
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import Execution, WitnessEvent

QUEUE = """\
#include <stdatomic.h>

struct queue {
  atomic_int head, tail;
  atomic_int slot[4];
};

static void push(struct queue *q, int value) {
  int t = atomic_load_explicit(&q->tail, memory_order_relaxed);
  atomic_store_explicit(&q->slot[t & 3], value, memory_order_relaxed);
  atomic_store_explicit(&q->tail, t + 1, memory_order_release);
}

static int pop(struct queue *q) {
  int t = atomic_load_explicit(&q->tail, memory_order_relaxed) - 1;
  atomic_store_explicit(&q->tail, t, memory_order_release);
  if (atomic_load_explicit(&q->head, memory_order_acquire) > t) return 0;
  return atomic_load_explicit(&q->slot[t & 3], memory_order_relaxed);
}

static int steal(struct queue *q) {
  int h = atomic_load_explicit(&q->head, memory_order_relaxed);
  atomic_store_explicit(&q->head, h + 1, memory_order_release);
  if (atomic_load_explicit(&q->tail, memory_order_acquire) <= h) return 0;
  return atomic_load_explicit(&q->slot[h & 3], memory_order_relaxed);
}
"""

MODELS = (
    ModelInfo("sc", "Sequential consistency", "reference"),
    ModelInfo("tso", "x86-TSO", "hardware", ("x86_64",)),
    ModelInfo("rc11", "Repaired C11", "language"),
    ModelInfo("clr2", "CLR 2.0", "paper"),
)
MACHINES = (
    MachineInfo(
        "local",
        "x86_64",
        False,
        {"cpu": "AMD EPYC 7B13", "cores": 2, "smt": True, "hypervisor": "KVM", "governor": None},
    ),
    MachineInfo("qemu:aarch64", "aarch64", True, {"cpu": "cortex-a72", "cores": 2}),
)
STATES: list[State] = [{"0:r0": a, "1:r0": b} for a in "01" for b in "01"]


def _site(line: int, kind: str, order: str, function: str) -> Site:
    return Site("queue.h", line, 3, function, kind, order)


def _event(
    thread: int, label: str, kind: str, order: str, location: str, line: int
) -> WitnessEvent:
    read, written = ("0", "") if kind == "R" else ("", "1")
    return WitnessEvent(thread, label, kind, order, location, read, written, f"queue.h:{line}")


def _test(name: str, shape: str, about: str = "") -> Test:
    origin = Origin(
        structure="work_queue",
        scenario="pop_vs_steal",
        operations=("pop", "steal"),
        sites=(
            (_site(16, "W", "rel", "pop"), _site(17, "R", "acq", "pop")),
            (_site(23, "W", "rel", "steal"), _site(24, "R", "acq", "steal")),
        ),
        locations={"x": "q.tail", "y": "q.head"},
    )
    text = (
        f"C {name}\n{about}{{ }}\n\n"
        "P0 (atomic_int* x, atomic_int* y) {\n"
        "  atomic_store_explicit(x, 1, memory_order_release);\n"
        "  int r0 = atomic_load_explicit(y, memory_order_acquire);\n}\n\n"
        "P1 (atomic_int* x, atomic_int* y) {\n"
        "  atomic_store_explicit(y, 1, memory_order_release);\n"
        "  int r0 = atomic_load_explicit(x, memory_order_acquire);\n}\n\n"
        "exists (0:r0=0 /\\ 1:r0=0)\n"
    )
    body = Body(
        threads=(
            (Store("x", 1, "rel"), Load("r0", "y", "acq")),
            (Store("y", 1, "rel"), Fence("sc"), Load("r0", "x", "acq")),
        ),
        atoms=(Atom(0, "r0", 0), Atom(1, "r0", 0)),
        locations=("x", "y"),
        init={},
        plain=frozenset(),
    )
    cycle = "PodWRRelAcq FreAcqRel FenceScdWRRelAcq FreAcqRel"
    return Test(
        name=name, arch="C", text=text, shape=shape, cycle=cycle, body=body, origins=(origin,)
    )


def entry(name: str, shape: str = "SB", structure: str = "work_queue", about: str = "") -> Entry:
    test = _test(name, shape, about)
    return Entry(
        test=test,
        structures=(structure,),
        models=tuple(model.name for model in MODELS),
        digest=digest(test.text),
        file=f"{name}.litmus",
    )


def verdict(test: str, model: str, observation: str, checker: str = "herd7") -> Verdict:
    seen = {"Never": STATES[1:], "Sometimes": STATES, "Always": STATES[:1]}.get(observation, ())
    return Verdict(
        test=test,
        model=model,
        checker=checker,
        observation=observation,  # type: ignore[arg-type]
        condition_holds=None if observation == "Unknown" else observation != "Never",
        states=tuple(seen) if checker != "cbmc" else (),
        seconds=0.01,
        condition="exists (0:r0=0 /\\ 1:r0=0)",
        witnesses=(1, 3) if observation == "Sometimes" else (0, 3),
        reason="time limit of 20 s" if observation == "Unknown" else "",
    )


def histogram(test: str, target: int, machine: MachineInfo = MACHINES[0]) -> Histogram:
    total = 12_000_000
    counts = (target, 5_400_123, 5_599_877, total - target - 11_000_000)
    return Histogram(
        test=test,
        machine=machine.name,
        runner="litmus7",
        histogram=tuple(Count(s, c) for s, c in zip(STATES, counts, strict=True) if c),
        target=target,
        iterations=total,
        seconds=1.0,
        condition="exists (0:r0=0 /\\ 1:r0=0)",
        arch=machine.arch,
        emulated=machine.emulated,
    )


def judged(record: Record) -> Record:
    return msgspec.structs.replace(record, findings=judge(record))


def manifest(**changes: object) -> Manifest:
    plan = Plan(what=("work_queue",), checkers=("herd7", "cbmc"), machines=("local",))
    made = Manifest(
        format=FORMAT,
        weakspot="0.1.0",
        plan=plan,
        started="2026-11-21T14:02:00+0100",
        finished="2026-11-21T14:04:10+0100",
        tools={"herd7": "7.58", "cbmc": "6.4.1", "litmus7": "7.58", "compiler": "clang 21.1.0"},
        models=MODELS,
        machines=MACHINES,
    )
    return msgspec.structs.replace(made, **changes)


#: two thieves read one head, and both take what it points at
TAKEN_TWICE = Violation(
    kind="assertion",
    message="assertion `taken == 1` fails",
    sites=("queue.h:22",),
    test="SB+rel-acqs",
    witness=Execution(
        functions=("main", "first_thief", "second_thief"),
        events=(
            WitnessEvent(None, "", "W", location="q.head", written="0"),
            _event(1, "a", "R", "acq", "q.head", 22),
            _event(1, "b", "W", "rel", "q.head", 23),
            _event(2, "c", "R", "acq", "q.head", 22),
            _event(2, "d", "W", "rel", "q.head", 23),
        ),
        rf=((0, 1), (0, 3)),
        co=((0, 2), (2, 4)),
        fr=((1, 2), (3, 2)),
        cycle=((3, 2, "fr"), (2, 4, "co"), (4, 3, "po")),
    ),
)


def small() -> Record:
    """A work queue whose pop lacks its fence: known to its author, believed by nobody else."""
    names = {
        "SB+rel-acqs": "SB",
        "SB+rel-fencesc-acqs": "SB",
        "MP+rel+acq": "MP",
        "MP+rlx+acq": "MP",
        "LB+acq-rels": "LB",
        "S+rel+acq-rlx": "S",
        "2+2W+rels": "2+2W",
    }
    weak = {"SB+rel-acqs": ("tso", "rc11"), "MP+rlx+acq": ("rc11",), "2+2W+rels": ("rc11",)}
    verdicts = [
        verdict(name, model.name, "Sometimes" if model.name in weak.get(name, ()) else "Never")
        for name in names
        for model in MODELS
    ]
    verdicts += [verdict(name, "sc", "Never", "cbmc") for name in names]
    verdicts += [verdict("MP+rlx+acq", "tso", "Sometimes", "cbmc")]
    structure = StructureInfo(
        name="work_queue",
        title="A work-stealing queue",
        source="a weblog, part 1",
        models=tuple(model.name for model in MODELS),
        scenarios=(
            Scenario(
                "pop_vs_steal", "pop_vs_steal.c", (), about="owner and thief at the last element"
            ),
            Scenario(
                "push_vs_steal", "push_vs_steal.c", (), about="the thief reads what was pushed"
            ),
            Scenario("two_thieves", "two_thieves.c", ("THIEVES=2",), about="two thieves, no lock"),
        ),
        claims=(
            Claim(
                scenario="pop_vs_steal",
                where="part 1, on the exchange in LocalPop",
                says="without the full fence owner and thief may both take the last element",
                test="SB+rel-acqs",
                verdict={"sc": "Never", "tso": "Sometimes", "rc11": "Sometimes", "clr2": "Never"},
                seen=("x86_64",),
            ),
            Claim(
                scenario="push_vs_steal",
                where="part 2",
                says="a thief never reads a slot before the pushed value is visible",
                test="MP+rel+acq",
                verdict={"sc": "Never", "tso": "Never", "rc11": "Never"},
            ),
            Claim(
                scenario="two_thieves",
                where="part 1",
                says="thieves need the lock",
                explored={"sc": "Violated: assertion", "rc11": "Violated: assertion"},
            ),
        ),
        weakest=(
            Weakest(
                model="rc11",
                scenarios=("push_vs_steal",),
                orders=(
                    WeakestOrder(
                        at="queue.h:16:5",
                        operation="store",
                        function="push",
                        written="sc",
                        weakest=("rel",),
                        why=("rlx: race in push_vs_steal, MP+rlx+acq",),
                    ),
                ),
            ),
        ),
    )
    return judged(
        Record(
            manifest=manifest(notes=("cbmc does not read 1 of the tests",)),
            structures=(structure,),
            entries=tuple(entry(name, shape) for name, shape in names.items()),
            sources=(SourceFile("work_queue", "queue.h", QUEUE),),
            verdicts=tuple(verdicts),
            explorations=(
                Exploration(
                    program="work_queue/pop_vs_steal", model="sc", result="Safe", complete=812
                ),
                Exploration(
                    program="work_queue/push_vs_steal", model="sc", result="Safe", complete=70
                ),
                *(
                    Exploration(
                        program="work_queue/two_thieves",
                        model=model,
                        result="Violated",
                        complete=322,
                        blocked=4,
                        seconds=0.2,
                        violations=(TAKEN_TWICE,),
                    )
                    for model in ("sc", "rc11")
                ),
            ),
            histograms=(
                *(histogram(name, 4021 if name == "SB+rel-acqs" else 0) for name in names),
                histogram("SB+rel-acqs", 12, MACHINES[1]),
            ),
        )
    )


def large(count: int) -> Record:
    """Many tests in many structures."""
    shapes = ("SB", "MP", "LB", "S", "R", "2+2W", "WRC", "IRIW")
    names = [f"{shapes[at % 8]}+variant{at:05}" for at in range(count)]
    structures = [f"structure_{at:02}" for at in range(20)]
    return judged(
        Record(
            manifest=manifest(),
            structures=tuple(
                StructureInfo(name=name, title=name, models=("sc", "tso", "rc11", "clr2"))
                for name in structures
            ),
            entries=tuple(
                entry(name, name.partition("+")[0], structures[at % 20])
                for at, name in enumerate(names)
            ),
            sources=(SourceFile("work_queue", "queue.h", QUEUE),),
            verdicts=tuple(
                verdict(name, model.name, "Sometimes" if (at + m) % 3 else "Never")
                for at, name in enumerate(names)
                for m, model in enumerate(MODELS)
            ),
            histograms=tuple(histogram(name, at % 5) for at, name in enumerate(names)),
        )
    )
