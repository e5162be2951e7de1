"""The site opens from a file, needs no network, shows the whole campaign, and stays quick."""

from __future__ import annotations

import itertools
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from examples import entry, judged, large, small
from hypothesis import given
from hypothesis import strategies as st
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.errors import WeakspotError
from weakspot.harness.report.drawing import Drawing, Edge, Node, of_cycle, of_witness
from weakspot.harness.report.site import build
from weakspot.harness.report.site.diagrams import Diagram, diagram
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Count
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import AnnotationCosts, Record
from weakspot.harness.values.witness import Execution, Wait, Witness, WitnessEvent

ROWS = ("tr", "p", "h1", "h2", "h3", "li", "summary", "article", "dl", "pre")
NASTY = '<script>alert("1")</script>&\'"><img src=x onerror=alert(1)>'


class Page(HTMLParser):
    """The links, scripts and words of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ROWS:
            self.words.append("\n\n")
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.lasttag != "style" or not data.strip().startswith("/*"):
            self.words.append(data)

    @property
    def lines(self) -> str:
        """The text of the page, one line per row, heading or paragraph."""
        lines = (" ".join(line.split()) for line in " ".join(self.words).split("\n\n"))
        return "\n".join(filter(None, lines)) + "\n"

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def built(record: Record, folder: Path) -> dict[str, Page]:
    build.write_site(record, folder)
    return {str(path.relative_to(folder)): Page(path) for path in folder.rglob("*.html")}


def test_every_link_leads_to_a_file_of_the_site(tmp_path: Path) -> None:
    for name, page in built(small(), tmp_path).items():
        for link in page.links:
            target, _, _ = link.partition("#")
            if target and target != "data:,":
                assert (tmp_path / name).parent.joinpath(unquote(target)).is_file(), (name, link)


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    build.write_site(small(), tmp_path)
    for path in tmp_path.rglob("*"):
        if path.suffix in (".html", ".css", ".js"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"https?:|//[a-z]+\.|@import|url\((?!#)", text), path
            assert "fetch(" not in text


def test_a_page_for_every_structure_and_every_test(tmp_path: Path) -> None:
    pages = built(small(), tmp_path)
    assert "index.html" in pages
    assert "report/structures/work_queue.html" in pages
    assert sum(name.startswith("report/tests/") for name in pages) == 7


@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        "report/structures/work_queue.html",
        "report/programs/work_queue_two_thieves.html",
        "report/tests/SB+rel-acqs.html",
        "report/sources/work_queue.html",
    ],
)
def test_the_text_of_each_kind_of_page(
    tmp_path: Path, page: str, snapshot: SnapshotAssertion
) -> None:
    assert steady(built(compiled(measured()), tmp_path)[page].lines) == snapshot


def test_the_first_page_begins_with_what_was_observed_and_is_forbidden(tmp_path: Path) -> None:
    text = built(small(), tmp_path)["index.html"].text
    assert text.index("2 findings") < text.index("Observed and forbidden") < text.index("Findings")


def test_a_structure_shows_claims_scenarios_and_marked_source(tmp_path: Path) -> None:
    page = built(small(), tmp_path)["report/structures/work_queue.html"]
    assert "../programs/work_queue_two_thieves.html" in page.links
    assert "../sources/work_queue.html" in page.links
    source = (tmp_path / "report/sources/work_queue.html").read_text()
    assert '<div id="f0-16" class="strong hot"><b>16</b>' in source
    assert (
        "../structures/work_queue.html#q=queue.h%3A16"
        in Page(tmp_path / "report/sources/work_queue.html").links
    )


def test_claims_and_findings_lead_to_their_lines_in_the_source(tmp_path: Path) -> None:
    build.write_site(small(), tmp_path)
    pages = {
        name: (tmp_path / "report" / name).read_text()
        for name in ("structures/work_queue.html", "programs/work_queue_two_thieves.html")
    }
    source = (tmp_path / "report/sources/work_queue.html").read_text()
    for line, text in ((16, pages["structures/work_queue.html"]), (22, "".join(pages.values()))):
        assert f'<a href="../sources/work_queue.html#f0-{line}">queue.h:{line}</a>' in text
        assert f'id="f0-{line}"' in source


def test_a_program_links_the_test_of_the_critical_cycle(tmp_path: Path) -> None:
    pages = built(small(), tmp_path)
    page = pages["report/programs/work_queue_two_thieves.html"]
    assert "svg" in page.tags
    assert "../tests/SB%2Brel-acqs.html" in page.links
    test = pages["report/tests/SB+rel-acqs.html"]
    assert "../programs/work_queue_two_thieves.html" in test.links


def measured() -> Record:
    """The small campaign, with a run of a whole program and costs of memory orders."""
    record = small()
    taken = Failure(
        kind="assertion",
        message="taken == 1",
        count=7,
        site="queue.h:22",
        values=(Count({"taken": "2"}, 7),),
    )
    run = ProgramRun(
        program="work_queue/two_thieves",
        machine="local",
        runner="native",
        instances=900,
        overlapped=450,
        failures=(taken,),
    )
    price = AnnotationCosts(
        at="queue.h:16", operation="store", function="push", written="sc", ns={"rlx": 0, "sc": 8.46}
    )
    (structure,) = record.structures
    structure = msgspec.structs.replace(structure, prices=(price,))
    return msgspec.structs.replace(record, structures=(structure,), runs=(run,))


def test_a_test_shows_cycle_verdicts_outcomes_and_source(tmp_path: Path) -> None:
    page = built(small(), tmp_path)["report/tests/SB+rel-acqs.html"]
    assert "svg" in page.tags
    source = (tmp_path / "report/tests/SB+rel-acqs.html").read_text()
    assert '<div class="site" data-site="queue.h:16"><b>16</b>' in source
    assert source.count('class="bar log wrong"') == 2  # clr2 applies to both machines


def test_the_outcome_that_is_asked_for_has_a_row_even_if_nothing_shows_it(tmp_path: Path) -> None:
    record = small()
    asked = {"0:r0": "0", "1:r0": "0"}
    silent = tuple(
        msgspec.structs.replace(
            each,
            target=0,
            histogram=tuple(count for count in each.histogram if count.state != asked),
        )
        for each in record.histograms
    )
    verdicts = tuple(
        msgspec.structs.replace(
            each, states=tuple(state for state in each.states if state != asked)
        )
        for each in record.verdicts
    )
    record = msgspec.structs.replace(record, histograms=silent, verdicts=verdicts)
    page = built(record, tmp_path)["report/tests/SB+rel-acqs.html"]
    (row,) = (line for line in page.lines.splitlines() if line.startswith("◆ 0:r0=0 1:r0=0"))
    assert row.split("10⁻⁷")[0].endswith("0 below 3.2·")


def test_findings_of_one_cause_are_one_finding_on_the_first_page(tmp_path: Path) -> None:
    first, *_ = (each for each in small().findings if not each.recorded)
    pair = [
        msgspec.structs.replace(first, message=message, cause="queue.h:16")
        for message in ("assertion fails", "data race")
    ]
    page = built(msgspec.structs.replace(small(), findings=tuple(pair)), tmp_path)["index.html"]
    assert "1 finding structures" in page.text
    assert "same cause: WS001 data race" in page.text
    assert page.lines.count("WS001 assertion fails") == 1
    assert re.search(r"^work_queue .* 3 1$", page.lines, re.M)


def test_runners_are_shown_side_by_side_with_what_only_one_observed(tmp_path: Path) -> None:
    ours = small().histograms[0]
    both = (
        msgspec.structs.replace(ours, runner="native"),
        msgspec.structs.replace(ours, histogram=ours.histogram[1:], target=0),
    )
    pages = built(msgspec.structs.replace(small(), histograms=both), tmp_path)
    page = pages[f"report/tests/{ours.test}.html"].text
    assert (
        f"Observed on local native: 4,021 of 1.2·10⁷. On local {ours.runner}: not observed" in page
    )
    assert "Only native observed 0:r0=0 1:r0=0 on local; an outcome" in page
    assert "local native 4,021 of 1.2·10⁷ clr2" in pages["index.html"].text


def test_data_is_escaped_in_every_page(tmp_path: Path) -> None:
    record = small()
    structure = msgspec.structs.replace(record.structures[0], title=NASTY, source=NASTY)
    nasty = entry("SB+rel-acqs", about=NASTY)
    origin = msgspec.structs.replace(nasty.test.origins[0], operations=(NASTY, NASTY))
    test = msgspec.structs.replace(nasty.test, shape=NASTY, cycle=NASTY, origins=(origin,))
    record = msgspec.structs.replace(
        record,
        structures=(structure,),
        entries=(msgspec.structs.replace(nasty, test=test),),
        sources=tuple(msgspec.structs.replace(each, text=NASTY) for each in record.sources),
        findings=(Finding(id="WS201", severity="error", message=NASTY, subject=NASTY, fix=NASTY),),
    )
    for page in built(record, tmp_path).values():
        assert "img" not in page.tags
        assert not any("<" in link or ":" in link.removeprefix("data:,") for link in page.links)
    data = (tmp_path / "report/data/all-tests.js").read_text()
    assert json.loads(data.removeprefix("window.weakspot = ").rstrip(";\n"))["tests"]


def test_every_page_has_a_policy_and_contains_no_code_of_its_own(tmp_path: Path) -> None:
    build.write_site(measured(), tmp_path)
    for path in tmp_path.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.index("Content-Security-Policy") < text.index("<link")
        assert "unsafe" not in text
        assert not re.search(r"<style|<script>| style=| on[a-z]+=", text), path


def test_names_that_are_not_file_names_have_pages_too(tmp_path: Path) -> None:
    odd = msgspec.structs.replace(small().structures[0], name="../a b/c?.c")
    test = entry("x", structure=odd.name)
    record = msgspec.structs.replace(small(), structures=(odd,), entries=(test,), findings=())
    pages = built(record, tmp_path / "site")
    assert set(tmp_path.iterdir()) == {tmp_path / "site"}
    for name, page in pages.items():
        for link in page.links:
            target = link.partition("#")[0]
            if target and target != "data:,":
                place = (tmp_path / "site" / name).parent / unquote(target)
                assert place.is_file(), link


def test_an_older_site_is_replaced(tmp_path: Path) -> None:
    built(small(), tmp_path)
    fewer = msgspec.structs.replace(small(), entries=small().entries[:1])
    names = set(built(fewer, tmp_path))
    assert [name for name in names if name.startswith("report/tests/")] == [
        "report/tests/SB+rel-acqs.html"
    ]


def test_an_empty_campaign_has_a_site(tmp_path: Path) -> None:
    record = Record(manifest=msgspec.structs.replace(small().manifest, machines=()))
    assert "nothing found" in built(record, tmp_path)["index.html"].text


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("in the way")
    with pytest.raises(WeakspotError, match="cannot write"):
        build.write_site(small(), tmp_path)


@pytest.mark.parametrize(
    "count", [500, pytest.param(10_000, marks=pytest.mark.full, id="10000 tests")]
)
def test_a_large_campaign_has_a_site_in_seconds_whose_pages_stay_small(
    tmp_path: Path, count: int
) -> None:
    record = large(count)
    start = time.process_time()
    build.write_site(record, tmp_path)
    assert time.process_time() - start < 5 + count * 0.004
    assert (tmp_path / "index.html").stat().st_size < 500_000
    assert (tmp_path / "report/data/all-tests.js").stat().st_size < 100_000 + count * 100
    pages = list((tmp_path / "report/tests").iterdir())
    assert len(pages) == count
    assert max(page.stat().st_size for page in pages) < 40_000


def test_runs_without_the_outcome_are_counted_and_listed_one_by_one(tmp_path: Path) -> None:
    ours = small().histograms[0]
    unobserved = [
        msgspec.structs.replace(ours, machine=f"m{n}", histogram=(), target=0) for n in range(3)
    ]
    record = msgspec.structs.replace(small(), histograms=(ours, *unobserved))
    page = built(record, tmp_path)[f"report/tests/{ours.test}.html"]
    assert "local: 4,021 of 1.2·10⁷. Not observed in 3 other runs." in page.text
    for each in unobserved:
        assert f"{each.machine} {each.runner} 12,000,000" in page.text


def compiled(record: Record) -> Record:
    """The record with two comparisons of machine code."""
    name = small().histograms[0].test
    weaker = CodegenComparison(
        source=name,
        model="c11",
        target="aarch64",
        builds=("gcc-12 -O1", "gcc-12 -O2"),
        machine="aarch64",
        result="Weaker",
        beyond=({"0:r0": "0", "1:r0": "0"},),
        assembly="str w1, [x0]",
    )
    preserved = msgspec.structs.replace(weaker, target="x86", result="Preserved", beyond=())
    return msgspec.structs.replace(record, compiled=(weaker, preserved))


# --- diagrams ---------------------------------------------------------------------------------


def test_a_diagram_has_a_column_a_thread_and_an_arrow_an_edge() -> None:
    drawn = diagram(of_cycle(entry("SB").test))
    assert drawn is not None
    assert len(drawn.heads) == 2
    assert [arrow.edge.name for arrow in drawn.arrows] == ["po", "po", "po", "fr", "fr"]
    assert not drawn.has_cycle  # everything is on it
    assert [box.node.kind for box in drawn.boxes].count("fence") == 1
    assert all(box.left > 0 and box.x < drawn.width for box in drawn.boxes)


def test_a_thread_that_reads_its_own_store_is_drawn_so() -> None:
    test = msgspec.structs.replace(
        entry("SB").test, cycle="RfiRelAcq FreAcqRel FenceScdWRRelAcq FreAcqRel"
    )
    drawing = of_cycle(test)
    assert drawing is not None
    assert (drawing.edges[0].kind, drawing.edges[0].name) == ("rf", "rfi")


def _event(thread: int, label: str, kind: str, location: str, value: str) -> WitnessEvent:
    read, written = (value, "") if kind == "R" else ("", value)
    return WitnessEvent(thread, label, kind, "rlx", location, read, written, f"queue.h:{label}")


def test_a_witness_has_no_edge_that_others_imply_and_marks_its_cycle() -> None:
    """Thread 0 writes x twice and reads it; thread 1 reads the first value."""
    witness = Witness(
        events=(
            WitnessEvent(None, "", "W", location="x", written="0"),
            _event(0, "a", "W", "x", "1"),
            _event(0, "b", "R", "x", "1"),
            _event(0, "c", "W", "x", "2"),
            _event(1, "d", "R", "x", "1"),
            _event(1, "e", "R", "x", "0"),
        ),
        rf=((1, 2), (1, 4), (0, 5)),
        co=((0, 1), (1, 3)),
        fr=((2, 3), (4, 3), (5, 1)),
        cycle=((4, 5, "po"), (5, 1, "fr"), (1, 4, "rf")),
    )
    drawing = of_witness(witness)
    labels = [node.text[0] for node in drawing.nodes]
    edges = {
        (edge.kind, labels[edge.source] + labels[edge.target], edge.cycle) for edge in drawing.edges
    }
    assert edges == {
        ("po", "ab", False),
        ("po", "bc", False),
        ("po", "de", True),
        ("rf", "ad", True),
        ("fr", "ea", True),
    }
    assert [node.text[0] for node in drawing.nodes if node.cycle] == ["a", "d", "e"]
    assert [node.text[0] for node in drawing.nodes if node.initial] == ["e"]


def test_a_race_and_a_wait_are_drawn() -> None:
    events = (_event(0, "a", "W", "x", "1"), _event(1, "b", "R", "x", "0"))
    waits = (Wait(1, "a lock", "queue.h:9"), Wait(2, "a lock", "queue.h:7"))
    drawing = of_witness(Execution(events=events, conflict=(0, 1), waits=waits))
    assert drawing.heads == ("P0", "P1", "P2")
    assert [(edge.kind, edge.source, edge.target) for edge in drawing.edges] == [
        ("race", 0, 1),
        ("po", 1, 2),
    ]
    assert drawing.nodes[2].text == "waits forever for a lock"
    assert drawing.columns == ((0,), (1, 2), (3,))


def test_events_without_edges_are_folded_in_a_large_witness() -> None:
    events = [
        _event(thread, f"{thread}{at:02}", "W", "x", "1") for thread in (0, 1) for at in range(9)
    ]
    events[13] = _event(1, "read", "R", "x", "1")
    drawing = of_witness(Witness(events=tuple(events), rf=((2, 13),))).fold()
    assert [node.text for node in drawing.nodes if node.kind == "folded"] == [
        "… 6 events",
        "… 4 events",
        "… 4 events",
    ]
    assert drawing.folded == 14
    assert of_witness(Witness(events=tuple(events[5:14]))).fold().folded == 0


Point = tuple[float, float]


def _points(path: str) -> tuple[list[Point], list[tuple[Point, Point]]]:
    """Points along the curves of a path, and its straight parts."""
    points: list[Point] = []
    lines = []
    for command, rest in re.findall(r"([MLCV]) ([^MLCV]+)", path):
        numbers = [float(number) for number in rest.split()]
        ends = list(zip(numbers[::2], numbers[1::2], strict=False)) or [(points[-1][0], numbers[0])]
        if command in "LV":
            lines.append((points[-1], ends[-1]))
        elif command == "C":
            corners = [points[-1], *ends]
            for part in range(1, 50):
                along = corners
                while len(along) > 1:
                    along = [
                        (a + part / 50 * (c - a), b + part / 50 * (d - b))
                        for (a, b), (c, d) in itertools.pairwise(along)
                    ]
                points += along
        points.append(ends[-1])
    return points, lines


def _grid(sizes: list[int], pairs: list[tuple[int, int]]) -> Diagram:
    """Columns of so many boxes each, and edges between boxes."""
    columns = [
        tuple(range(end - size, end))
        for size, end in zip(sizes, itertools.accumulate(sizes), strict=True)
    ]
    drawn = diagram(
        Drawing(
            heads=tuple("P" for _ in sizes),
            columns=tuple(columns),
            nodes=tuple(Node(text="a") for _ in range(sum(sizes))),
            edges=tuple(Edge("fr", "fr", *pair, False) for pair in pairs if pair[0] != pair[1]),
        )
    )
    assert drawn is not None
    return drawn


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=5).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.lists(
                st.tuples(st.integers(0, sum(sizes) - 1), st.integers(0, sum(sizes) - 1)),
                max_size=14,
                unique=True,
            ),
        )
    )
)
def test_no_edge_runs_through_a_box_or_along_another_edge(
    grid: tuple[list[int], list[tuple[int, int]]],
) -> None:
    drawn = _grid(*grid)
    lines = []
    for arrow in drawn.arrows:
        points, straight = _points(arrow.path)
        lines += straight
        for (x, y), (other, _) in itertools.chain(zip(points, points, strict=True), straight):
            assert 0 <= x <= drawn.width
            assert 0 <= y <= drawn.height
            for box in drawn.boxes:
                outside = (
                    max(x, other) <= box.left + 0.5
                    or min(x, other) >= box.left + box.width - 0.5
                    or abs(y - box.y) >= box.height / 2 - 0.5
                )
                assert outside
    for ((a, b), (c, _)), ((e, f), (g, _)) in itertools.combinations(lines, 2):
        assert b != f or min(max(a, c), max(e, g)) - max(min(a, c), min(e, g)) <= 0.5
    ends = [
        end
        for arrow in drawn.arrows
        for end in _points(arrow.path)[0][:: len(_points(arrow.path)[0]) - 1]
    ]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("rows", [2, 4])
def test_names_of_edges_that_cross_stand_apart(rows: int) -> None:
    """One edge goes up past a row, in which another one joins the same two columns."""
    within = (rows + 1 + rows // 2, rows // 2)
    one, other = _grid([rows + 1, rows + 1], [(rows, rows + 1), within]).arrows
    assert abs(one.x - other.x) > 20 or abs(one.y - other.y) > 12


def test_a_foreign_test_has_no_diagram() -> None:
    assert of_cycle(msgspec.structs.replace(entry("SB").test, body=None)) is None
    assert of_cycle(msgspec.structs.replace(entry("SB").test, cycle="")) is None
    assert diagram(None) is None


def test_a_rebuilt_site_is_the_same(tmp_path: Path) -> None:
    build.write_site(judged(small()), tmp_path / "a")
    build.write_site(judged(small()), tmp_path / "b")
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
