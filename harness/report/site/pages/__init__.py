"""The kinds of pages of a campaign's site: the index, structures, sources, programs, litmus tests.

In: a SiteWriter, with the campaign's data. Out: files, which it writes. To add a kind of page, add
a file NAME.py that defines PAGE, and its template in templates/.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from weakspot.harness.report.site.writer import SiteWriter
from weakspot.system.registry import Registry


class Page(msgspec.Struct, frozen=True):
    """A kind of page. `write` writes all pages of this kind, into the folder of that name below
    report/; "" is the campaign's own."""

    name: str
    rank: int
    folder: str
    write: Callable[[SiteWriter], None]


PAGES: Registry[Page] = Registry("page", __name__, "PAGE")
"""The kinds of pages by name."""
