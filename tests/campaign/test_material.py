"""What the user names becomes tests, each name standing for one content."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import generated, make_structure, make_test

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import Generated
from weakspot.harness.corpus.material import drift, gather, joined
from weakspot.harness.corpus.resolution import content, resolve
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration


def giving(*tests: Test) -> object:
    def generator(structure: Structure, scenario: Scenario) -> Generated:  # noqa: ARG001
        return generated(tests)

    return generator


def test_a_c_file_is_a_program_without_claims(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int main(void) { return 0; }\n")
    (structure,), tests = resolve([str(tmp_path / "mine.c")])
    assert (structure.name, structure.recorded, structure.claims) == ("mine.c", False, ())
    assert tests == ()


def test_a_folder_gives_its_litmus_files(tmp_path: Path) -> None:
    (tmp_path / "SB.litmus").write_text(make_test("SB").text)
    material = gather([str(tmp_path)])
    assert [entry.name for entry in material.entries] == ["SB"]
    assert material.entries[0].models == ("sc", "tso", "rc20")


@pytest.mark.parametrize("word", ["nothing.c", "no/such/folder", "SB.litmus", "flgas"])
def test_a_file_that_does_not_exist_is_bad_input(tmp_path: Path, word: str) -> None:
    with pytest.raises(BadInput):
        resolve([word], make_structure(tmp_path))


def test_an_empty_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no litmus tests"):
        resolve([str(tmp_path)])


def test_two_contents_under_one_name_are_an_error(tmp_path: Path) -> None:
    for folder, value in (("a", 0), ("b", 1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "SB.litmus").write_text(make_test("SB", value=value).text)
    files = [str(tmp_path / folder / "SB.litmus") for folder in "ab"]
    with pytest.raises(BadInput, match="two different tests have the name SB"):
        gather(files)
    # those of a folder have their paths as names
    assert [entry.name for entry in gather([str(tmp_path)]).entries] == ["a/SB", "b/SB"]


def test_one_test_of_two_structures_has_both_origins_and_all_their_models(tmp_path: Path) -> None:
    corpus = make_structure(tmp_path / "corpus")
    other = make_structure(tmp_path / "more") / "flags"
    claims = (other / "claims.toml").read_text().replace('"tso"]', '"tso", "rc11"]')
    (other / "claims.toml").write_text(claims)
    other.rename(corpus / "flags2")

    def generator(structure: Structure, scenario: Scenario) -> Generated:  # noqa: ARG001
        return generated([make_test("SB", structure=structure.name)])

    material = gather(["all"], generator=generator, root=corpus)
    (entry,) = material.entries
    assert entry.structures == ("flags", "flags2")
    assert entry.models == ("sc", "tso", "rc11")
    assert {origin.structure for origin in entry.test.origins} == {"flags", "flags2"}


def test_a_line_more_in_the_source_makes_no_other_test() -> None:
    assert content(make_test("SB", line=3)) == content(make_test("SB", line=4))
    assert content(make_test("SB", value=0)) != content(make_test("SB", value=1))


def test_golden_files_distinguish_missing_added_and_changed_tests() -> None:
    old = [make_test("A"), make_test("B"), make_test("C")]
    new = [make_test("B"), make_test("C", value=1), make_test("D")]
    found = drift(old, new)
    assert (found.missing, found.added, found.changed) == (("A",), ("D",), ("C",))
    assert not drift(old, old)


def test_the_sources_that_sites_refer_to_are_stored(tmp_path: Path) -> None:
    corpus = make_structure(tmp_path)
    test = make_test("SB")
    made = generated([test])
    sites = tuple(site for sites in test.origins[0].sites for site in sites)
    program = msgspec.structs.replace(made.program, sites=sites)
    made = msgspec.structs.replace(made, program=program)
    material = gather(["flags"], generator=lambda *_: made, root=corpus)
    assert [(each.structure, each.file) for each in material.sources] == [("flags", "both.c")]


def test_the_tests_of_violations_join_the_others(tmp_path: Path) -> None:
    corpus = make_structure(tmp_path)
    material = gather(["flags"], generator=giving(make_test("SB")), root=corpus)  # type: ignore[arg-type]
    found = Exploration(
        program="flags/both",
        model="tso",
        result="Violated",
        tests=(make_test("SB", line=4), make_test("MP", line=5)),
    )
    entries = {entry.name: entry for entry in joined(material, [found]).entries}
    assert list(entries) == ["MP", "SB"]
    assert (entries["MP"].structures, entries["MP"].models) == (("flags",), ("sc", "tso"))
    assert [str(origin.sites[0][0]) for origin in entries["SB"].test.origins] == [
        "both.c:3",
        "both.c:4",
    ]
