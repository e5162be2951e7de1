"""The site in a browser: opened from a file, at three widths, with keyboard and pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from examples import MACHINES, entry, histogram, judged, large, small
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright
from stored import store
from test_comparison_pages import later

from weakspot.harness.report.site import build
from weakspot.harness.report.site.results_page import write_results
from weakspot.harness.values.histogram import ControlTest
from weakspot.harness.values.record import Record
from weakspot.system.tools import Tool

WIDTHS = (400, 1000, 1800)
NASTY = '</script><script>alert("1")</script>&\'"><img src=x onerror=alert(1)><b>${1}</b>'
KINDS = {
    "first": "index.html",
    "structure": "report/structures/work_queue.html",
    "program": "report/programs/work_queue_two_thieves.html",
    "test": "report/tests/SB+rel-acqs.html",
    "source": "report/sources/work_queue.html",
}


@pytest.fixture(scope="module")
def browser(need: Callable[[str], Tool]) -> Iterator[Browser]:
    chromium = need("chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=str(chromium.path), args=["--no-sandbox"]
        )
        yield launched
        launched.close()


def observed_by_two() -> Record:
    """The small campaign with a second runner, and weaker variants of a test."""
    record = small()
    ours = record.histograms[0]
    variants = tuple(
        ControlTest(
            kind="weaker",
            change=change,
            target=target,
            target_independent=target,
            iterations=100_000,
        )
        for change, target in (("P0 with its release store of x relaxed", 310), ("all relaxed", 0))
    )
    native = msgspec.structs.replace(
        ours, runner="native", control_tests=variants, target_independent=77
    )
    return msgspec.structs.replace(record, histograms=(*record.histograms, native))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build.write_site(observed_by_two(), folder)
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with five hundred tests."""
    folder = tmp_path_factory.mktemp("many")
    build.write_site(large(500), folder)
    return folder


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> dict[tuple[int, str, bool], BrowserContext]:
    """Windows of a width and a colour scheme, with or without scripts."""

    class Contexts(dict[tuple[int, str, bool], BrowserContext]):
        def __missing__(self, key: tuple[int, str, bool]) -> BrowserContext:
            width, scheme, script = key
            self[key] = browser.new_context(
                viewport={"width": width, "height": 800},
                color_scheme=scheme,  # type: ignore[arg-type]
                java_script_enabled=script,
            )
            return self[key]

    return Contexts()


@pytest.fixture
def opened(contexts: dict[tuple[int, str, bool], BrowserContext]) -> Iterator[Callable[..., Page]]:
    """Opens a page. At the end no page may have written to the console: neither errors nor what
    the policy blocked are written anywhere else."""
    messages: list[str] = []
    pages: list[Page] = []

    def opening(
        path: Path,
        *,
        fragment: str = "",
        width: int = 1000,
        scheme: str = "light",
        script: bool = True,
    ) -> Page:
        page = contexts[width, scheme, script].new_page()
        pages.append(page)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri() + fragment)
        return page

    yield opening
    for page in pages:
        page.close()
    assert not messages


def overflow(page: Page) -> int:
    """How far the page is wider than the window."""
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


def names(page: Page) -> list[str]:
    """The tests in the table."""
    return page.locator("#tests tbody td.name a").all_inner_texts()


def count(page: Page) -> str:
    return page.locator("#tests .found").inner_text()


def choose(page: Page, **choices: str) -> None:
    for name, value in choices.items():
        page.locator(f"#tests [name={name}]").select_option(value)
    page.wait_for_timeout(80)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(
    site: Path, opened: Callable[..., Page], width: int
) -> None:
    for kind, path in KINDS.items():
        for scheme in ("light", "dark") if width == WIDTHS[0] else ("light",):
            page = opened(site / path, width=width, scheme=scheme)
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert overflow(page) <= 0, kind
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert colour == ("rgb(252, 251, 248)" if scheme == "light" else "rgb(22, 24, 28)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(
    site: Path, opened: Callable[..., Page], scheme: str
) -> None:
    script = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
    for kind, path in KINDS.items():
        page = opened(site / path, scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert page.evaluate(script) == [], kind


def test_a_sheet_of_paper_has_room_for_every_table(site: Path, opened: Callable[..., Page]) -> None:
    for kind, path in KINDS.items():
        page = opened(site / path, width=640)  # narrower than a sheet, but so are these tables
        page.emulate_media(media="print")
        assert overflow(page) <= 0, kind
        page.emulate_media(media="screen")


def test_a_sheet_of_paper_is_light_and_shows_what_a_click_opens(
    site: Path, opened: Callable[..., Page]
) -> None:
    contrast = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
    for kind, path in KINDS.items():
        page = opened(site / path, scheme="dark")
        page.emulate_media(media="print")
        assert page.evaluate(contrast) == [], kind
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)"
        for details in page.locator("details").all():
            shown = details.locator(":scope > :not(summary)").first.is_visible()
            repeats = details.get_attribute("class") == "repeats"
            assert shown != repeats, details.inner_text()
        page.emulate_media(media="screen")


def test_a_long_table_begins_beside_what_is_before_it_and_has_its_head_on_each_sheet(
    many: Path, opened: Callable[..., Page]
) -> None:
    """A section is no block that has to fit on a sheet, and heads are no buttons, which Chromium
    does not print again."""
    page = opened(many / "index.html")
    page.emulate_media(media="print")
    assert page.locator("#tests").evaluate("each => getComputedStyle(each).breakInside") == "auto"
    head = page.locator("th .sort").first
    assert head.evaluate("each => getComputedStyle(each).display") == "contents"
    assert head.evaluate("each => getComputedStyle(each, '::after').display") == "none"
    page.emulate_media(media="screen")


def test_pages_of_one_file_show_their_style_at_every_width(
    tmp_path: Path, opened: Callable[..., Page]
) -> None:
    store(small(), tmp_path / "monday")
    store(later(), tmp_path / "tuesday")
    write_results(tmp_path)
    for path in ("index.html", "tuesday/report/changes.html"):
        for width in WIDTHS:
            page = opened(tmp_path / path, width=width)
            assert overflow(page) <= 0
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert colour == "rgb(252, 251, 248)"
    page = opened(tmp_path / "index.html")
    page.get_by_role("link", name="1 new finding").click()
    page.wait_for_url("**/tuesday/report/changes.html")
    page.locator("label[for=rate-lin]").click()
    assert page.locator("svg.bar.lin").first.is_visible()


def test_text_in_tables_has_room_and_what_is_clipped_scrolls(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / KINDS["structure"], width=WIDTHS[0])
    for cell in page.locator("td.text, td.says").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["width"] >= 150
    for table in page.locator("table").all():
        scroller = table.locator("xpath=..")
        assert scroller.evaluate("each => getComputedStyle(each).overflowX") == "auto"
        shadows = scroller.evaluate("each => getComputedStyle(each).backgroundAttachment")
        assert shadows == "local, local, scroll, scroll, scroll"


def test_hostile_names_and_sources_are_shown_as_text(
    tmp_path: Path, opened: Callable[..., Page]
) -> None:
    record = small()
    nasty = entry("SB+rel-acqs", about=NASTY)
    origin = msgspec.structs.replace(nasty.test.origins[0], operations=(NASTY, NASTY))
    test = msgspec.structs.replace(nasty.test, shape=NASTY, origins=(origin,))
    machine = msgspec.structs.replace(MACHINES[0], name=NASTY)
    record = msgspec.structs.replace(
        record,
        manifest=msgspec.structs.replace(record.manifest, notes=(NASTY,)),
        structures=(msgspec.structs.replace(record.structures[0], title=NASTY),),
        entries=(msgspec.structs.replace(nasty, test=test),),
        sources=tuple(msgspec.structs.replace(each, text=NASTY) for each in record.sources),
        histograms=(histogram("SB+rel-acqs", 12, machine),),
    )
    build.write_site(judged(record), tmp_path)
    for path in KINDS.values():
        page = opened(tmp_path / path, width=WIDTHS[0])
        assert page.locator("img, main script, main b:text-is('${1}')").count() == 0
        assert overflow(page) <= 0
    page = opened(tmp_path / "index.html", fragment="#shape=%3Cscript%3E&q=%")
    assert count(page) == "0 of 1 test"


def test_a_policy_blocks_what_a_page_does_not_contain(
    site: Path, tmp_path: Path, browser: Browser
) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(
        text.replace("</main>", "<script>document.title = 'owned'</script></main>"),
        encoding="utf-8",
    )
    page = browser.new_page()
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    assert "owned" not in page.title()
    assert any("Content Security Policy" in each for each in blocked)
    page.close()


# --- the table of tests -------------------------------------------------------------------------


def test_filters_combine_and_are_kept_in_the_address(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / "index.html")
    assert count(page) == "7 tests"
    choose(page, shape="SB")
    assert count(page) == "2 of 7 tests"
    choose(page, model="tso", answer="Sometimes")
    assert names(page) == ["SB+rel-acqs"]
    page.locator("#tests [name=q]").fill("queue.h:16 PUSH")
    page.wait_for_timeout(80)
    assert count(page) == "0 of 7 tests"
    page.locator("#tests [name=q]").fill("queue.h:16")
    page.wait_for_timeout(80)
    address = page.url
    assert address.endswith("#q=queue.h%3A16&shape=SB&answer=Sometimes&model=tso")
    again = opened(site / "index.html", fragment="#" + address.partition("#")[2])
    assert names(again) == ["SB+rel-acqs"]
    assert again.locator("#tests [name=model]").input_value() == "tso"
    again.get_by_role("button", name="clear").click()
    again.wait_for_timeout(50)
    assert count(again) == "7 tests"
    assert "#" not in again.url


def test_runner_filter_leaves_out_tests_that_it_was_only_planned_to_run(
    tmp_path: Path, opened: Callable[..., Page]
) -> None:
    record = small()
    planned = msgspec.structs.replace(
        record.histograms[0], runner="native", histogram=(), target=0, iterations=0
    )
    build.write_site(
        msgspec.structs.replace(record, histograms=(*record.histograms, planned)), tmp_path
    )
    page = opened(tmp_path / "index.html")
    choose(page, runner="native")
    assert count(page) == "0 of 7 tests"
    choose(page, seen="not-run")
    assert count(page) == "7 tests"


def test_what_was_observed_is_filtered_by_machine_and_runner(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / "index.html", fragment="#seen=yes")
    assert names(page) == ["SB+rel-acqs"]
    choose(page, seen="no")
    assert count(page) == "6 of 7 tests"
    choose(page, seen="", machine="qemu:aarch64")
    cell = page.locator("#tests td.seen")
    assert cell.all_inner_texts() == ["qemu:aarch64 litmus7 12 of 1.2·10⁷\n✕ forbidden"]
    choose(page, machine="local", runner="native")
    assert cell.all_inner_texts() == ["local native 4,021 of 1.2·10⁷\n✕ forbidden"]
    choose(page, machine="qemu:aarch64")
    assert count(page) == "0 of 7 tests"
    choose(page, machine="", runner="", seen="forbidden")
    assert names(page) == ["SB+rel-acqs"]
    choose(page, seen="", mark="d")
    assert names(page) == ["MP+rlx+acq"]


def test_links_of_a_page_filter_its_table(site: Path, opened: Callable[..., Page]) -> None:
    page = opened(site / "index.html")
    page.locator("#main a[href='#shape=MP']").click()
    page.wait_for_timeout(50)
    assert names(page) == ["MP+rel+acq", "MP+rlx+acq"]
    page = opened(site / KINDS["source"])
    page.locator("#f0-16 a").click()
    page.wait_for_load_state()
    assert count(page) == "7 tests"
    assert page.locator("#tests [name=q]").input_value() == "queue.h:16"


def test_heads_sort_and_say_how(site: Path, opened: Callable[..., Page]) -> None:
    page = opened(site / "index.html")
    head = page.locator("#tests thead th").first
    sort = head.get_by_role("button")
    assert sort.evaluate("each => getComputedStyle(each, '::after').content") == '"↕"'
    sort.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names(page) == sorted(names(page))
    sort.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert names(page) == sorted(names(page), reverse=True)
    again = opened(site / "index.html", fragment="#" + page.url.partition("#")[2])
    assert names(again) == names(page)
    again.get_by_role("button", name="observed").click()
    assert names(again)[0] == "SB+rel-acqs"
    again.locator("#tests thead").get_by_role("button", name="tso").click()
    assert names(again)[0] == "SB+rel-acqs"


def test_the_table_is_used_with_the_keyboard_alone(site: Path, opened: Callable[..., Page]) -> None:
    page = opened(site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type("mp")
    page.wait_for_timeout(80)
    assert names(page) == ["MP+rel+acq", "MP+rlx+acq"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "MP+rlx+acq"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    page.wait_for_timeout(50)
    assert count(page) == "7 tests"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/report/tests/SB%2Brel-acqs.html")


def test_one_page_of_rows_is_in_the_document(many: Path, opened: Callable[..., Page]) -> None:
    page = opened(many / "index.html")
    assert len(names(page)) == 100
    assert count(page) == "500 tests"
    first = names(page)[0]
    page.get_by_role("button", name="next").click()
    assert "101 to 200" in page.locator(".pager").inner_text()
    assert first not in names(page)
    for _ in range(3):
        page.get_by_role("button", name="next").click()
    assert "401 to 500" in page.locator(".pager").inner_text()
    assert page.get_by_role("button", name="next").is_disabled()


def test_rows_that_the_page_contains_and_rows_that_the_script_makes_are_alike(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / "index.html")
    contained = page.locator("#tests tbody").evaluate("each => each.innerHTML")
    page.evaluate("document.querySelector('#tests [name=machine]').add(new Option('', 'x'))")
    page.evaluate("window.weakspot.runs.forEach(run => run[0] = 'x')")
    choose(page, machine="x")  # with a filter of runs, the script makes every row
    made = page.locator("#tests tbody").evaluate("each => each.innerHTML")
    squeeze = str.maketrans("", "", "\n")
    assert made.translate(squeeze) == contained.translate(squeeze)


# --- without a script ---------------------------------------------------------------------------


def test_everything_is_there_without_javascript(many: Path, opened: Callable[..., Page]) -> None:
    page = opened(many / "index.html", script=False)
    assert page.locator(".filters").is_hidden()
    listed = names(page)
    for link in page.locator("#tests .pages a").all():
        assert link.is_visible()
    for path in sorted((many / "report/lists").glob("all-tests-*.html")):
        rows = opened(path, script=False).locator(".tests tbody td.name a").all_inner_texts()
        listed += rows
    assert len(listed) == len(set(listed)) == 500


def bars(page: Page, scale: str) -> Locator:
    return page.locator(f".outcomes svg.bar.{scale}").first


@pytest.mark.parametrize("script", [True, False])
def test_the_scale_of_bars_is_switched(
    site: Path, opened: Callable[..., Page], script: bool
) -> None:
    page = opened(site / KINDS["test"], script=script)
    assert bars(page, "log").is_visible()
    assert bars(page, "lin").is_hidden()
    page.locator("label[for=outcomes-lin]").click()
    assert bars(page, "lin").is_visible()
    assert bars(page, "log").is_hidden()
    page.locator("#outcomes-lin").press("ArrowLeft")
    assert bars(page, "log").is_visible()


def test_forbidden_and_target_are_told_apart_without_colour(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / KINDS["test"])
    target = page.locator(".outcomes tr.target")
    assert target.locator(".sign.target").inner_text() == "◆"
    assert "✕ forbidden" in target.locator("td.seen").first.inner_text()
    assert target.locator("svg.log rect.hatch").count() == 3  # clr2 applies to every machine
    assert page.locator(".outcomes tr:not(.target) rect.hatch").count() == 0


def test_an_event_in_focus_highlights_its_edges_and_its_line(
    site: Path, opened: Callable[..., Page]
) -> None:
    page = opened(site / KINDS["program"], width=1800)
    node = page.locator("svg.cycle .node").nth(2)
    node.focus()
    assert page.locator("svg.cycle .arrow.lit path").count() == 2
    assert page.locator(".beside .lit").inner_text().startswith("22")
    page.locator("h1").hover()
    node.blur()
    assert page.locator(".lit").count() == 0
    node.hover()
    assert page.locator("svg.cycle .arrow.lit path").count() == 2
