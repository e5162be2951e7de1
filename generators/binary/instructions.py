"""The machine code of functions in an object file.

In: the bytes of an unlinked ELF object. Out: by function, its instructions with their operands as
values. Only what can be reached from a function's beginning is decoded, so that data beside the
code (the traceback tables of the Power ABI) is never taken for it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from weakspot.errors import ToolFailed

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile


class Memory(msgspec.Struct, frozen=True):
    """An operand in memory: `base` (a register) plus `displacement`, of `size` bytes, 0 where the
    operand does not say. `index` is a second register, which is added `scale` times. `ahead` writes
    the address back to `base` before the access."""

    base: str
    displacement: int = 0
    size: int = 0
    index: str = ""
    ahead: bool = False
    scale: int = 1


Operand = str | int | Memory
"""A register in lower case, a number, memory."""


class Instruction(msgspec.Struct, frozen=True):
    """An instruction: the offset in its section, its length in bytes, its name in the
    disassembler's words, its operands. `symbol` is the symbol of its relocation, `target` the
    offset in the same section that the relocation refers to."""

    at: int
    length: int
    name: str
    text: str
    operands: tuple[Operand, ...]
    symbol: str = ""
    target: int | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.text}".rstrip()


class Function(msgspec.Struct, frozen=True):
    """A function: its name and the offsets of its code; `decoder` decodes instructions."""

    name: str
    start: int
    end: int
    decoder: Decoder

    def at(self, offset: int) -> Instruction | None:
        """The instruction there; None for bytes that are none, or not of this function."""
        return self.decoder.at(offset) if self.start <= offset < self.end else None

    def listing(self) -> str:
        """The assembly, one instruction per line, up to bytes that are no instruction."""
        lines, offset = [], self.start
        while (found := self.at(offset)) is not None:
            symbol = f"   ; {found.symbol}" if found.symbol else ""
            lines.append(f"{offset - self.start:4x}: {found}{symbol}")
            offset += found.length
        return "\n".join(lines)


class Decoder:
    """The code of a section, with its relocations; `start` is the offset, or the address, of its
    first byte."""

    def __init__(
        self,
        capstone: tuple[int, int],
        code: bytes,
        relocations: Mapping[int, tuple[str, int | None]],
        start: int = 0,
    ) -> None:
        self.capstone, self.code, self.relocations = capstone, code, relocations
        self.start = start
        self._known: dict[int, Instruction | None] = {}

    def at(self, offset: int) -> Instruction | None:
        if offset not in self._known:
            self._known[offset] = self._decode(offset)
        return self._known[offset]

    def _decode(self, offset: int) -> Instruction | None:
        disassembler = _disassembler(*self.capstone)
        for at, length, name, text in disassembler.disasm_lite(
            self.code[offset - self.start : offset - self.start + 16], offset, 1
        ):
            symbol, target = next(
                (found for each, found in self.relocations.items() if at <= each < at + length),
                ("", None),
            )
            return Instruction(at, length, name, text, operands(text), symbol, target)
        return None


@lru_cache
def _disassembler(architecture: int, mode: int) -> Any:
    import capstone  # type: ignore[import-untyped]

    return capstone.Cs(architecture, mode)


def functions(content: bytes, capstone: tuple[int, int]) -> dict[str, Function]:
    """The functions of an object file by name. `capstone` is the disassembler's architecture and
    mode. Raises ToolFailed for what is no ELF object."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        return _functions(ELFFile(io.BytesIO(content)), capstone)
    except ELFError as error:
        raise ToolFailed(f"the compiler wrote no ELF object: {error}") from error


def _functions(elf: ELFFile, capstone: tuple[int, int]) -> dict[str, Function]:
    table: Any = elf.get_section_by_name(".symtab")
    decoders: dict[int, Decoder] = {}
    found = {}
    for symbol in table.iter_symbols():
        section = symbol["st_shndx"]
        if symbol["st_info"]["type"] != "STT_FUNC" or not isinstance(section, int):
            continue
        if section not in decoders:
            decoders[section] = Decoder(
                capstone, elf.get_section(section).data(), _relocations(elf, table, section)
            )
        start = symbol["st_value"]
        end = start + symbol["st_size"]
        found[symbol.name] = Function(symbol.name, start, end, decoders[section])
    return found


def _relocations(elf: ELFFile, table: Any, section: int) -> dict[int, tuple[str, int | None]]:
    """The symbols of a section's relocations by offset, each with the offset that it refers to in
    the same section."""
    found: dict[int, tuple[str, int | None]] = {}
    for each in elf.iter_sections():
        if each["sh_type"] not in ("SHT_RELA", "SHT_REL") or each["sh_info"] != section:
            continue
        rows: Any = each
        for row in rows.iter_relocations():
            symbol = table.get_symbol(row["r_info_sym"])
            inside = symbol["st_shndx"] == section
            target = symbol["st_value"] + row.entry.get("r_addend", 0) if inside else None
            found[row["r_offset"]] = symbol.name, target
    return found


_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8}
_INTEL = re.compile(
    r"(?:(?P<size>\w+) ptr )?\[(?P<base>\w+)"
    r"(?: \+ (?P<index>[a-z]\w+)(?:\*(?P<scale>\d))?)?"
    r"(?: (?P<sign>[+-]) (?P<by>0x[0-9a-f]+|\d+))?\]"
)
_ARM = re.compile(
    r"\[(?P<base>\w+)(?:, #(?P<by>-?(?:0x)?[0-9a-f]+)|"
    r", (?P<index>[wx]\w+)(?:, (?:lsl|[us]xt[wx])(?: #(?P<shift>\d))?)?)?\](?P<ahead>!)?"
)
_DISPLACED = re.compile(r"(?P<by>-?(?:0x)?[0-9a-f]+)?\((?P<base>\w+)\)")
_NUMBER = re.compile(r"#?(-?(?:0x[0-9a-f]+|\d+))")
_APART = re.compile(r",\s*(?![^\[(]*[\])])")


def operands(text: str) -> tuple[Operand, ...]:
    """The operands of an instruction in the disassembler's words. An operand that is not recognised
    stays as it is written: no register has that name."""
    return tuple(_operand(part.strip()) for part in _APART.split(text) if part.strip())


def _operand(text: str) -> Operand:
    if match := _NUMBER.fullmatch(text):
        return int(match[1], 0)
    if match := _INTEL.fullmatch(text):
        by = int(match["by"] or "0", 0)
        size = _SIZES.get(match["size"] or "", 0)
        by = -by if match["sign"] == "-" else by
        return Memory(match["base"], by, size, match["index"] or "", scale=int(match["scale"] or 1))
    if match := _ARM.fullmatch(text):
        return Memory(
            match["base"],
            int(match["by"] or "0", 0),
            index=match["index"] or "",
            ahead=bool(match["ahead"]),
            scale=1 << int(match["shift"] or 0),
        )
    if match := _DISPLACED.fullmatch(text):
        return Memory(match["base"], int(match["by"] or "0", 0))
    return text
