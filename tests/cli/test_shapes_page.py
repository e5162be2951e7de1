"""The table of shapes in docs/weak-memory.md is what the models say."""

from __future__ import annotations

from pathlib import Path

import pytest

import weakspot
from weakspot.generators.litmus import Test

PAGE = Path(__file__).resolve().parents[2] / "docs" / "weak-memory.md"
ORDERS = {
    "rlx": ("relaxed", "relaxed"),
    "rel/acq": ("release", "acquire"),
    "seq_cst": ("seq_cst",) * 2,
}
#: per thread its accesses: Wx1 stores 1 to x, Rx loads x
SHAPES = {
    "MP": (["Wx1 Wy1", "Ry Rx"], "1:r0=1 /\\ 1:r1=0"),
    "SB": (["Wx1 Ry", "Wy1 Rx"], "0:r0=0 /\\ 1:r0=0"),
    "LB": (["Rx Wy1", "Ry Wx1"], "0:r0=1 /\\ 1:r0=1"),
    "S": (["Wx2 Wy1", "Ry Wx1"], "1:r0=1 /\\ x=2"),
    "IRIW": (["Wx1", "Wy1", "Rx Ry", "Ry Rx"], "2:r0=1 /\\ 2:r1=0 /\\ 3:r0=1 /\\ 3:r1=0"),
}
MACHINES = ("x86", "aarch64", "power", "riscv")


def rows() -> dict[str, list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[2:] for row in cells if row[0] in SHAPES}


def written(shape: str, orders: str) -> str:
    threads, condition = SHAPES[shape]
    store, load = ORDERS[orders]
    text = f"C {shape}\n{{}}\n"
    for number, accesses in enumerate(threads):
        text += f"P{number} (atomic_int* x, atomic_int* y) {{\n"
        reads = 0
        for access in accesses.split():
            at = access[1]
            if access[0] == "W":
                text += f"  atomic_store_explicit({at}, {access[2]}, memory_order_{store});\n"
            else:
                text += f"  int r{reads} = atomic_load_explicit({at}, memory_order_{load});\n"
                reads += 1
        text += "}\n"
    return f"{text}exists ({condition})\n"


def is_possible(test: Test, model: str) -> bool:
    (verdict,) = weakspot.check(test, models=[model])
    assert isinstance(verdict, weakspot.Verdict)
    return verdict.observation == "Sometimes"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_table_is_what_the_models_say(shape: str, tmp_path: Path) -> None:
    expected = rows()[shape]
    language: list[str] = []
    machines: dict[str, list[str]] = {machine: [] for machine in MACHINES}
    for orders in ORDERS:
        path = tmp_path / f"{shape}.litmus"
        path.write_text(written(shape, orders))
        (test,) = weakspot.generate(path)
        language.append("yes" if is_possible(test, "rc20") else "no")
        for machine in MACHINES if orders != "seq_cst" else ():
            (mapped,) = weakspot.generate(path, isa=[machine])
            if is_possible(mapped, machine):
                machines[machine].append(orders)
    assert expected == [*language, *(", ".join(machines[each]) or "no" for each in MACHINES)]


def test_store_buffering_with_ldapr_is_possible_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "SB.litmus"
    path.write_text(written("SB", "rel/acq"))
    (mapped,) = weakspot.generate(path, isa=["aarch64-rcpc"])
    assert is_possible(mapped, "aarch64")
