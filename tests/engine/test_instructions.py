"""Each instruction computes what the architecture's manual says: instructions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from asking import answers

from weakspot.harness.corpus import models

TABLE = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text())

MODELS = {"AArch64": "aarch64", "RISCV": "riscv", "PPC": "power", "X86_64": "x86"}


def rows() -> Iterator[Any]:
    for dialect, table in TABLE.items():
        for section, text, given, computed, *refused in table["rows"]:
            name = f"{dialect}: {section}: {text}"
            yield pytest.param(dialect, text, given, computed, bool(refused), id=name)


def litmus(dialect: str, text: str, given: Mapping[str, int], computed: Mapping[str, int]) -> str:
    """A thread with the instructions, which asks for the values that they compute."""
    before = "".join(f"int64_t 0:{name}={value}; " for name, value in given.items())
    before += "".join(f"int64_t 0:{name}; " for name in computed if name not in given)
    lines = "".join(f" {each.strip()} ;\n" for each in text.split(";"))
    condition = " /\\ ".join(f"0:{name}={value}" for name, value in computed.items())
    return f"{dialect} T\n{{ {before}}}\n P0 ;\n{lines}forall ({condition})\n"


@pytest.mark.parametrize(("dialect", "text", "given", "computed", "refused"), list(rows()))
def test_an_instruction_computes_what_the_manual_says(
    dialect: str, text: str, given: Mapping[str, int], computed: Mapping[str, int], refused: bool
) -> None:
    test = litmus(dialect, text, given, computed)
    (answer,) = answers([("T.litmus", test)], models.resolve(MODELS[dialect]).path)
    if refused:
        assert (answer["observation"], answer["states"]) == ("Unknown", ())
        return
    assert (answer["reason"], answer["states"]) == (
        "",
        ({f"0:{name}": str(value) for name, value in computed.items()},),
    )
