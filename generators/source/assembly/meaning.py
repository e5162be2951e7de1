"""What the user says that inline assembly does."""

from __future__ import annotations

import msgspec

WRAPPER = "weakspot_asm_"
"""How the names of the functions begin that stand for assembly in IR."""


class Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`pattern` is a glob over the text of the assembly as it stands in the source, white space
    collapsed; `body` are C statements in which %0, %1, … are the operands."""

    pattern: str
    body: str
