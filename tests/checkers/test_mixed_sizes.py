"""Accesses of mixed sizes are decided piece by piece where the model relates the pieces of an
access, and refused elsewhere. The states are those of herd7's variant `mixed`, unless a test says
why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import answers
from texts import asked, made

from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import models

AARCH64 = models.load()["aarch64"].path
X86 = models.load()["x86"].path


def states(text: str, model: Path = AARCH64) -> set[tuple[str, ...]]:
    """The values of what a test lists, in each final state."""
    (answer,) = answers([("t.litmus", text)], model, folders=[str(AARCH64.parent)])
    assert answer["observation"] != "Unknown", answer["reason"]
    return {tuple(map(str, state.values())) for state in answer["states"]}


def reason(text: str, model: Path = AARCH64) -> str:
    (answer,) = answers([("t.litmus", text)], model, folders=[str(AARCH64.parent)])
    assert answer["observation"] == "Unknown"
    return answer["reason"] or ""


def aarch64(initial: str, threads: list[list[str]], listed: str) -> str:
    """A test in which X1 of every thread has the address of x."""
    rows = max(map(len, threads))
    columns = [column + [""] * (rows - len(column)) for column in threads]
    code = "".join(" | ".join(row) + " ;\n" for row in zip(*columns, strict=True))
    heads = " | ".join(f"P{number}" for number in range(len(threads)))
    addresses = " ".join(f"{number}:X1=x;" for number in range(len(threads)))
    return (
        f"AArch64 t\n{{ {initial} {addresses} }}\n{heads} ;\n{code}"
        f"locations [{listed}]\nexists ({listed.split(';')[0]}=0)\n"
    )


def test_a_store_is_seen_whole_or_not_at_all_by_a_load_of_its_size() -> None:
    text = aarch64(
        "uint64_t x=0x1111111122222222; uint64_t 0:X0=0x3333333344444444; uint64_t 1:X0;",
        [["STR X0,[X1]"], ["LDR X0,[X1]", "LDRB W2,[X1,#5]"]],
        "1:X0; 1:X2;",
    )
    whole, new = 0x1111111122222222, 0x3333333344444444
    assert states(text) == {(str(whole), str(0x11)), (str(whole), str(0x33)), (str(new), str(0x33))}


def test_two_halves_of_a_store_are_read_in_any_order() -> None:
    text = aarch64(
        "uint64_t x; uint64_t 0:X0=0x100000001;",
        [["STR X0,[X1]"], ["LDR W2,[X1,#4]", "LDR W3,[X1]"]],
        "1:X2; 1:X3;",
    )
    assert states(text) == {("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")}
    ordered = text.replace("STR X0,[X1] | LDR W2,[X1,#4] ;\n", "STR X0,[X1] | LDAR W3,[X1] ;\n")
    ordered = ordered.replace(" | LDR W3,[X1] ;", " | LDR W2,[X1,#4] ;")
    assert ordered.count("LDAR") == 1
    assert states(ordered) == {("0", "0"), ("1", "0"), ("1", "1")}


def test_what_is_stored_into_a_part_leaves_the_rest() -> None:
    text = aarch64(
        "uint32_t x=0x11223344; 0:X0=0xAA;", [["STRB W0,[X1,#2]", "LDRH W2,[X1]"]], "0:X2; x;"
    )
    assert states(text) == {(str(0x3344), str(0x11AA3344))}


def test_accesses_of_one_size_leave_the_rest_of_a_wider_initial_value() -> None:
    text = aarch64("uint64_t x=0x500000006; 0:X0=7;", [["STR W0,[X1]"]], "x;")
    assert states(text) == {(str(0x500000007),)}
    x86 = "X86_64 t\n{ uint64_t x=0x500000006; }\n P0 ;\n movl $7,(x) ;\nexists (x=0)\n"
    assert states(x86, X86) == {(str(0x500000007),)}


def test_elements_of_an_array_are_accessed_as_one() -> None:
    text = aarch64("uint32_t x[2]={1,2}; uint64_t 0:X2;", [["LDR X2,[X1]"]], "0:X2;")
    assert states(text) == {(str(0x200000001),)}


def test_an_exclusive_store_fails_after_a_load_of_another_size() -> None:
    text = aarch64("0:X0=1;", [["LDXR W2,[X1]", "STXRB W3,W0,[X1]"]], "0:X3; x;")
    assert states(text) == {("1", "0")}


@pytest.mark.parametrize(
    ("code", "place"),
    [("LDR X2,[X1]", "x "), ("LDRH W2,[X1,#1]", r"x+1"), ("LDR W2,[X1,#4]", "x+4")],
)
def test_accesses_that_are_not_aligned_or_reach_beyond_are_refused(code: str, place: str) -> None:
    text = aarch64("", [["LDRB W3,[X1]", code]], "0:X2;")
    assert f"an access to {place}" in reason(text)


def test_a_model_that_does_not_relate_the_pieces_of_an_access_is_refused(tmp_path: Path) -> None:
    text = aarch64("0:X0=1;", [["STRB W0,[X1]", "LDR W2,[X1]"]], "0:X2;")
    cat = tmp_path / "plain.cat"
    cat.write_text('"plain"\ninclude "cos.cat"\nacyclic po | rf | co | fr\n')
    assert "the model plain does not apply: it does not use sm" in reason(text, cat)
    cat.write_text('"related"\ninclude "cos.cat"\nacyclic po | (rf | co | fr); sm\n')
    assert states(text, cat) == {("1",)}


def test_an_atomic_operation_that_could_read_what_it_writes_is_refused(tmp_path: Path) -> None:
    """herd7 answers that it reads 5."""
    text = aarch64("0:X0=5;", [["SWPB W0,W2,[X1]", "LDR W3,[X1]"]], "0:X2;")
    assert states(text) == {("0",)}
    cat = tmp_path / "related.cat"
    cat.write_text('"related"\ninclude "cos.cat"\nacyclic po | (rf | co | fr); sm\n')
    assert "to read what it writes itself" in reason(text, cat)


def test_a_sum_that_exceeds_its_bytes_is_narrowed() -> None:
    """herd7 writes 256 into a byte."""
    text = aarch64("x=511; 0:X0=1;", [["LDADDB W0,W2,[X1]", "LDRH W3,[X1]"]], "0:X3;")
    assert states(text) == {(str(0x100),)}


def test_a_cycle_of_a_witness_goes_through_the_pieces_of_an_access() -> None:
    text = aarch64(
        "uint64_t x; uint64_t 1:X2=0x1200000034; 0:X4=0x55;",
        [["LDR W0,[X1,#4]", "STR W4,[X1]"], ["STR X2,[X1]"]],
        "0:X0;",
    ).replace("exists (0:X0=0)", "exists (0:X0=0x12 /\\ x=0x1200000034)")
    (verdict,) = asked(Engine(), [made(text)], "aarch64")
    assert verdict.observation == "Sometimes"
    assert verdict.witness is not None
    assert [kind for *_, kind in verdict.witness.cycle] == ["po", "co", "rf"]


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("SWPB W0,W2,[X1]", 0x88, 0x7F),
        ("LDADDB W0,W2,[X1]", 0x88, 0x07),
        ("LDSETB W0,W2,[X1]", 0x88, 0xFF),
        ("LDSMAXB W0,W2,[X1]", 0x88, 0x7F),
        ("LDSMINB W0,W2,[X1]", 0x88, 0x88),
        ("LDUMAXB W0,W2,[X1]", 0x88, 0x88),
        ("LDUMINB W0,W2,[X1]", 0x88, 0x7F),
    ],
)
def test_an_atomic_instruction_uses_the_part_of_its_registers_that_it_accesses(
    code: str, old: int, new: int
) -> None:
    """All accesses have one size, and the register has more bits."""
    initial = f"uint8_t x={old}; uint64_t 0:X0=0x1200FF7F; uint64_t 0:X2; uint64_t 0:X3;"
    text = aarch64(initial, [[code, "SWPB W0,W3,[X1]"]], "0:X2; 0:X3;")
    assert states(text) == {(str(old), str(new))}
