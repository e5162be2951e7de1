"""Tiers, and tools that a test cannot do without."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.harness.machines import Machine, local
from weakspot.harness.report.doctor import requirements
from weakspot.system import kernel
from weakspot.system.tools import INSTALLED_BY_SCRIPT, Program, Tool, advice, find

pytest_plugins = ["figures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full",
        action="store_true",
        help="the long tier: every agreement suite whole, and a missing tool is a failure",
    )
    parser.addoption(
        "--programs",
        type=int,
        metavar="N",
        help="how many random programs to compare (tests/agreement/test_random_programs.py)",
    )


def pytest_configure() -> None:
    """Let tests interrupt what they start: a shell ignores SIGINT for what it runs in the
    background, and every process that is started there inherits that."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave the modules and thousands of tests, which stay to the end, out of collections."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    for item in items:
        if "full" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="the long tier: run pytest --full"))


@pytest.fixture(scope="session")
def need(request: pytest.FixtureRequest) -> Callable[[str], Tool]:
    """`need("herd7")`: the tool; without it the test is skipped. In the full tier it fails where
    scripts/install-tools would have installed it."""

    def required(name: str) -> Tool:
        known = {each.name: each for each in requirements()}
        program = known.get(name, Program(name))
        tool = find(program)
        if tool is None:
            why = f"{name} is not installed"
            if INSTALLED_BY_SCRIPT in advice(program) and request.config.getoption("--full"):
                pytest.fail(f"{why} (scripts/install-tools installs it)")
            pytest.skip(why)
        return tool

    return required


@pytest.fixture(scope="session")
def kernel_model() -> Path:
    """The configuration of the Linux kernel's model; without it the test is skipped."""
    folder = kernel.folder()
    if folder is None:
        pytest.skip(f"the Linux kernel's memory model is not installed: {kernel.ADVICE}")
    return folder / kernel.CONFIGURATION


@pytest.fixture(scope="session")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests of all processes of a run cache what they compile."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    for kind in ("cargo", "ir", "library", "native", "zig"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled_once: Path) -> Path:
    """A cache folder of the test's own, but for what is compiled."""
    folder = tmp_path / "cache"
    (folder / "weakspot").mkdir(parents=True)
    for kind in ("cargo", "ir", "library", "native"):
        (folder / "weakspot" / kind).symlink_to(compiled_once / kind)
    (folder / "zig").symlink_to(compiled_once / "zig")  # its C library, once per architecture
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:  # noqa: ARG001
    """A cache folder of the test's own with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    return tmp_path / "empty"


@pytest.fixture
def here(need: Callable[[str], Tool], cache: Path) -> Machine:  # noqa: ARG001
    """This machine, with a compiler for it."""
    need("gcc")
    return local.machine()
