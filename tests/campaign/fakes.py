"""Small stand-ins for a campaign's tools; each keeps its protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import ToolFailed
from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.litmus import Origin, Site, Test
from weakspot.generators.pipeline import Generated, NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.checkers.explorer import UNOBSERVED, Course
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.machines import Machine
from weakspot.harness.runners.steadiness import SteadinessProbe
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Count, Histogram
from weakspot.harness.values.verdict import Verdict
from weakspot.system import tools
from weakspot.system.deadline import NEVER, Deadline
from weakspot.system.tools import Tool

CLAIMS = """\
title = "Two flags"
source = "a book, page 1"
models = ["sc", "tso"]

[[scenario]]
name = "both"
file = "both.c"
about = "each thread raises its flag and looks at the other"

[[claim]]
scenario = "both"
where = "page 1"
says = "both may miss each other"
test = "SB"
verdict = { sc = "Never", tso = "Sometimes" }
"""


def make_test(name: str, structure: str = "flags", value: int = 0, line: int = 3) -> Test:
    """A store-buffering test; `value` makes its content differ, `line` only its description."""
    site = Site("both.c", line, 1, "left", "W", "rlx")
    text = (
        f"C {name}\nOrigin={structure}/both both.c:{line}\n{{ }}\n"
        "P0 (atomic_int* x, atomic_int* y) {\n"
        "  atomic_store_explicit(x, 1, memory_order_relaxed);\n"
        "  int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\n"
        "P1 (atomic_int* x, atomic_int* y) {\n"
        "  atomic_store_explicit(y, 1, memory_order_relaxed);\n"
        "  int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\n"
        f"exists (0:r0={value} /\\ 1:r0=0)\n"
    )
    origin = Origin(structure, "both", ("left", "right"), ((site,), (site,)), {"x": "a", "y": "b"})
    return Test(name=name, arch="C", text=text, shape="SB", origins=(origin,))


def make_structure(folder: Path, claims: str = CLAIMS) -> Path:
    """A corpus of one structure, flags; the folder that holds it."""
    flags = folder / "flags"
    flags.mkdir(parents=True)
    (flags / "claims.toml").write_text(claims)
    (flags / "both.c").write_text("int main(void) {\n  return 0;\n}\n")
    return folder


class FakeChecker:
    """Answers Never under sc and Sometimes elsewhere; counts what it is asked."""

    rank, requires, explains = 0, (), False

    def __init__(self, name: str = "fake", *, stop_after: int | None = None) -> None:
        self.name = name
        self.version = "1.0"
        self.installed = True
        self.stop_after = stop_after
        self.asked: list[tuple[str, str]] = []
        self.fails_under = ""
        self.takes = 0.0
        self.answers: dict[tuple[str, str], str] = {}

    def available(self) -> Tool | None:
        if not self.installed:
            return None
        return FakeTool(self.name, self.name, "PATH", tools.Program(self.name), self.version)

    def applicable(self, test: Test, model: Model) -> str:  # noqa: ARG002
        return "" if test.arch == "C" else f"{self.name} does not read {test.arch}"

    def check(
        self,
        tests: Sequence[Test],
        model: Model,
        *,
        seconds: float,  # noqa: ARG002
        done: Callable[[Verdict], None],
    ) -> None:
        if self.fails_under == model.name:
            raise ToolFailed("it fell over")
        for test in tests:
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise KeyboardInterrupt
            self.asked.append((test.name, model.name))
            usual = "Never" if model.name == "sc" else "Sometimes"
            observation = self.answers.get((test.name, model.name), usual)
            done(
                Verdict(
                    test=test.name,
                    model=model.name,
                    checker=self.name,
                    observation=observation,  # type: ignore[arg-type]
                    condition_holds=observation != "Never",
                    seconds=self.takes,
                )
            )


class FakeTool(Tool, frozen=True):
    stated: str = ""

    @property
    def version(self) -> str | None:
        return self.stated


class FakeMachine(msgspec.Struct, frozen=True):
    name: str = "local"
    arch: str = "x86_64"
    emulated: bool = False

    @property
    def key(self) -> str:
        return self.name


class FakeRunner:
    """Sees every outcome `target` times."""

    name = "fake-runner"
    rank, requires, whole_programs = 0, (), True

    def __init__(self, target: int = 7) -> None:
        self.target = target
        self.ran: list[str] = []

    def available(self, machine: Machine) -> str:  # noqa: ARG002
        return ""

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline = NEVER,  # noqa: ARG002
    ) -> None:
        for test in tests:
            self.ran.append(test.name)
            weak = Count({"0:r0": "0", "1:r0": "0"}, self.target)
            done(
                Histogram(
                    test=test.name,
                    machine=machine.name,
                    runner=self.name,
                    arch=machine.arch,
                    histogram=(weak, Count({"0:r0": "1", "1:r0": "1"}, 1000 - self.target)),
                    target=self.target,
                    iterations=1000,
                    seconds=seconds,
                )
            )


def paper(name: str = "both", sites: Sequence[Site] = ()) -> Program:
    """A program that nobody compiled; another name, another program."""
    return Program(
        source=Path(f"{name}.c"),
        files={},
        compiler="clang 0",
        digest=f"{name}-digest",
        sites=tuple(sites),
        lowered=None,  # type: ignore[arg-type]
    )


def generated(tests: Sequence[Test], name: str = "both") -> Generated:
    return Generated(
        program=paper(name),
        tests=tuple(tests),
        interleavings=6,
        exhaustive=True,
        how="",
        bounded=(),
        habits=Habits(),
    )


class FakeExplorer:
    """Finds every program safe but under the models configured otherwise; counts what it is
    asked."""

    version = "1.0"

    def __init__(self, *, stop_after: int | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.refused: dict[str, str] = {}
        self.answers: dict[str, Exploration] = {}
        self.stop_after = stop_after

    on_one_core = None

    def applicable(self, model: Model) -> str:
        return self.refused.get(model.name, "")

    def explore(
        self,
        program: NamedProgram,
        model: Model,
        bounds: Bounds,  # noqa: ARG002
        course: Course = UNOBSERVED,
    ) -> Exploration:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        name = f"{program.structure}/{program.scenario}"
        self.asked.append((name, model.name))
        if course.done is not None:
            course.done(4, None)
        found = Exploration(
            program=name, model=model.name, result="Safe", complete=6, blocked=1, seconds=0.1
        )
        return self.answers.get(model.name, found)


def make_tools(
    corpus: Path,
    checker: FakeChecker,
    runner: FakeRunner | None = None,
    tests: Sequence[Test] = (make_test("SB"), make_test("SB+b")),
    models: Path | None = None,
    explorer: FakeExplorer | None = None,
) -> Tools:
    """Tools that know one checker, one runner and the models sc and tso."""

    def model(name: str) -> Model:
        file = str((models or corpus) / f"{name}.cat")
        machines = ("x86_64",) if name == "tso" else ()
        role: Literal["reference", "hardware"] = "reference" if name == "sc" else "hardware"
        return Model(name=name, file=file, title=name, role=role, machines=machines)

    def generator(structure: Structure, scenario: Scenario) -> Generated:  # noqa: ARG001
        return generated(tests)

    return Tools(
        checker=lambda _: checker,
        runner=lambda _: runner or FakeRunner(),
        machine=lambda name: FakeMachine(name),  # type: ignore[arg-type, return-value]
        profile=lambda _: {"cpu": "made of paper"},
        gauge=lambda _: nullcontext(SteadinessProbe()),
        model=model,
        generator=generator,
        explorer=explorer or FakeExplorer(),
        corpus=corpus,
    )
