"""The page of two campaigns compared, and the page of a folder of campaigns."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import msgspec
import pytest
from examples import manifest, small
from stored import store
from syrupy.assertion import SnapshotAssertion
from test_site import NASTY, Page

from weakspot.errors import BadInput
from weakspot.harness.judge.differences import compare
from weakspot.harness.report.site.comparison_page import write_comparison
from weakspot.harness.report.site.results_page import write_results
from weakspot.harness.values.record import Record


def later() -> Record:
    """The small campaign on another day, with another compiler: the outcome is seen less often, a
    finding is new and another one gone, and a program is safe now."""
    record = small()
    first, *histograms = record.histograms
    explorations = (
        *record.explorations[:-1],
        msgspec.structs.replace(record.explorations[-1], result="Safe", violations=()),
    )
    gone, *findings = (each for each in record.findings if not each.recorded)
    new = msgspec.structs.replace(gone, subject="LB+acq-rels", message="LB+acq-rels: differs")
    return msgspec.structs.replace(
        record,
        manifest=manifest(
            started="2026-11-22T09:00:00+0100",
            finished="2026-11-22T09:03:00+0100",
            tools={**record.manifest.tools, "compiler": "gcc 14.2"},
        ),
        histograms=(msgspec.structs.replace(first, target=40), *histograms),
        explorations=explorations,
        findings=(*findings, new),
    )


def test_a_comparison_shows_what_changed_first(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "new folder" / "changes.html"
    write_comparison(compare(small(), later(), ("monday", "tuesday")), path)
    page = Page(path)
    assert page.lines == snapshot
    assert page.tags.count("svg") == 2 * 2 + 1  # two bars on two scales, and the marks


def test_a_comparison_of_equal_campaigns_says_so(tmp_path: Path) -> None:
    write_comparison(compare(small(), small()), tmp_path / "page.html")
    assert "no difference in 8 histograms" in Page(tmp_path / "page.html").text


def test_a_page_of_one_file_allows_its_own_style_alone(tmp_path: Path) -> None:
    record = small()
    nasty = msgspec.structs.replace(
        record.findings[0], message=NASTY, subject=NASTY, recorded=False, severity="error"
    )
    found = compare(record, msgspec.structs.replace(record, findings=(nasty,)), (NASTY, NASTY))
    write_comparison(found, tmp_path / "page.html")
    page, text = Page(tmp_path / "page.html"), (tmp_path / "page.html").read_text()
    assert not {"img", "script"} & set(page.tags)
    policy = re.search(r'Policy" content="([^"]+)"', text)
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert policy is not None
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src &#39;sha256-{digest}&#39;" in policy[1]
    assert "script-src" not in policy[1]  # so that default-src forbids them


def test_a_folder_of_campaigns_shows_trends_and_what_changed(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    store(small(), results / "monday")
    store(later(), results / "tuesday")
    plan = msgspec.structs.replace(small().manifest.plan, what=("other",))
    other = msgspec.structs.replace(
        later(), manifest=manifest(plan=plan, started="2026-11-20T09:00:00+0100")
    )
    store(other, results / "another #1")
    page = Page(write_results(results))
    assert page.lines == snapshot
    assert page.tags.count("figure") == 4
    for link in ("monday/index.html", "tuesday/report/changes.html", "another%20%231/index.html"):
        assert link in page.links
    assert "only" not in Page(results / "tuesday/report/changes.html").text
    assert not (results / "monday/report/changes.html").exists()


def test_a_campaign_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    store(small(), tmp_path / "good")
    store(small(), tmp_path / "damaged")
    (tmp_path / "damaged/structures.json").write_text("{")
    text = Page(write_results(tmp_path)).text
    assert "not read: " in text
    assert "good" in text


def test_a_folder_without_campaigns_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no campaign"):
        write_results(tmp_path)
