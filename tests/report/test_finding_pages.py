"""Every id of a finding has a page, every page an id, and the examples are what weakspot prints.

The Example section of a page holds a program in a `c` or `litmus` block, perhaps a model in a `cat`
block, and a session in a `console` block, which is run. What needs a certain machine or a faulty
tool is in blocks without a language, which are printed from the records below. `pytest
--snapshot-update` promotes what is printed now.
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from examples import entry, histogram, judged, manifest, verdict
from snapshots import steady

from weakspot.errors import BadInput
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded
from weakspot.harness.judge.kinds import KINDS, kind
from weakspot.harness.report import findings, terminal
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.histogram import ControlTest, Count
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import MachineInfo, ModelInfo, Record, StructureInfo

PAGES = Path(__file__).resolve().parents[2] / "docs" / "findings"
#: a block of a page, with its language
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"\$ weakspot (.+)\n")
LOCAL = MachineInfo("local", "x86_64", False)
MODELS = (
    ModelInfo("tso", "x86-TSO", "hardware", ("x86_64",)),
    ModelInfo("rc20", "RC20", "language"),
)


@pytest.mark.parametrize("name", KINDS)
def test_an_id_has_a_page_that_explains_what_why_and_what_to_do(name: str) -> None:
    text = KINDS[name].text
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8").endswith(text)
    assert text.startswith(f"# {name} {KINDS[name].title}\n")
    assert KINDS[name].meaning
    assert KINDS[name].advice.endswith(".")
    for part in ("## What it is", "## Why it matters", "## Example", "## What to do"):
        assert part in text


def test_an_id_is_found_in_any_case_and_a_wrong_one_is_corrected() -> None:
    assert kind("ws201") is KINDS["WS201"]
    with pytest.raises(BadInput, match="unknown finding WS20"):
        kind("WS20")


# --- examples that are printed from records ---------------------------------------------------


def record(**values: object) -> Record:
    """A campaign of these models on this machine, judged."""
    made = Record(manifest=manifest(models=MODELS, machines=(LOCAL,)))
    return judged(msgspec.structs.replace(made, **values))


def claim_not_met() -> Record:
    claim = Claim(
        scenario="litmus",
        where="second program",
        says="release and acquire are enough",
        test="SB+porelacqs",
        verdict={"tso": "Never"},
    )
    structure = StructureInfo(
        name="store_buffering",
        title="Store buffering",
        scenarios=(Scenario("litmus", "litmus.c"),),
        claims=(claim,),
    )
    test = entry(claim.test, structure=structure.name)
    origin = msgspec.structs.replace(
        test.test.origins[0], structure=structure.name, scenario="litmus"
    )
    test = msgspec.structs.replace(test, test=msgspec.structs.replace(test.test, origins=(origin,)))
    return record(
        structures=(structure,),
        entries=(test,),
        verdicts=(verdict(claim.test, "tso", "Sometimes"),),
    )


def failed_on_hardware() -> Record:
    failure = Failure(
        kind="assertion",
        message="popped + stolen == 1",
        count=2513,
        site="mine.c:30",
        values=(Count({"stolen": "1", "popped": "1"}, 2513),),
    )
    run = ProgramRun(
        program="mine.c/mine",
        machine="local",
        runner="native",
        instances=7030,
        overlapped=7030,
        failures=(failure,),
        arch="x86_64",
    )
    return record(runs=(run,))


def seen_and_forbidden() -> Record:
    name = "SB+rfirelacq-poacqacqs"
    return record(
        manifest=manifest(models=(ModelInfo("clr2", "CLR 2.0", "paper"),), machines=(LOCAL,)),
        entries=(entry(name),),
        verdicts=(verdict(name, "clr2", "Never"),),
        histograms=(
            msgspec.structs.replace(
                histogram(name, 21585), iterations=180_000, sites=("forwarding.h:35",)
            ),
        ),
    )


def seen_on_an_emulator() -> Record:
    name = "SB+poscscs"
    qemu = MachineInfo("qemu:aarch64", "aarch64", True)
    return record(
        manifest=manifest(models=MODELS, machines=(qemu,)),
        entries=(entry(name),),
        verdicts=(verdict(name, "rc20", "Never"),),
        histograms=(msgspec.structs.replace(histogram(name, 709, qemu), iterations=180_000),),
    )


def disagreement() -> Record:
    name = "MP+porelrlx+poacqrlx"
    return record(
        entries=(entry(name, "MP"),),
        verdicts=(
            verdict(name, "rc20", "Never", "engine"),
            verdict(name, "rc20", "Sometimes", "herd7"),
        ),
    )


def allowed_but_not_observed() -> Record:
    names = {f"SB+variant{n}": "SB" for n in range(3)} | {"RWC+variant0": "RWC"}
    return record(
        entries=tuple(entry(name, shape) for name, shape in names.items()),
        verdicts=tuple(
            verdict(name, model.name, "Sometimes") for name in names for model in MODELS
        ),
        histograms=tuple(histogram(name, 30 * (shape == "SB")) for name, shape in names.items()),
    )


def failed_control() -> Record:
    control = ControlTest(
        kind="fenced",
        change="all fences",
        target=12,
        target_independent=12,
        iterations=1000,
        wrong="0:r0=0 1:r0=0 12 times",
    )
    counted = msgspec.structs.replace(
        histogram("SB+poscscs", 0),
        runner="native",
        histogram=(),
        iterations=0,
        control_tests=(control,),
    )
    return record(histograms=(counted,))


def missed() -> Record:
    violation = Violation(
        kind="missed",
        message="the explorer has missed a violation that its audit found (assertion: x == 1)",
        sites=("mine.c:30",),
    )
    exploration = Exploration(
        program="mine.c/mine",
        model="rc20",
        result="Violated",
        violations=(violation,),
        complete=3,
        seconds=0.1,
    )
    return record(explorations=(exploration,))


RECORDS: dict[str, tuple[Callable[[], Record], ...]] = {
    "WS001": (claim_not_met,),
    "WS101": (failed_on_hardware,),
    "WS201": (seen_and_forbidden, seen_on_an_emulator),
    "WS401": (disagreement,),
    "WS402": (allowed_but_not_observed,),
    "WS403": (failed_control,),
    "WS404": (missed,),
}


#: what an example needs besides a compiler for this machine
TOOLS = {"WS202": "riscv64-linux-gnu-gcc-12"}


def printed(made: Record, name: str) -> str:
    """The findings of that id, as a terminal shows them."""
    out = io.StringIO()
    found = [each for each in made.findings if each.id == name]
    findings.findings(made, found, terminal.console(out))
    return out.getvalue()


# --- the pages --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_the_example_of_a_page_is_what_is_printed(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    if (tool := TOOLS.get(name)) and not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    monkeypatch.chdir(tmp_path)
    path = PAGES / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    before, heading, example = text.partition("## Example\n")
    example, what_to_do, after = example.partition("## What to do\n")
    records = iter(RECORDS.get(name, ()))

    def block(found: re.Match[str]) -> str:
        language, shown = found[1], found[2]
        if language in ("c", "litmus"):
            (tmp_path / f"mine.{language}").write_text(shown, encoding="utf-8")
        elif language == "cat":
            (tmp_path / "own.cat").write_text(shown, encoding="utf-8")
        elif language == "console":
            command = COMMAND.match(shown)
            assert command
            capsys.readouterr()
            guarded(weakspot, command[1].split())
            shown = command[0] + capsys.readouterr().out
        elif not language:
            shown = printed(next(records)(), name)
        return f"```{language}\n{shown}```"

    now = BLOCK.sub(block, example)
    assert next(records, None) is None, "a record without a block"
    assert now.count("WS"), "an example without a finding"
    if request.config.option.update_snapshots and steady(now) != steady(example):
        path.write_text(f"{before}{heading}{now}{what_to_do}{after}", encoding="utf-8")
    else:
        assert steady(now) == steady(example)
