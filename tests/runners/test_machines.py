"""Machines by ssh and by qemu: they run what was compiled here, say what they are, and when they
die only what they were doing is lost."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from litmus_texts import FENCE, sb
from says import assert_runs_as_here, program
from sshd import HOST, Sshd, made_key, started

from weakspot.errors import Unsupported
from weakspot.generators.emit.native import native_source
from weakspot.generators.litmus import Test
from weakspot.harness import machines
from weakspot.harness.campaign import folder_run
from weakspot.harness.campaign.known_machines import known, probe
from weakspot.harness.campaign.tools import Tools, installed
from weakspot.harness.judge.findings import exit_code, undecided
from weakspot.harness.machines import Lost, Machine, NamedMachine, compilers, local
from weakspot.harness.machines.profile import profile
from weakspot.harness.machines.qemu import architectures
from weakspot.harness.runners import Runner
from weakspot.harness.runners.litmus7 import Litmus7
from weakspot.harness.runners.native import Native
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import Plan
from weakspot.system import tools
from weakspot.system.deadline import NEVER, Deadline
from weakspot.system.processors import cores
from weakspot.system.tools import Program, Tool

Need = Callable[[str], Tool]
pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    (folder := tmp_path / "sshd").mkdir()
    there = started(folder, monkeypatch)
    try:
        yield there
    finally:
        there.stop()


def ran(runner: Runner, machine: Machine, seconds: float = 0.5) -> dict[str, Histogram]:
    found: list[Histogram] = []
    runner.run([sb(), sb("SB+fences", FENCE)], machine, seconds=seconds, done=found.append)
    return {histogram.test: histogram for histogram in found}


def test_a_host_of_the_users_ssh_configuration_is_a_machine(sshd: Sshd, need: Need) -> None:
    need("gcc")
    machine = machines.resolve(f"ssh:{HOST}")
    assert (machine.name, machine.arch) == (f"ssh:{HOST}", local.arch())
    assert machine.cores == cores()
    assert not machine.emulated
    histograms = ran(Native(), machine)
    for histogram in histograms.values():
        assert histogram.reason == ""
        assert histogram.machine == machine.name
        assert histogram.iterations > 0
        assert histogram.control_tests[0].iterations > 0
    assert histograms["SB+fences"].target == 0
    assert sshd.folders() == []


def test_a_host_is_probed_under_the_name_that_the_project_gives_it(
    sshd: Sshd, tmp_path: Path
) -> None:
    """It is this computer, and is recognised as such."""
    named = {"pi": NamedMachine(address=f"ssh:{HOST}", cores=1)}
    reported: list[str] = []
    assert probe(("pi", "local"), tmp_path, named, reported.append) == {}
    assert sorted(reported) == ["local", "pi"]
    found = known(tmp_path, named)
    assert all(each.reached and each.profile["clock_error"] == 0.0 for each in found)
    if profile(local.machine()).identity:
        assert [(each.name, each.aliases) for each in found] == [("local", ("pi",))]
    machine = machines.resolve("pi", named)
    assert (machine.name, machine.cores, machine.key) == ("pi", 1, "pi cores=1")
    sshd.stop()
    assert isinstance(probe(("pi",), tmp_path, named, reported.append)["pi"], Lost)
    assert sshd.folders() == []


def test_litmus7_runs_on_a_host_too(sshd: Sshd, need: Need) -> None:
    for tool in ("litmus7", "gcc", "make"):
        need(tool)
    histograms = ran(Litmus7(), machines.resolve(f"ssh:{HOST}"))
    assert all(each.iterations and not each.reason for each in histograms.values())
    assert histograms["SB+fences"].target == 0
    assert sshd.folders() == []


def test_a_program_runs_there_as_it_would_here(sshd: Sshd, tmp_path: Path) -> None:
    assert_runs_as_here(machines.resolve(f"ssh:{HOST}"), tmp_path)
    assert len(sshd.folders()) == 0


def test_output_of_a_users_shell_at_login_is_ignored(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = sshd.folder / "chatty"
    wrapper.mkdir()
    (wrapper / "ssh").write_text(
        f"#!/bin/sh\necho Welcome\nprintf 'no end of line'\nexec {sshd.folder}/bin/ssh \"$@\"\n"
    )
    (wrapper / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper}:{os.environ['PATH']}")
    assert machines.resolve(f"ssh:{HOST}").arch == local.arch()


def test_the_folder_over_there_goes_when_weakspot_is_killed(sshd: Sshd) -> None:
    with machines.opened(machines.resolve(f"ssh:{HOST}")) as at:
        assert at.shell("pwd").out.strip() == str(sshd.folders()[0])
        at._child.kill()  # type: ignore[attr-defined]
        until = time.monotonic() + 10
        while sshd.folders() and time.monotonic() < until:
            time.sleep(0.05)
    assert sshd.folders() == []


@pytest.mark.parametrize(
    ("change", "message", "advice"),
    [
        (("user_key", "another_key"), "Permission denied", "ssh-add"),
        (("known_hosts", "nobody"), "Host key verification failed", "confirm the host's key"),
        (("127.0.0.1", "no.such.host.invalid"), "Could not resolve", "~/.ssh/config"),
        (("Port ", "Port 1\n  #"), "Connection refused", f"ssh {HOST} true"),
    ],
)
def test_an_unreachable_host_is_an_error_with_advice(
    sshd: Sshd, change: tuple[str, str], message: str, advice: str
) -> None:
    """Nothing waits for a person to answer a question."""
    made_key(sshd.folder / "another_key")
    config = sshd.folder / "ssh_config"
    config.write_text(config.read_text().replace(*change))
    begin = time.monotonic()
    with pytest.raises(Lost) as caught:
        machines.resolve(f"ssh:{HOST}")
    assert time.monotonic() - begin < 30
    assert f"ssh:{HOST} cannot be reached: " in caught.value.message
    assert message in caught.value.message
    assert advice in (caught.value.advice or "")


def test_a_host_of_another_kind_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    """An s390x, as its uname says."""
    (other := tmp_path / "other").mkdir()
    (other / "uname").write_text("#!/bin/sh\n[ $1 = -s ] && echo Linux || echo s390x\n")
    (other / "uname").chmod(0o755)
    config = sshd.folder / "sshd_config"
    config.write_text(config.read_text().replace("SetEnv ", f"SetEnv PATH={other}:/usr/bin:/bin "))
    sshd.stop()
    sshd.start()
    with pytest.raises(Unsupported, match="it is Linux on s390x"):
        machines.resolve(f"ssh:{HOST}")


def test_a_machine_that_dies_is_lost_and_what_it_ran_is_reported(sshd: Sshd, need: Need) -> None:
    need("gcc")
    machine = machines.resolve(f"ssh:{HOST}")
    found: list[Histogram] = []

    def done(histogram: Histogram) -> None:
        found.append(histogram)
        sshd.stop()

    tests = [sb("a"), sb("b"), sb("c")]
    with pytest.raises(Lost, match=f"ssh:{HOST} is lost"):
        Native().run(tests, machine, seconds=0.3, done=done)
    assert [(each.test, each.lost) for each in found] == [("a", False), ("b", True)]
    assert found[0].iterations > 0
    assert f"ssh:{HOST} is lost" in found[1].reason


# --- emulated machines, and compilers ---------------------------------------------------------


@pytest.mark.parametrize("arch", architectures())
def test_emulated_machines_run_tests_and_say_what_they_are(arch: str, need: Need) -> None:
    need(f"qemu-{arch}")
    machine = machines.resolve(f"qemu:{arch}")
    if why := Native().available(machine):
        pytest.skip(why)
    histograms = ran(Native(), machine, 1.0)
    for histogram in histograms.values():
        assert histogram.reason == ""
        assert (histogram.machine, histogram.arch) == (f"qemu:{arch}", arch)
        assert histogram.emulated
        assert histogram.iterations > 0
    assert histograms["SB+fences"].target == 0


@pytest.mark.parametrize(
    "arch",  # zig makes the C library of each first, which takes minutes
    [pytest.param(each, marks=pytest.mark.full) for each in ("x86_64", *architectures())],
)
def test_zig_makes_programs_where_no_other_compiler_is(
    arch: str, need: Need, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("zig")
    find = tools.find
    monkeypatch.setattr(tools, "find", lambda what: None if "gcc" in what.name else find(what))
    machine = machines.resolve("local" if arch == local.arch() else f"qemu:{arch}")
    assert compilers.require(machine).stated.startswith("zig ")
    if machine.emulator and find(machine.emulator) is None:
        pytest.skip(f"{machine.emulator.name} not installed")
    with machines.opened(machine) as at:
        assert at.run(program(machine, tmp_path), ["x"], seconds=10).out == "[x]"


# --- machines that lie ------------------------------------------------------------------------

MISCOUNTS = """\
import subprocess, sys
moved = 0
for line in subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout.splitlines():
    match line.split():
        case ["state", count, *values] if not moved and values != ["0", "0"] and int(count) > 1:
            moved = 1
            print("state", int(count) - moved, *values)
            print("state", moved, "0 0")
        case ["total", iterations, hits, independent, *rest]:
            print("total", iterations, int(hits) + moved * HITS, independent, *rest)
            moved = 0
        case _:
            print(line)
"""
FORGETS = """\
import re, subprocess, sys
code = subprocess.run(["REAL", *sys.argv[1:]]).returncode
if "-S" in sys.argv[1:] and code == 0:
    made = sys.argv[sys.argv.index("-o") + 1]
    text = open(made).read()
    open(made, "w").write(re.sub(r"\\n\\s+(lock or|mfence|dmb).*", "", text))
sys.exit(code)
"""


def script(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_machine_that_miscounts_is_not_believed(
    here: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One instance in each slice is counted as another outcome than it had."""
    script(tmp_path, "miscounts", MISCOUNTS.replace("HITS", "False"), monkeypatch)
    liar = msgspec.structs.replace(here, emulator=Program("miscounts"))
    assert "hits are not those of the condition" in ran(Native(), liar)["SB"].reason


@pytest.mark.parametrize("lie", ["its counts are wrong throughout", "its fences do nothing"])
def test_a_lying_machine_fails_its_control_tests_and_the_campaign(
    here: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    if lie == "its fences do nothing":
        if here.cores < 2:
            pytest.skip("one processor needs no fences")
        real = compilers.require(here).command[0]
        script(tmp_path, "gcc", FORGETS.replace("REAL", real), monkeypatch)
        liar = here
    else:
        script(tmp_path, "miscounts", MISCOUNTS.replace("HITS", "True"), monkeypatch)
        liar = msgspec.structs.replace(here, emulator=Program("miscounts"))
    tools = msgspec.structs.replace(installed(), machine=lambda _: liar)
    plan = three_tests(tmp_path, "local")
    record = folder_run.run(plan, folder=tmp_path / "campaign", tools=tools)[1]
    assert all("its control test failed" in each.reason for each in record.histograms)
    assert all(each.iterations == 0 for each in record.histograms)
    (finding,) = (each for each in record.findings if each.id == "WS403")
    assert "control tests failed: a with all fences showed 0:r0=0 1:r0=0" in finding.message
    assert exit_code(record) == 1


# --- profiles ---------------------------------------------------------------------------------


def test_a_profile_contains_what_can_be_read() -> None:
    machine = local.machine()
    known = profile(machine)
    assert known.arch == machine.arch
    assert known.kernel
    assert known.cores == cores()
    assert known.memory is None or known.memory > 1 << 28
    assert known.emulator is None
    assert known.caches is None or any(each.startswith("L1 Data ") for each in known.caches)


@pytest.mark.usefixtures("sshd")
def test_a_hosts_profile_is_read_there() -> None:
    over_there, here = profile(machines.resolve(f"ssh:{HOST}")), profile(local.machine())
    assert over_there.machine == f"ssh:{HOST}"
    for name in ("cpu", "microcode", "cores", "caches", "kernel", "numa_nodes"):
        assert getattr(over_there, name) == getattr(here, name)


# --- campaigns --------------------------------------------------------------------------------


def test_a_host_that_dies_costs_a_campaign_only_the_job_it_ran(
    sshd: Sshd, need: Need, tmp_path: Path
) -> None:
    """sshd is killed while the second test runs there; the other machine continues, and the same
    command does what is left when the host is back."""
    need("gcc")
    plan, tools = three_tests(tmp_path, f"ssh:{HOST}", "local"), with_runner(DyingHost(sshd))
    folder, record = folder_run.run(plan, folder=tmp_path / "campaign", tools=tools)
    given = {(each.test, each.machine): each for each in record.histograms}
    assert given["a", f"ssh:{HOST}"].iterations > 0
    assert given["b", f"ssh:{HOST}"].lost
    assert f"ssh:{HOST} is lost" in given["b", f"ssh:{HOST}"].reason
    assert ("c", f"ssh:{HOST}") not in given
    assert all(given[name, "local"].iterations > 0 for name in ("a", "b", "c"))
    assert not record.manifest.finished
    assert any(f"native on ssh:{HOST}: ssh:{HOST} is lost" in n for n in record.manifest.notes)
    assert any("b on ssh:" in each for each in undecided(record))
    assert any("1 of 3 tests did not run on ssh:" in each for each in undecided(record))
    assert exit_code(record) == 3

    unreached = folder_run.run(plan, folder=folder)[1]
    assert any("cannot be reached: " in note for note in unreached.manifest.notes)
    assert not unreached.manifest.finished

    sshd.start()
    again = folder_run.run(plan, folder=folder)[1]
    assert again.manifest.finished
    assert undecided(again) == ()
    now = {(each.test, each.machine): each for each in again.histograms}
    assert all(now[name, f"ssh:{HOST}"].iterations > 0 for name in ("a", "b", "c"))
    for job in (("a", f"ssh:{HOST}"), ("a", "local"), ("b", "local"), ("c", "local")):
        assert now[job] == given[job], "not done again"
    assert sshd.folders() == []


def test_a_campaign_resumes_at_once_where_only_the_connection_broke(
    sshd: Sshd, need: Need, tmp_path: Path
) -> None:
    need("gcc")
    plan, tools = three_tests(tmp_path, f"ssh:{HOST}"), with_runner(DyingHost(sshd, back=True))
    record = folder_run.run(plan, folder=tmp_path / "campaign", tools=tools)[1]
    assert [(each.test, each.lost) for each in record.histograms] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert not record.manifest.finished


def three_tests(folder: Path, *machines: str) -> Plan:
    (wanted := folder / "tests").mkdir()
    for name in ("a", "b", "c"):
        (wanted / f"{name}.litmus").write_text(sb(name).text)
    return Plan(what=(str(wanted),), machines=machines, runners=("native",), seconds_run=0.3)


def with_runner(runner: Runner) -> Tools:
    return msgspec.structs.replace(installed(), runner=lambda _: runner)


#: a program says that it has started and continues when it no longer has to wait
WAITS = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void wait_there(void) {{
  if (access("{waits}", F_OK)) return;
  close(open("{started}", O_CREAT | O_WRONLY, 0600));
  while (!access("{waits}", F_OK)) usleep(1000);
}}
"""


class DyingHost(msgspec.Struct, frozen=True):
    """The native runner on a host whose sshd is killed while its second test runs, and comes back
    at once or does not."""

    sshd: Sshd
    back: bool = False
    name: str = "native"
    rank: int = 0
    requires: tuple[Program, ...] = ()
    whole_programs: bool = False

    def available(self, machine: Machine) -> str:
        return Native().available(machine)

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline = NEVER,
    ) -> None:
        waits, started = self.sshd.folder / "waits", self.sshd.folder / "started"

        def kill() -> None:
            until = time.monotonic() + 60
            while not started.exists() and time.monotonic() < until:
                time.sleep(0.005)
            self.sshd.stop()
            if self.back:
                self.sshd.start()
            waits.unlink()

        killer = threading.Thread(target=kill)

        def watched(histogram: Histogram) -> None:
            done(histogram)
            if machine.host and histogram.test == "a":
                waits.touch()
                killer.start()

        def emit(*tests: Test) -> str:
            return native_source(*tests) + WAITS.format(waits=waits, started=started)

        native = Native(emit=emit) if machine.host else Native()
        try:
            native.run(tests, machine, seconds=seconds, done=watched, end=end)
        finally:
            if killer.ident is not None:
                killer.join()
