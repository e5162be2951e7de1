"""The documentation site builds without a dead link, with a page for everything that there is; so
do the manual pages, and shells complete what they are asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from wheels import ROOT

from weakspot import __version__, api
from weakspot.harness.cli import COMMANDS
from weakspot.harness.corpus import models, structures
from weakspot.harness.judge.kinds import KINDS

WEAKSPOT = Path(sys.executable).with_name("weakspot")


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_site_has_a_page_for_everything_and_no_dead_link(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path)
    wanted = {
        "models": list(models.load()),
        "structures": [each.name for each in structures.structures()],
        "commands": list(COMMANDS),
        "findings": list(KINDS),
    }
    for folder, names in wanted.items():
        listed = (tmp_path / folder / "index.html").read_text(encoding="utf-8")
        for name in names:
            assert (tmp_path / folder / f"{name}.html").is_file()
            assert f'href="{name}.html"' in listed
    assert "memory_order_release" in (tmp_path / "index.html").read_text(encoding="utf-8")
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    for name in set(api.__all__) - {"What"}:  # a type alias
        assert f'id="{name.lower()}"' in reference
    # it opens from files, without a network
    loads = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(https?://[^\" >]+)")
    for page in tmp_path.rglob("*.html"):
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page


def test_every_command_has_a_manual_page(tmp_path: Path) -> None:
    run(sys.executable, ROOT / "scripts" / "man_pages.py", tmp_path)
    for command in COMMANDS:
        page = (tmp_path / f"weakspot-{command}.1").read_text(encoding="utf-8")
        assert ".SH SYNOPSIS" in page
    gate = tmp_path / "weakspot-gate.1"
    assert "weakspot gate \\-\\-write\\-baseline" in gate.read_text(encoding="utf-8")
    if shutil.which("man"):
        shown = run("man", "--warnings", "-l", gate, MANPAGER="cat", MANWIDTH="100")
        assert "--write-baseline  " in shown
    whole = (tmp_path / "weakspot.1").read_text(encoding="utf-8")
    assert "weakspot-gate(1)" in whole
    for summary in COMMANDS.values():
        assert summary.replace("-", "\\-") in whole


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completes_commands(shell: str) -> None:
    script = run(WEAKSPOT, _WEAKSPOT_COMPLETE=f"{shell}_source")
    assert f"_WEAKSPOT_COMPLETE={shell}_complete" in script
    words = "weakspot ga" if shell != "fish" else "weakspot\nga"
    asked = {"COMP_WORDS": words, "COMP_CWORD": "1" if shell != "fish" else "ga"}
    assert "gate" in run(WEAKSPOT, _WEAKSPOT_COMPLETE=f"{shell}_complete", **asked)


def test_version_is_the_same_everywhere() -> None:
    def text(name: str) -> str:
        return (ROOT / name).read_text(encoding="utf-8")

    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == __version__
    engine = tomllib.loads(text("engine/Cargo.toml"))["workspace"]["package"]["version"]
    assert engine == __version__
    assert f'PACKAGE_VERSION "{__version__}"' in text(
        "weakspot/cmake/weakspot-config-version.cmake"
    )
    assert f"\nversion: {__version__}\n" in text("CITATION.cff")
    assert f"\n## {__version__}\n" in text("CHANGELOG.md")
    for file in ("memory-orders.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml"):
        (path,) = (ROOT / "docs" / "sample").rglob(file)
        assert f"v{__version__}" in path.read_text(encoding="utf-8")
