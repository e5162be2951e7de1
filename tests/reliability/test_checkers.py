"""A checker never hangs, a test that goes wrong costs only itself, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import asking
import pytest

from weakspot.errors import MissingTool
from weakspot.generators.litmus import Test
from weakspot.harness.checkers.cbmc import Cbmc
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict
from weakspot.system import tools
from weakspot.system.tools import Tool

SMALL = """C {name}
{{}}
P0 (atomic_int* x) {{
  atomic_store_explicit(x, 1, memory_order_relaxed);
}}
exists (x=1) (* {mark} *)
"""

#: herd7, but for a test that is marked: it dies, it hangs, it throws, it uses up its memory
TROUBLED = r"""#!/bin/sh
before=
for argument do
  case $argument in
  *.litmus)
    trouble=
    grep -q CRASH "$argument" && trouble='kill -SEGV $$'
    grep -q HANG "$argument" && trouble='echo $$ >>pids; sleep 1000'
    grep -q THROW "$argument" &&
      trouble='echo "Fatal error: exception Stdlib.Exit" >&2; exit 2'
    if [ -n "$trouble" ]; then
      [ -n "$files" ] && REAL $before $files
      echo "Found and opened: '$argument'"
      eval "$trouble"
    fi
    files="$files $argument" ;;
  *) before="$before $argument" ;;
  esac
done
exec REAL $before $files
"""


def small(name: str, mark: str = "") -> Test:
    return Test(name=name, arch="C", text=SMALL.format(name=name, mark=mark))


def checked(tests: list[Test], seconds: float, jobs: int = 2) -> dict[str, Verdict]:
    return asking.verdicts(tests, "rc11", seconds, Herd7(jobs=jobs))


@pytest.fixture
def troubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: Callable[[str], Tool]) -> Path:
    """Replaces herd7 by one that has trouble with marked tests."""
    script = TROUBLED.replace("REAL", need("herd7").path)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "herd7"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("WEAKSPOT_TOOLS", str(tmp_path))
    assert tools.require("herd7").path == str(program)
    return tmp_path


@pytest.mark.parametrize("mark", ["CRASH", "THROW", "HANG"])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("troubled")
def test_a_test_that_goes_wrong_costs_only_itself(mark: str, jobs: int) -> None:
    tests = [small(f"t{i}", mark if i in (0, 7, 19) else "") for i in range(20)]
    begin = time.monotonic()
    verdicts = checked(tests, seconds=0.5, jobs=jobs)
    assert time.monotonic() - begin < 15
    for i in range(20):
        verdict = verdicts[f"t{i}"]
        if i in (0, 7, 19):
            assert verdict.observation == "Unknown"
            expected = {"CRASH": "code -11", "THROW": "Stdlib.Exit", "HANG": "time limit of 0.5 s"}
            assert expected[mark] in verdict.reason
        else:
            assert verdict.observation == "Always"


def huge(name: str = "huge") -> Test:
    """A test with more executions than anybody waits for."""
    threads = []
    for thread in range(4):
        stores = "\n".join(
            f"  atomic_store_explicit(x, {10 * thread + i}, memory_order_relaxed);"
            for i in range(1, 6)
        )
        threads.append(f"P{thread} (atomic_int* x) {{\n{stores}\n}}")
    text = f"C {name}\n{{}}\n" + "\n".join(threads) + "\nexists (x=1)\n"
    return Test(name=name, arch="C", text=text)


def test_a_test_too_large_is_unknown_within_its_limit(need: Callable[[str], Tool]) -> None:
    need("herd7")
    begin = time.monotonic()
    verdicts = checked([small("a"), huge("h1"), small("b"), huge("h2"), small("c")], seconds=1.0)
    assert time.monotonic() - begin < 10
    for name in ("a", "b", "c"):
        assert verdicts[name].observation == "Always"
    for name in ("h1", "h2"):
        assert verdicts[name].observation == "Unknown"
        assert verdicts[name].reason == "time limit of 1 s"


def test_without_the_tool_the_error_explains_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    for checker in (Herd7(), Cbmc()):
        assert checker.available() is None
        with pytest.raises(MissingTool) as caught:
            checker.check([cbmc_test()], models.resolve("sc"), seconds=1, done=lambda _: None)
        assert caught.value.advice


def cbmc_test() -> Test:
    from weakspot.generators.emit.text import litmus_text
    from weakspot.generators.litmus import Atom, Body, Store

    body = Body(
        threads=((Store("x", 1, "rlx"),),),
        atoms=(Atom(None, "x", 1),),
        locations=("x",),
        init={},
        plain=frozenset(),
    )
    return Test(name="t", arch="C", text=litmus_text("t", "", body), body=body)


WAITING = """
from tests_reliability import small
from weakspot.harness.corpus import models
from weakspot.harness.checkers.herd7 import Herd7
tests = [small("a", "HANG"), small("b", "HANG")]
Herd7().check(tests, models.resolve("rc11"), seconds=500.0, done=print)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's help is Linux's")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_stays_behind_when_weakspot_is_killed(troubled: Path, blow: signal.Signals) -> None:
    program = troubled / "bin" / "herd7"
    pids = troubled / "pids"
    program.write_text(program.read_text().replace(">>pids", f">>{pids}"))
    (troubled / "tests_reliability.py").write_text(Path(__file__).read_text())
    folders = os.pathsep.join([str(troubled), str(Path(asking.__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": folders}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], env=environment, stderr=subprocess.PIPE
    ) as weakspot:
        children = _waited_for(lambda: _numbers(pids), count=2)
        weakspot.send_signal(blow)
        assert weakspot.wait(timeout=20) != 0
    assert _waited_for(lambda: [pid for pid in children if not _alive(pid)], count=2) == children


def _numbers(path: Path) -> list[int]:
    return sorted(int(line) for line in path.read_text().split()) if path.exists() else []


def _waited_for(look: Callable[[], list[int]], count: int) -> list[int]:
    for _ in range(200):
        found = look()
        if len(found) >= count:
            return sorted(found)
        time.sleep(0.05)
    raise AssertionError(f"waited in vain: {look()}")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
