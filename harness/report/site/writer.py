"""Writes pages: their templates, the Content-Security-Policy, and the files.

A page loads its style and scripts from the site alone and contains none of its own; one that
stands alone contains its style, which the policy names by its digest. So names and sources, which
campaigns take from anywhere, are never executed.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.diagrams import LETTER, Diagram
from weakspot.harness.report.site.litmus_table import PAGE, TestTable
from weakspot.harness.report.site.source_excerpts import SourceExcerpt
from weakspot.harness.values.descriptions import (
    describe_evidence,
    describe_steadiness,
    execution_count,
    machine_label,
    negative_result_strength,
    observed_share,
)
from weakspot.harness.values.numbers import scientific
from weakspot.harness.values.rates import rate
from weakspot.harness.values.record import MachineInfo
from weakspot.harness.values.state import state_text
from weakspot.system.files import disk

_SITE = Path(str(importlib.resources.files("weakspot.harness.report.site")))
_STYLES = ("execution.css", "style.css")
_ASSETS = (*_STYLES, "table.js", "execution.js")
_FOLDERS = ("lists", "data", "assets")
_MOST = 100  # findings on one page
_POLICY = "default-src 'none'; {}img-src data:; base-uri 'none'; form-action 'none'"


class Templates:
    """The templates of every page."""

    def __init__(self) -> None:
        self.environment = Environment(
            loader=FileSystemLoader(_SITE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        macros = self.environment.get_template("parts.html.j2").make_module({"root": "../../"})

        @lru_cache(maxsize=4096)  # many tests come from the same few source lines
        def code(excerpt: SourceExcerpt) -> Markup:
            return Markup(macros.code(excerpt))  # type: ignore[attr-defined]

        self.environment.filters.update(
            share=observed_share,
            negative_result_strength=negative_result_strength,
            state_text=state_text,
            scientific=scientific,
            execution_count=execution_count,
            machine_label=machine_label,
            evidence_text=describe_evidence,
            profile=_profile,
            rate_text=_rate_text,
            code=code,
        )

    def page(self, template: str, values: Mapping[str, object]) -> str:
        """A page of a site, with its style and scripts beside it."""
        policy = _POLICY.format("script-src 'self'; style-src 'self'; ")
        return self.environment.get_template(template).render(values, policy=policy)

    def single(self, template: str, values: Mapping[str, object]) -> str:
        """A page that consists of one file."""
        style = "".join(map(_asset, _STYLES))
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = _POLICY.format(f"style-src 'sha256-{digest}'; ")
        return self.environment.get_template(template).render(
            values, policy=policy, stylesheet=Markup(style)
        )

    def picture(self, title: str, found: Diagram) -> str:
        """An SVG file."""
        lines = len(found.meanings) + found.has_cycle
        text = self.environment.get_template("execution.svg.j2").render(
            title=title,
            d=found,
            width=max(found.width, 24 + LETTER * len(title)),
            height=found.height + 18 * lines + 48,
            style=Markup(_asset("execution.css")),
        )
        return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", " ", text)  # which XML does not allow


@lru_cache(maxsize=2)
def _asset(name: str) -> str:
    return (_SITE / "assets" / name).read_text(encoding="utf-8")


class SiteWriter:
    """Writes the pages of a campaign's site into a folder; all of them use the same few values."""

    def __init__(self, folder: Path, site: SiteData) -> None:
        self.folder, self.site = folder, site
        self._templates = Templates()
        self._templates.environment.globals["source_link"] = site.source_link
        self._common = {
            "most": _MOST,
            "page_size": PAGE,
            "record": site.record,
            "manifest": site.record.manifest,
            "programs": site.programs,
            "structures": site.structures,
        }

    def prepare(self, folders: Iterable[str]) -> None:
        """Make the folders of pages, without those of an older site; write style and scripts."""
        with disk(self.folder):
            for name in (*folders, *_FOLDERS):
                place = self.folder / "report" / name
                place.mkdir(parents=True, exist_ok=True)
                for old in (*place.glob("*.html"), *place.glob("*.js")):
                    old.unlink()
            for name in _ASSETS:
                content = (_SITE / "assets" / name).read_bytes()
                (self.folder / "report" / "assets" / name).write_bytes(content)

    def write(self, path: str, template: str, **values: object) -> None:
        """Write a page."""
        root = "../" * path.count("/")
        text = self._templates.page(template, {**self._common, **values, "root": root})
        with disk(self.folder / path):
            (self.folder / path).write_text(text, encoding="utf-8")

    def table(self, table: TestTable, page: str) -> TestTable:
        """Write the data of a table and the lists of its later rows; `page` shows the table."""
        path = self.folder / "report" / "data" / table.data
        with disk(path):
            # a script that sets the data: a page opened from a file may load no JSON
            data = msgspec.json.encode(table.encoded())
            path.write_bytes(b"window.weakspot = " + data + b";\n")
        for at, name in enumerate(table.lists, 1):
            self.write(
                f"report/lists/{name}",
                "list.html.j2",
                table=table,
                first=at * PAGE + 1,
                last=min((at + 1) * PAGE, len(table.rows)),
                back=f"../../{quote(page)}",
            )
        return table


def _rate_text(counts: tuple[int, int]) -> str:
    """`2.3·10⁻³ (1.9·10⁻³ to 2.8·10⁻³)`"""
    found = rate(*counts)
    return f"{scientific(found.value)} ({scientific(found.low)} to {scientific(found.high)})"


def _profile(machine: MachineInfo) -> Iterator[tuple[str, str]]:
    """The properties of a machine, as text; empty for those that could not be read."""
    profile = {**machine.profile, "evenness": describe_steadiness(machine.profile)}
    yield "arch", machine.arch
    for name, value in profile.items():
        if name in ("machine", "arch", *_MEASURED) or (name in _RARE and value is None):
            continue
        if name == "memory" and isinstance(value, int):
            value = f"{value / (1 << 30):.1f} GiB"
        yield name.replace("_", " "), "" if value is None else _text(value)


_MEASURED = ("probes", "throttling", "steal")  # printed as evenness
_RARE = ("quota", "emulator")  # left out where absent, which is the usual case


def _text(value: object) -> str:
    """A value of a machine's profile."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
