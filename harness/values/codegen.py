"""CodegenComparison: what a compiler's machine code allows, compared with its source."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.values.state import State


class CodegenComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The machine code of a C Test, decided under its instruction set's model, beside its source.

    `code` says what was compiled: the test's own C, or the operations of `program` that the test
    comes from. `builds` are the compiler configurations that emit the same code for `target`:
    "gcc-12 -O2". `result` is Preserved if `machine`, the instruction set's model, allows no
    outcome of the code that `model` forbids for the source; Weaker if it does, and
    `beyond` are these outcomes in the source's names; Undefined if the source has a data race;
    Unknown if something is not supported or a limit was reached (`reason` says which). The
    `reason` of a Preserved result says what was bounded. `test` is the code as a litmus test, None
    if it could not be read; `unread` is then the name of an instruction that is not supported, and
    why, if that is the reason.
    """

    source: str
    model: str
    target: str
    builds: tuple[str, ...]
    machine: str
    code: Literal["test", "operations"] = "test"
    program: str = ""
    result: Literal["Preserved", "Weaker", "Undefined", "Unknown"]
    beyond: tuple[State, ...] = ()
    reason: str = ""
    unread: str = ""
    sites: tuple[str, ...] = ()
    test: Test | None = None
    assembly: str = ""


class Codes(msgspec.Struct, frozen=True):
    """The comparisons of the test `source`, for all compiler configurations asked for."""

    source: str
    codes: tuple[CodegenComparison, ...]
