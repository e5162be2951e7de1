"""Pages: the templates, the Content-Security-Policy, and the files that are written.

A page loads its style and scripts from the site alone and contains none of its own; one that
stands alone contains its style, which the policy names by its digest. So names and sources, which
campaigns take from anywhere, are never executed.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from weakspot.harness.report.site.source_excerpts import SourceExcerpt
from weakspot.harness.values.descriptions import (
    execution_count,
    machine_label,
    negative_result_strength,
    observed_share,
)
from weakspot.harness.values.numbers import scientific
from weakspot.harness.values.state import state_text
from weakspot.system.files import disk

_SITE = Path(str(importlib.resources.files("weakspot.harness.report.site")))
_ASSETS = ("style.css", "table.js", "execution.js")
_FOLDERS = ("tests", "programs", "structures", "sources", "lists", "data", "assets")
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
            code=code,
        )

    def page(self, template: str, values: Mapping[str, object]) -> str:
        """A page of a site, with its style and scripts beside it."""
        policy = _POLICY.format("script-src 'self'; style-src 'self'; ")
        return self.environment.get_template(template).render(values, policy=policy)

    def single(self, template: str, values: Mapping[str, object]) -> str:
        """A page that consists of one file."""
        style = _style()
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = _POLICY.format(f"style-src 'sha256-{digest}'; ")
        return self.environment.get_template(template).render(
            values, policy=policy, stylesheet=Markup(style)
        )


@lru_cache(maxsize=1)
def _style() -> str:
    return (_SITE / "assets" / "style.css").read_text(encoding="utf-8")


class Pages:
    """The folder that the pages of a site are written into; `common` are values that all of them
    use."""

    def __init__(self, folder: Path, templates: Templates, common: Mapping[str, object]) -> None:
        self.folder, self.templates, self.common = folder, templates, common

    def assets(self) -> None:
        """Write style and scripts; remove the pages of an older site."""
        with disk(self.folder):
            for name in _FOLDERS:
                place = self.folder / "report" / name
                place.mkdir(parents=True, exist_ok=True)
                for old in (*place.glob("*.html"), *place.glob("*.js")):
                    old.unlink()
            for name in _ASSETS:
                content = (_SITE / "assets" / name).read_bytes()
                (self.folder / "report" / "assets" / name).write_bytes(content)

    def write(self, path: str, template: str, **values: object) -> None:
        text = self.templates.page(
            template, {**self.common, **values, "root": "../" * path.count("/")}
        )
        with disk(self.folder / path):
            (self.folder / path).write_text(text, encoding="utf-8")

    def data(self, name: str, value: Mapping[str, object]) -> None:
        """A script that sets the table's data: a page opened from a file may load no JSON."""
        path = self.folder / "report" / "data" / name
        with disk(path):
            path.write_bytes(b"window.weakspot = " + msgspec.json.encode(value) + b";\n")
