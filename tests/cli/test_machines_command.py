"""Machines of weakspot.toml and of campaigns are listed, probed and remembered."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from samples import Run

CONFIGURED = """\
[machines]
pi = "ssh:pi.lan"
mine = { address = "local", cores = 1 }
"""


@pytest.fixture
def path(folder: Path) -> str:
    """PATH with an ssh that reaches nobody."""
    (folder / "weakspot.toml").write_text(CONFIGURED)
    (folder / "bin").mkdir()
    ssh = folder / "bin" / "ssh"
    ssh.write_text("#!/bin/sh\necho ssh: connect to host pi.lan: No route to host >&2; exit 255\n")
    ssh.chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def test_listing_contacts_nobody_and_a_probe_is_remembered(run: Run, path: str) -> None:
    before = run("machines", PATH=path)
    assert before.code == 0
    assert [line.split("  ")[0].split() for line in before.out.splitlines()] == [
        ["local"],
        ["pi"],
        ["mine"],
    ]
    assert before.out.count("not probed yet") == 3
    probed = run("machines", "--probe", PATH=path)
    assert probed.code == 3, "one of several cannot be reached"
    assert "No route to host" in probed.out
    after = {
        each["name"]: each for each in map(json.loads, run("machines", "--json").out.splitlines())
    }
    assert "No route to host" in after["pi"]["reason"]
    assert run("machines", "pi").code == 3, "it could not be reached"
    assert after["local"]["profile"]["cores"] >= 1
    assert after["local"]["reached"]
    assert "mine" in (*after, *after["local"]["aliases"])


def test_a_machine_that_is_asked_for_alone_and_is_dead_is_an_error(run: Run, path: str) -> None:
    errors = run("machines", "--probe", "pi", PATH=path).reported(2)
    assert "error: pi: ssh:pi.lan cannot be reached: " in errors
    assert "--> weakspot.toml:2" in errors
    assert "help: see whether `ssh pi.lan true` works by itself" in errors
    assert run("run", "SB.litmus", "--on", "pi", PATH=path).err == errors


def test_a_name_that_nobody_has_is_an_error(run: Run, path: str) -> None:
    for words in (("nix",), ("--probe", "nix")):
        assert "unknown machine 'nix'" in run("machines", *words, PATH=path).reported(2)


def test_tests_run_on_a_machine_by_its_name(run: Run, path: str) -> None:
    words = ("--on", "mine", "--for", "0.1", "--json")
    ended = run("run", "SB.litmus", *words, PATH=path)
    assert ended.code in (0, 1, 3), ended.err
    assert json.loads(ended.out)["machine"] == "mine"
