"""What is in a campaign's folder survives torn lines, full disks and other processes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weakspot.errors import BadInput, WeakspotError
from weakspot.harness.campaign.folder import FolderStore, load, new_folder, read_manifest
from weakspot.harness.values.record import FORMAT, Entry, Manifest, ModelInfo, Plan, digest, key
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import Witness, WitnessEvent
from weakspot.system.files import file_names

from fakes import make_test  # isort: skip

MANIFEST = Manifest(
    format=FORMAT,
    weakspot="0",
    plan=Plan(what=("flags",)),
    started="2026-11-21T14:02:00+0000",
    models=(ModelInfo("sc", "SC", "reference", (), "m"),),
)
TEST = make_test("SB")
ENTRY = Entry(test=TEST, structures=(), models=("sc",), digest="t", file="SB.litmus")


def verdict(checker: str) -> Verdict:
    return Verdict(
        test="SB", model="sc", checker=checker, observation="Never", condition_holds=False
    )


def campaign(folder: Path, *checkers: str) -> Path:
    with FolderStore.create(folder, MANIFEST) as store:
        store.subjects(msgspec.structs.replace(store.record(), entries=(ENTRY,)))
        for checker in checkers:
            store.put(key("t", "m", checker), verdict(checker))
    return folder


@settings(max_examples=40, deadline=None)  # each waits for the disk
@given(length=st.integers(min_value=0, max_value=10_000))
def test_a_file_truncated_at_any_byte_loses_one_job_at_most(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    folder = campaign(tmp_path_factory.mktemp("truncated") / "campaign", "a", "b", "c")
    path = folder / "verdicts.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[: length % (len(content) + 1)])
    whole = path.read_bytes().count(b"\n")
    assert len(load(folder).verdicts) == whole
    with FolderStore.open(folder) as store:
        assert store.count == whole
        store.put(key("t", "m", "d"), verdict("d"))
    assert {each.checker for each in load(folder).verdicts} == {*"abc"[:whole], "d"}


def test_an_incomplete_last_line_is_reported(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "campaign", "a", "b")
    with (folder / "verdicts.jsonl").open("ab") as out:
        out.write(b'{"key":"t:m:c","test":"S')
    assert load(folder).notes == ("verdicts.jsonl: its last line was torn; that job is done again",)
    with FolderStore.open(folder) as store:
        assert len(store.notes) == 1
    assert load(folder).notes == ()


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "campaign", "a", "b", "c")
    path = folder / "verdicts.jsonl"
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:20] + b"\n" + third)
    with pytest.raises(BadInput, match="damaged") as caught:
        load(folder)
    assert str(caught.value.place).endswith("verdicts.jsonl:2")
    with pytest.raises(BadInput, match="damaged"):
        FolderStore.open(folder)
    path.write_bytes(first + third)
    with FolderStore.open(folder) as store:  # the failed opening has left no lock behind
        assert store.count == 2


def test_a_job_that_was_done_twice_counts_once(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "campaign", "a", "a")
    assert len(load(folder).verdicts) == 1


def test_verdicts_that_are_read_are_those_written_and_share_their_events(tmp_path: Path) -> None:
    written = []
    for checker in ("one", "two"):
        witness = Witness(
            events=(WitnessEvent(None, "", "W", location="x", written="0"),),
            rf=((0, 1),),
            state={"0:r0": "1"},
        )
        found = msgspec.structs.replace(verdict(checker), witness=witness, states=({"x": "1"}, {}))
        written.append(found)
    with FolderStore.create(tmp_path / "campaign", MANIFEST) as store:
        store.subjects(msgspec.structs.replace(store.record(), entries=(ENTRY,)))
        for each in written:
            store.put(key("t", "m", each.checker), each)
    one, two = load(tmp_path / "campaign").verdicts
    assert [one, two] == written
    assert one.witness is not None
    assert two.witness is not None
    assert one.witness.events[0] is two.witness.events[0]


def test_answers_about_a_test_that_has_changed_do_not_count(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "campaign", "a")
    with FolderStore.open(folder) as store:
        other = Entry(test=TEST, structures=(), models=("sc",), digest="u", file="SB.litmus")
        store.subjects(msgspec.structs.replace(store.record(), entries=(other,)))
    assert load(folder).verdicts == ()


def test_a_folder_that_cannot_be_written_is_an_error_with_advice(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(WeakspotError, match="cannot write") as caught:
        FolderStore.create(blocked / "campaign", MANIFEST)
    assert "name a folder" in str(caught.value.advice)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_an_error_with_advice(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WeakspotError, match="cannot write"):
        FolderStore.create(tmp_path / "campaign", MANIFEST)


def test_a_full_disk_keeps_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = campaign(tmp_path / "campaign", "a")
    real = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 40:
            return real(file, data[:40])
        raise OSError(errno.ENOSPC, "No space left on device")

    with FolderStore.open(folder) as store:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(WeakspotError, match="disk is full") as caught:
            store.put(key("t", "m", "b"), verdict("b"))
        monkeypatch.undo()
        assert "completed work is preserved" in str(caught.value.advice)
    with FolderStore.open(folder) as store:
        assert (store.count, store.has("t:m:a")) == (1, True)


def test_a_folder_with_other_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match="not empty"):
        FolderStore.create(tmp_path, MANIFEST)


def test_a_campaign_interrupted_during_creation_begins_again(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("")
    (tmp_path / "campaign.json.new").write_text('{"form')
    with FolderStore.create(tmp_path, MANIFEST) as store:
        assert store.count == 0


def test_a_campaign_of_another_format_is_refused(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "campaign")
    text = (folder / "campaign.json").read_text()
    (folder / "campaign.json").write_text(text.replace(f'"format": {FORMAT}', '"format": 99'))
    with pytest.raises(BadInput, match="format 99"):
        read_manifest(folder)


def test_a_folder_without_a_campaign_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a campaign's folder"):
        load(tmp_path)


def test_new_folders_do_not_collide(tmp_path: Path) -> None:
    first = new_folder(tmp_path)
    first.mkdir()
    second = new_folder(tmp_path)
    assert second != first
    assert second.name.startswith(first.name[:13])


@given(st.lists(st.text(min_size=1), unique=True))
def test_every_test_gets_a_file_of_its_own(names: list[str]) -> None:
    files = list(file_names(names))
    assert len({file.lower() for file in files}) == len(names)
    assert all("/" not in file and not file.startswith(".") for file in files)


def test_a_usual_name_is_the_name_of_its_file() -> None:
    assert list(file_names(["SB+rel-acqs", "2+2W"])) == ["SB+rel-acqs.litmus", "2+2W.litmus"]


def test_a_digest_distinguishes_texts() -> None:
    assert digest("a", "b") != digest("ab")
