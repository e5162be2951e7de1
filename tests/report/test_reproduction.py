"""Each page of the report says how to get its answers again."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import msgspec
import pytest
from examples import small

from weakspot.harness.report.site import build
from weakspot.harness.values.record import Record


def text_of(record: Record, folder: Path, page: str) -> str:
    build.write_site(record, folder)
    return unescape((folder / "report" / f"{page}.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("tests/SB+rel-acqs", "weakspot check tests/SB+rel-acqs.litmus -m sc,tso,rc11,clr2"),
        ("programs/work_queue_two_thieves", "weakspot check work_queue -m sc,rc11"),
        ("structures/work_queue", "weakspot check work_queue -m sc,tso,rc11,clr2"),
    ],
)
def test_a_page_names_the_command_that_gives_its_answers_and_links_their_data(
    tmp_path: Path, page: str, command: str
) -> None:
    alone = text_of(small(), tmp_path / "alone", page)
    assert f"<code>{command}</code>" in alone
    assert '.jsonl"' not in alone
    (tmp_path / "campaign").mkdir()
    for name in ("verdicts.jsonl", "explorations.jsonl"):
        (tmp_path / "campaign" / name).touch()
    beside = text_of(small(), tmp_path / "campaign", page)
    name = "verdicts.jsonl" if page.startswith("tests") else "explorations.jsonl"
    assert f'href="../../{name}"' in beside


def test_a_program_of_the_user_is_named_as_the_campaign_was_given_it(tmp_path: Path) -> None:
    record = small()
    plan = msgspec.structs.replace(
        record.manifest.plan, what=("src/two thieves.c", "b.c"), models=("my/rc11.cat", "sc")
    )
    (known,) = record.structures
    scenario = msgspec.structs.replace(known.scenarios[2], file="two thieves.c")
    own = msgspec.structs.replace(known, scenarios=(scenario,), recorded=False)
    record = msgspec.structs.replace(
        record, manifest=msgspec.structs.replace(record.manifest, plan=plan), structures=(own,)
    )
    page = text_of(record, tmp_path, "programs/work_queue_two_thieves")
    assert "weakspot check 'src/two thieves.c' -m sc,my/rc11.cat</code> in the folder where" in page
