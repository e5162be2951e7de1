"""The page of a folder of campaigns: each campaign, and how its results developed.

Campaigns of the same programs are listed together, in the order in which they were started. Each
is compared with the one before; the comparison is a page in its folder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.campaign.folder import campaigns, load
from weakspot.harness.judge.claims import confirmed
from weakspot.harness.judge.differences import compare
from weakspot.harness.report.campaign import summary
from weakspot.harness.report.site.build import write_site
from weakspot.harness.report.site.comparison_page import write_comparison
from weakspot.harness.report.site.writer import Templates
from weakspot.harness.values.descriptions import describe_machine
from weakspot.harness.values.difference import Comparison
from weakspot.harness.values.finding import by_cause
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.record import MachineInfo, Record
from weakspot.system.durations import duration_text
from weakspot.system.files import disk

_CHANGES = "report/changes.html"
_WIDTH, _HEIGHT, _MARGIN = 220.0, 48.0, 5.0


class Changes(msgspec.Struct, frozen=True):
    """How a campaign differs from the one before: findings that are new and gone, other answers and
    rates that changed, and the address of the comparison."""

    new: int
    gone: int
    other: int
    link: str

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.other)


class CampaignRow(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign in the list."""

    name: str
    link: str
    started: str
    duration: str
    state: str
    summary: str
    weakspot: str
    machines: tuple[str, ...]
    tests: int
    iterations: str
    changes: Changes | None
    figures: dict[str, float | None]  # what trends show, None where nothing was asked


class Trend(msgspec.Struct, frozen=True):
    """How a figure developed: a line through the points, in pixels, with the text of each."""

    name: str
    path: str
    points: tuple[tuple[float, float, str], ...]
    low: str
    high: str
    last: str

    width, height = _WIDTH, _HEIGHT


class Group(msgspec.Struct, frozen=True):
    """The campaigns of the same programs, the newest first, and the trends of their figures."""

    what: tuple[str, ...]
    rows: tuple[CampaignRow, ...]
    trends: tuple[Trend, ...]


def write_results(root: Path) -> Path:
    """Write the page of a folder of campaigns, and the sites of the campaigns that have none.
    Returns its path.

    Raises BadInput if there is no campaign in the folder, and WeakspotError if a file cannot be
    written.
    """
    folders = campaigns(root)
    if not folders:
        raise BadInput(
            "there is no campaign in this folder",
            place=str(root),
            advice="weakspot test writes one; name its folder, or a folder with several",
        )
    templates = Templates()
    rows: defaultdict[tuple[str, ...], list[CampaignRow]] = defaultdict(list)
    before: dict[tuple[str, ...], tuple[str, Record]] = {}
    damaged = []
    for folder in folders:
        try:
            record = load(folder)
        except BadInput as error:
            damaged.append(str(error))
            continue
        if not (folder / "index.html").exists():
            write_site(record, folder)
        what = record.manifest.plan.what
        changes = None
        if what in before:
            name, older = before[what]
            found = compare(older, record, (name, folder.name))
            write_comparison(found, folder / _CHANGES)
            changes = _changes(found, folder)
        met = before[what][1].machine if what in before else {}
        rows[what].append(_row(folder, record, changes, met))
        before[what] = folder.name, record
    groups = [
        Group(what, tuple(reversed(those)), tuple(_trends(those))) for what, those in rows.items()
    ]
    groups.sort(key=lambda group: group.rows[0].started, reverse=True)
    shown = {"groups": groups, "folder": root.resolve().name, "damaged": damaged}
    text = templates.single("results.html.j2", {"root": "", **shown})
    path = root / "index.html"
    with disk(path):
        path.write_text(text, encoding="utf-8")
    return path


def _changes(found: Comparison, folder: Path) -> Changes:
    changed = [each for each in found.differences if each.weight != "note"]
    findings = [each for each in changed if each.kind == "finding"]
    new = sum(bool(each.after) for each in findings)
    return Changes(
        new, len(findings) - new, len(changed) - len(findings), f"{quote(folder.name)}/{_CHANGES}"
    )


def _row(
    folder: Path, record: Record, changes: Changes | None, met: Mapping[str, MachineInfo]
) -> CampaignRow:
    manifest = record.manifest
    state, text = summary(record)
    iterations = sum(each.iterations for each in record.histograms)
    return CampaignRow(
        name=folder.name,
        link=f"{quote(folder.name)}/index.html",
        started=manifest.started,
        duration=_duration(manifest.started, manifest.finished),
        state=state,
        summary=text,
        weakspot=manifest.weakspot,
        machines=tuple(_machine(each, met.get(each.name)) for each in manifest.machines),
        tests=len(record.entries),
        iterations=rounded(iterations) if iterations else "",
        changes=changes,
        figures=_figures(record),
    )


def _machine(machine: MachineInfo, older: MachineInfo | None) -> str:
    """The name; with the hardware if the name led to other hardware in the campaign before."""
    if older is None or machine.is_same(older):
        return machine.name
    return f"{machine.name} (another one: {describe_machine(machine)})"


def _duration(started: str, finished: str) -> str:
    """Empty for a campaign that was interrupted; a resumed one includes the pause."""
    try:
        span = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
    except ValueError:
        return ""
    return duration_text(span.total_seconds())


def _figures(record: Record) -> dict[str, float | None]:
    claims = len(record.claims)
    ran = {each.test for each in record.histograms if each.iterations}
    seen = {each.test for each in record.histograms if each.target}
    explored = [each for each in record.explorations if each.result != "Unknown"]
    return {
        "findings": len(by_cause(record.errors)),
        "claims confirmed": confirmed(record) / claims if claims else None,
        "outcomes observed": len(seen) / len(ran) if ran else None,
        "explorations decided": len(explored) / len(record.explorations)
        if record.explorations
        else None,
    }


def _trends(rows: Sequence[CampaignRow]) -> list[Trend]:
    """A trend for each figure that at least two campaigns have."""
    found = []
    for name in rows[0].figures:
        values = [
            (at, value, row)
            for at, row in enumerate(rows)
            if (value := row.figures.get(name)) is not None
        ]
        if len(values) > 1:
            found.append(_trend(name, values, len(rows)))
    return found


def _trend(name: str, values: Sequence[tuple[int, float, CampaignRow]], count: int) -> Trend:
    is_share = name != "findings"
    top = 1.0 if is_share else max(1.0, *(value for _, value, _ in values))

    def text(value: float) -> str:
        return f"{100 * value:.0f} %" if is_share else f"{value:,.0f}"

    points = tuple(
        (
            round(_MARGIN + (_WIDTH - 2 * _MARGIN) * at / max(1, count - 1), 1),
            round(_HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * value / top, 1),
            f"{row.name}: {text(value)}",
        )
        for at, value, row in values
    )
    path = "M" + "L".join(f"{x} {y}" for x, y, _ in points)
    return Trend(name, path, points, "0", text(top), text(values[-1][1]))
