"""The documentation site builds without a dead link, with a page for everything that there is; so
do the manual pages, and shells complete what they are asked."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import execute
from playwright.sync_api import sync_playwright
from wheels import ROOT

from weakspot import __version__, api
from weakspot.harness.cli import COMMANDS
from weakspot.harness.corpus import models, structures
from weakspot.harness.judge.kinds import KINDS
from weakspot.system.tools import Tool

WEAKSPOT = Path(sys.executable).with_name("weakspot")


def run(*command: str | Path, **variables: str) -> str:
    return execute(
        *command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **variables}
    ).printed(0)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder)
    return folder


def test_site_has_a_page_for_everything_and_no_dead_link(site: Path) -> None:
    wanted = {
        "models": list(models.load()),
        "structures": [each.name for each in structures.structures()],
        "commands": list(COMMANDS),
        "findings": list(KINDS),
    }
    for folder, names in wanted.items():
        listed = (site / folder / "index.html").read_text(encoding="utf-8")
        for name in names:
            assert (site / folder / f"{name}.html").is_file()
            assert f'href="{name}.html"' in listed
    assert "memory_order_release" in (site / "index.html").read_text(encoding="utf-8")
    reference = (site / "api.html").read_text(encoding="utf-8")
    for name in set(api.__all__) - {"What"}:  # a type alias
        assert f'id="{name.lower()}"' in reference
    # it opens from files, without a network
    loads = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(https?://[^\" >]+)")
    for page in site.rglob("*.html"):
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page


def test_site_is_searched_read_in_the_dark_and_printed_from_files(
    site: Path, need: Callable[[str], Tool]
) -> None:
    chromium = str(need("chromium").path)
    contrast = (ROOT / "tests" / "report" / "contrast.js").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 800}, color_scheme="dark")
        page.goto((site / "commands" / "diff.html").as_uri())
        help_text = page.locator("pre > code")
        assert help_text.evaluate("each => each.scrollWidth <= each.clientWidth")
        page.set_viewport_size({"width": 1800, "height": 800})
        page.goto((site / "api.html").as_uri())
        clipped = page.locator("pre > code").evaluate_all(
            "all => all.filter(each => each.scrollWidth > each.clientWidth"
            " && each.innerText.split('\\n').every(line => line.length <= 100))"
            ".map(each => each.innerText)"
        )
        assert clipped == [], "a hundred characters"
        page.goto((site / "ci.html").as_uri())
        hidden = ".md-header, .md-sidebar--primary, .md-skip, .headerlink"
        page.evaluate(f"document.querySelectorAll('{hidden}').forEach(each => each.remove())")
        assert page.evaluate(contrast) == []
        starts = page.locator("article ol").evaluate_all("all => all.map(each => each.start)")
        assert len(set(starts)) == len(starts) > 3, "a list that continues after an example"
        page.emulate_media(media="print")
        assert not page.locator("article button").first.is_visible()
        page.goto((site / "index.html").as_uri())
        page.emulate_media(media="screen")
        page.get_by_role("textbox", name="Search").click()
        page.keyboard.type("release sequences of C++20")
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url((site / "models" / "rc20.html").as_uri() + "*")
        browser.close()


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
