"""The kinds of finding: stable ids, titles, and a short form of what each means and advises.

A kind is a page in docs/findings, which `weakspot explain` prints: its head has the severity and
the advice, its heading the title, its first paragraph the meaning. A new kind is a page.
"""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.system import packages

_PAGE = re.compile(
    r"---\nseverity: (?P<severity>error|warning|note)\nadvice: (?P<advice>[^\n]*)\n---\n"
    r"(?P<text># (?P<id>\w+) (?P<title>[^\n]*)\n\n(?P<meaning>.*?)\n\n.*)",
    re.DOTALL,
)


class FindingKind(msgspec.Struct, frozen=True):
    """What an id stands for. `severity` is the usual one; a finding may have a lower one. `text` is
    the page, in Markdown."""

    id: str
    title: str
    severity: Literal["error", "warning", "note"]
    meaning: str
    advice: str
    text: str


def _read(page: Path) -> FindingKind:
    found = _PAGE.fullmatch(page.read_text(encoding="utf-8"))
    assert found is not None, f"{page.name} has no severity, advice, title or meaning"
    parts = found.groupdict()
    parts["advice"] = json.loads(parts["advice"])
    parts["meaning"] = " ".join(parts["meaning"].replace("`", "").split())
    return msgspec.convert(parts, FindingKind)


KINDS: dict[str, FindingKind] = {
    page.stem: _read(page) for page in sorted(packages.folder("weakspot.pages").glob("WS*.md"))
}


def kind(name: str) -> FindingKind:
    """The kind with that id, in upper or lower case. Raises BadInput that lists the ids."""
    found = KINDS.get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), KINDS, n=1)
        advice = f"did you mean {close[0]}? " if close else ""
        raise BadInput(f"unknown finding {name}", advice=f"{advice}the ids are {', '.join(KINDS)}")
    return found
