"""One new file adds a checker, runner, kind of machine or object, compiler, output, page or
instruction set.

The files here belong to another distribution, which declares them by entry points; a file in the
folder of its kind is found in the same way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.errors import BadInput, ToolFailed
from weakspot.generators.binary.isa import ISAS
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.clients.kinds import KINDS as OBJECT_KINDS
from weakspot.harness.machines import KINDS
from weakspot.harness.report.outputs import OUTPUTS
from weakspot.harness.report.site.pages import PAGES
from weakspot.harness.runners import RUNNERS
from weakspot.system.compilers import FAMILIES
from weakspot.system.registry import Registry
from weakspot.system.tools import Tool

ROOT = Path(__file__).resolve().parents[2]
REGISTRIES = (CHECKERS, RUNNERS, KINDS, FAMILIES, OUTPUTS, PAGES, OBJECT_KINDS, ISAS)

CHECKER = """\
import msgspec
from weakspot.harness.values.verdict import Verdict
from weakspot.system.tools import Program, Requirement, Tool

ORACLE = Program("oracle", lost="the oracle's opinion", advice="climb to Delphi")

class Pythia(msgspec.Struct, frozen=True):
    name: str = "pythia"
    rank: int = 100
    requires: tuple[Requirement, ...] = (ORACLE,)
    explains: bool = False

    def available(self):
        return Tool("oracle", "/delphi/oracle", "PATH", ORACLE)

    def applicable(self, test, model):
        return ""

    def check(self, tests, model, *, seconds, done):
        for test in tests:
            done(Verdict(test=test.name, model=model.name, checker=self.name,
                         observation="Sometimes", condition_holds=True))

CHECKER = Pythia()
"""
RUNNER = """\
import msgspec
from weakspot.harness.runners import not_run
from weakspot.system.tools import Program

class Tortoise(msgspec.Struct, frozen=True):
    name: str = "tortoise"
    rank: int = 100
    requires: tuple[Program, ...] = (Program("shell", lost="slow runs", advice="be patient"),)
    whole_programs: bool = False

    def available(self, machine):
        return ""

    def run(self, tests, machine, *, seconds, done, end):
        for test in tests:
            done(not_run(test, machine, self.name, "it has not arrived yet"))

RUNNER = Tortoise()
"""
MACHINE = """\
import contextlib
import msgspec
from weakspot.harness.machines import Machine
from weakspot.system.tools import Program

class Abacus(msgspec.Struct, frozen=True):
    name: str = "abacus"
    rank: int = 100
    form: str = "abacus:BEADS"
    requires: tuple[Program, ...] = (Program("beads", lost="runs on beads", advice="string some"),)
    elsewhere: bool = False

    def accepts(self, rest):
        return rest.isdecimal()

    def machines(self):
        return "abacus:BEADS for every number of beads"

    def machine(self, rest):
        return Machine(name=f"abacus:{rest}", arch="toy64", cores=int(rest), kind=self.name)

    def opened(self, machine):
        return contextlib.nullcontext()

KIND = Abacus()
"""
COMPILER = """\
import msgspec
from weakspot.system.compilers import Compiler, zig
from weakspot.system.tools import Program

class Tcc(msgspec.Struct, frozen=True):
    name: str = "toycc"
    rank: int = 100
    requires: tuple[Program, ...] = (Program("toycc", lost="toy code", advice="write one"),)

    def installed(self, platforms):
        like = zig.FAMILY.installed(platforms)[0]
        return [Compiler("toycc-7", self.name, like.commands)]

    def needed(self, triple, language, *, native):
        return None

    def driver(self, triple, language, *, native):
        return None

FAMILY = Tcc()
"""
OUTPUT = """\
from weakspot.harness.report.outputs import File

def telegram(outcome):
    return f"{len(outcome.scenarios)} SCENARIOS STOP".encode()

OUTPUT = File("telegram", 100, "Write a telegram.", telegram)
"""
OBJECT = """\
from pathlib import Path
from weakspot.harness.clients.kinds import Kind, KindOperation

KIND = Kind(
    name="latch", rank=100, header=Path(__file__).with_suffix(".h"),
    operations=(KindOperation("count_down", "arrive"), KindOperation("is_open", "try_wait")),
)
"""
LATCH = """\
static long weakspot_left = 2;
static long weakspot_count_down(void) { return --weakspot_left; }
static long weakspot_is_open(void) { return weakspot_left <= 0; }
"""
PAGE = """\
from weakspot.harness.report.site.pages import Page

def write(writer):
    path = writer.folder / "report" / "postcards" / "greetings.html"
    path.write_text(f"greetings from {len(writer.site.record.entries)} tests")

PAGE = Page("postcard", 100, "postcards", write)
"""
ISA = """\
from weakspot.generators.binary.isa import InstructionSet

ISA = InstructionSet(
    name="toy64", rank=100, title="Toy", dialect="TOY", triple="toy64-linux-gnu", backend="toy"
)
"""
FILES = {
    "checker": CHECKER,
    "runner": RUNNER,
    "machine kind": MACHINE,
    "compiler": COMPILER,
    "output": OUTPUT,
    "object kind": OBJECT,
    "page": PAGE,
    "instruction set": ISA,
}

SB = """\
C SB
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\\ 1:r0=0)
"""

Weakspot = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def weakspot(tmp_path: Path) -> Weakspot:
    """The command line, where another distribution declares one implementation of each kind."""
    outside = tmp_path / "outside"
    (outside / "toys").mkdir(parents=True)
    (outside / "toys" / "__init__.py").touch()
    points = []
    for registry in REGISTRIES:
        module = registry.kind.replace(" ", "_")
        (outside / "toys" / f"{module}.py").write_text(FILES[registry.kind])
        points += [f"[{registry.group}]", f"toy = toys.{module}:{registry.constant}"]
    (outside / "toys" / "object_kind.h").write_text(LATCH)
    info = outside / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / "SB.litmus").write_text(SB)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from weakspot.harness.cli import main; main()", *arguments],
            cwd=work,
            env={**os.environ, "PYTHONPATH": str(outside)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_checker_from_outside_answers(weakspot: Weakspot) -> None:
    asked = weakspot("check", "SB.litmus", "-m", "sc", "--checker", "pythia", "--json")
    verdict = json.loads(asked.stdout)
    assert (verdict["checker"], verdict["observation"]) == ("pythia", "Sometimes")
    assert "|pythia|all]" in weakspot("check", "--help").stdout


def test_a_runner_from_outside_runs_on_a_machine_from_outside(weakspot: Weakspot) -> None:
    ran = weakspot("run", "SB.litmus", "--runner", "tortoise", "--on", "abacus:12", "--json")
    histogram = json.loads(ran.stdout)
    assert (histogram["runner"], histogram["machine"]) == ("tortoise", "abacus:12")
    assert "it has not arrived yet" in histogram["reason"]
    assert "abacus:BEADS" in weakspot("run", "--help").stdout
    assert "abacus:BEADS" in weakspot("run", "SB.litmus", "--on", "abacus").stderr


def test_a_compiler_from_outside_is_a_configuration(weakspot: Weakspot) -> None:
    compared = weakspot("check", "SB.litmus", "--compiled", "toycc,O2,x86", "--json")
    assert json.loads(compared.stdout)["builds"] == ["toycc-7 -O2"], compared.stderr


def test_an_output_from_outside_is_an_option_of_the_gate(
    weakspot: Weakspot, tmp_path: Path
) -> None:
    weakspot("gate", "SB.litmus", "--telegram", "news.txt")
    assert (tmp_path / "work" / "news.txt").read_text().endswith("SCENARIOS STOP")
    assert "--telegram FILE" in weakspot("gate", "--help").stdout


def test_a_kind_of_object_from_outside_is_one_to_behave_as(
    weakspot: Weakspot, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    arrivals = {
        "right": "atomic_fetch_sub(&left, 1);",
        "wrong": "int value = atomic_load(&left); atomic_store(&left, value - 1);",
    }
    for name, arrival in arrivals.items():
        (work / f"{name}.c").write_text(f"""\
#include <stdatomic.h>
static atomic_int left = 2;
void arrive(void) {{ {arrival} }}
int try_wait(void) {{ return atomic_load(&left) <= 0; }}
""")
    held = json.loads(weakspot("linearize", "right.c", "--as", "latch", "--json").stdout)
    assert (held["specification"], held["result"]) == ("latch", "Held")
    lost = json.loads(weakspot("linearize", "wrong.c", "--as", "latch", "--json").stdout)
    assert lost["result"] == "Violated"
    assert "lock, once or latch; which function" in weakspot("linearize", "--help").stdout


def test_a_page_from_outside_is_a_part_of_the_site(weakspot: Weakspot, tmp_path: Path) -> None:
    weakspot("test", "SB.litmus", "-m", "sc", "-c", "engine", "--for", "0", "-o", "campaign")
    page = tmp_path / "work" / "campaign" / "report" / "postcards" / "greetings.html"
    assert page.read_text() == "greetings from 1 tests"


def test_an_instruction_set_from_outside_is_one_that_qemu_may_emulate(weakspot: Weakspot) -> None:
    assert "qemu:toy64" in weakspot("run", "SB.litmus", "--on", "mars").stderr
    assert "qemu-toy64 not installed" in weakspot("run", "SB.litmus", "--on", "qemu:toy64").stderr


def test_doctor_reports_what_each_needs(weakspot: Weakspot) -> None:
    lines = {
        line["name"]: line
        for line in map(json.loads, weakspot("doctor", "--quick", "--json").stdout.splitlines())
    }
    assert lines["oracle"]["lost"] == "the oracle's opinion"
    assert lines["oracle"]["advice"] == "climb to Delphi"
    assert {"shell", "beads", "toycc", "qemu-toy64", "toy64-linux-gnu-gcc"} <= lines.keys()


def test_an_extension_that_cannot_be_loaded_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[weakspot.checkers]\nbroken = no.such.module:X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry: Registry[Engine] = Registry(
        "checker", CHECKERS.package, CHECKERS.constant, others=CHECKERS.others
    )
    with pytest.raises(ToolFailed, match=r"the checker broken .* cannot be loaded"):
        registry.names()
    assert registry.get("engine").name == "engine"


def test_a_name_that_none_has_is_bad_input_that_lists_the_names() -> None:
    with pytest.raises(BadInput) as caught:
        RUNNERS.get("hare")
    assert caught.value.advice == "known: native, litmus7"


def test_an_extension_added_in_this_process_is_found() -> None:
    class Twin(Engine, frozen=True):
        name: str = "twin"
        rank: int = 9

        def available(self) -> Tool | None:
            return None

    CHECKERS.add(Twin())
    try:
        assert CHECKERS.names()[-1] == "twin"
    finally:
        CHECKERS.remove("twin")
    assert CHECKERS.find("twin") is None


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_the_documentation_names_the_file_and_what_it_defines(registry: Registry[Engine]) -> None:
    text = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
    folder = registry.package.removeprefix("weakspot.").replace(".", "/")
    folder = folder if (ROOT / folder).is_dir() else f"weakspot/{folder}"
    row = f"| {registry.kind} | `{folder}/NAME.py` | `{registry.constant}` | `{registry.group}` |"
    assert row in text
