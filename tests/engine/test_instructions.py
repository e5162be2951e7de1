"""Each instruction computes what the architecture's manual says: instructions.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from asking import answers

from weakspot.harness.corpus import models

TABLE = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text())

MODELS = {"AArch64": "aarch64", "RISCV": "riscv", "PPC": "power", "X86_64": "x86", "X86": "x86"}

#: the register that holds the address of x, by dialect
ADDRESS = {"AArch64": "X1", "RISCV": "x6", "PPC": "r4", "X86_64": "rdx", "X86": "EDX"}


def rows() -> Iterator[Any]:
    for dialect, table in TABLE.items():
        for section, text, given, computed, *refused in table["rows"]:
            name = f"{dialect}: {section}: {text}"
            yield pytest.param(dialect, text, given, computed, bool(refused), id=name)


def litmus(dialect: str, text: str, given: Mapping[str, Any], computed: Mapping[str, int]) -> str:
    """A thread with the instructions, which asks for the values that they compute.

    `x:32` is a location of that many bits, whose address is in a register; `x:32[2]` is an array.
    """
    before = ""
    for name, value in given.items():
        location, _, of = name.partition(":")
        if not of:
            before += f"int64_t 0:{name}={value}; "
            continue
        bits, *array = of.split("[")
        initial = f"{{{','.join(map(str, value))}}}" if array else value
        address = "rsi" if re.search("cmpxchg(8|16)b", text) else ADDRESS[dialect]
        before += f"uint{bits}_t {'['.join([location, *array])}={initial}; 0:{address}={location}; "
    fresh = [name for name in computed if name not in given and not in_memory(name)]
    before += "".join(f"int64_t 0:{name}; " for name in fresh)
    lines = "".join(f" {each.strip()} ;\n" for each in text.split(";"))
    values = {name if in_memory(name) else f"0:{name}": value for name, value in computed.items()}
    condition = " /\\ ".join(f"{name}={value}" for name, value in values.items())
    return f"{dialect} T\n{{ {before}}}\n P0 ;\n{lines}forall ({condition})\n"


def in_memory(name: str) -> bool:
    """Whether a name is that of a location."""
    return name.startswith("x") and not name[1:].isdigit()


def key(name: str) -> str:
    """How an answer names a register, or a location."""
    if not in_memory(name):
        return f"0:{name}"
    return "[x]" if name == "x" else name


@pytest.mark.parametrize(("dialect", "text", "given", "computed", "refused"), list(rows()))
def test_an_instruction_computes_what_the_manual_says(
    dialect: str, text: str, given: Mapping[str, Any], computed: Mapping[str, int], refused: bool
) -> None:
    test = litmus(dialect, text, given, computed)
    (answer,) = answers([("T.litmus", test)], models.resolve(MODELS[dialect]).path)
    if refused:
        assert (answer["observation"], answer["states"]) == ("Unknown", ())
        return
    assert (answer["reason"], answer["states"]) == (
        "",
        ({key(name): str(value) for name, value in computed.items()},),
    )
