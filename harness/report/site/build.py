"""Writes the site.

    index.html                 the findings, the structures, every test
    report/structures/*.html   claims, scenarios, tests, source
    report/programs/*.html     one program: its explorations, runs and violations
    report/tests/*.html        one test: its cycle, verdicts, outcomes, source lines
    report/sources/*.html      the source of a structure, with its atomic operations marked
    report/lists/*.html        the rows of the tables of tests after the first ones
    report/data/*.js           the rows of the tables, which table.js filters in the browser
    report/assets/             style and scripts

All links are relative, so that a campaign's folder can be moved.
"""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.report.site.data import site_data
from weakspot.harness.report.site.pages import PAGES
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.record import Record


def write_site(record: Record, folder: Path) -> Path:
    """Write the site into a folder, replacing an older one. Returns the path of its first page.

    Raises WeakspotError if the folder cannot be written.
    """
    pages = tuple(PAGES)
    writer = SiteWriter(folder, site_data(record))
    writer.prepare([page.folder for page in pages if page.folder])
    for page in pages:
        page.write(writer)
    return folder / "index.html"
