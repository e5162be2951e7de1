"""A linked program and its debug information: instructions, source lines, variables.

In: the bytes of an ELF program, and the source files of interest; other linked code, such as the C
library, is left out. The debug information is DWARF 4, which all compilers write alike.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weakspot.errors import ToolFailed
from weakspot.generators.binary.instructions import Decoder, Instruction

if TYPE_CHECKING:
    from elftools.dwarf.die import DIE
    from elftools.elf.elffile import ELFFile

_EXECUTABLE = 1
_ADDRESS = 0x03  # DW_OP_addr: a fixed address
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\+(\d+)")


class SourceLocation(msgspec.Struct, frozen=True):
    """A line of a source file."""

    file: Path
    line: int


class Image:
    """A linked program. `ranges` are the addresses of the code of each source file, `symbols` the
    start and the end of each symbol."""

    def __init__(self, content: bytes, capstone: tuple[int, int], sources: frozenset[str]) -> None:
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.elf.elffile import ELFFile

        self.ranges: dict[str, list[tuple[int, int]]] = {each: [] for each in sources}
        self.symbols: dict[str, tuple[int, int]] = {}
        self._rows: list[tuple[int, SourceLocation | None]] = []
        self._variables: dict[str, tuple[int, DIE]] = {}
        self._ambiguous: set[str] = set()  # static in several functions
        try:
            elf = ELFFile(io.BytesIO(content))
            self._decoders = list(_decoders(elf, capstone))
            table: Any = elf.get_section_by_name(".symtab")
            for symbol in table.iter_symbols():
                start = symbol["st_value"]
                self.symbols[symbol.name] = start, start + symbol["st_size"]
            self._read_debug(elf, sources)
        except (ELFError, DWARFError) as error:
            raise ToolFailed(f"the compiler wrote no ELF program: {error}") from error
        self._rows.sort(key=lambda row: (row[0], row[1] is not None))
        self._starts = [address for address, _ in self._rows]
        self.address = lru_cache(maxsize=None)(self._address)

    def at(self, address: int) -> Instruction | None:
        for start, end, decoder in self._decoders:
            if start <= address < end:
                return decoder.at(address)
        return None

    def source_location(self, address: int) -> SourceLocation | None:
        """The source line of an instruction; None if it is not in one of the source files."""
        at = bisect_right(self._starts, address) - 1
        return self._rows[at][1] if at >= 0 else None

    def _address(self, name: str) -> int | None:
        """The address of a location as the engine names it, `q.slot[1].turn`; None if it is no
        variable with a fixed address."""
        base = re.match(r"\w+", name)
        if base is None or base[0] not in self._variables or base[0] in self._ambiguous:
            return None
        address, of = self._variables[base[0]]
        at = base.end()
        while at < len(name):
            step = _STEP.match(name, at)
            inner = _plain(of)
            if step is None or inner is None:
                return None
            at = step.end()
            if step[3]:
                return address + int(step[3]) if at == len(name) else None
            found = _member(inner, step[1]) if step[1] else _element(inner, int(step[2]))
            if found is None:
                return None
            address, of = address + found[0], found[1]
        return address

    def _read_debug(self, elf: ELFFile, sources: frozenset[str]) -> None:
        if not elf.has_dwarf_info():
            return
        information: Any = elf.get_dwarf_info()
        for unit in information.iter_CUs():
            top = unit.get_top_DIE()
            name = top.attributes["DW_AT_name"].value.decode()
            if name not in sources:
                continue
            folder = Path(_text(top, "DW_AT_comp_dir"))
            self._read_lines(information.line_program_for_CU(unit), folder, name)
            for die in unit.iter_DIEs():
                if die.tag == "DW_TAG_variable":
                    self._read_variable(die, unit)

    def _read_lines(self, program: Any, folder: Path, source: str) -> None:
        header = program.header
        files = [folder / _path(header, entry) for entry in header.file_entry]
        first = 0 if header.version >= 5 else 1
        start: int | None = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if start is None:
                start = state.address
            if state.end_sequence:
                if start != state.address and start:
                    self.ranges[source].append((start, state.address))
                self._rows.append((state.address, None))
                start = None
                continue
            location = SourceLocation(files[state.file - first].resolve(), state.line)
            self._rows.append((state.address, location))

    def _read_variable(self, die: DIE, unit: Any) -> None:
        where = die.attributes.get("DW_AT_location")
        named = die
        if "DW_AT_specification" in die.attributes:
            named = die.get_DIE_from_attribute("DW_AT_specification")
        if where is None or "DW_AT_name" not in named.attributes:
            return
        expression = where.value
        if not isinstance(expression, list) or len(expression) != 1 + unit.header.address_size:
            return
        if expression[0] == _ADDRESS:
            address = int.from_bytes(bytes(expression[1:]), "little")
            name = named.attributes["DW_AT_name"].value.decode()
            if self._variables.setdefault(name, (address, named))[0] != address:
                self._ambiguous.add(name)


def _decoders(elf: ELFFile, capstone: tuple[int, int]) -> Iterator[tuple[int, int, Decoder]]:
    for segment in elf.iter_segments("PT_LOAD"):
        if segment["p_flags"] & _EXECUTABLE:
            start, code = segment["p_vaddr"], segment.data()
            yield start, start + len(code), Decoder(capstone, code, {}, start)


def _text(die: DIE, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode() if found is not None else ""


def _path(header: Any, entry: Any) -> str:
    name = entry.name.decode()
    folders = header.include_directory
    at = entry.dir_index if header.version >= 5 else entry.dir_index - 1
    return str(Path(folders[at].decode()) / name) if 0 <= at < len(folders) else name


_NAMES = (
    *("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_const_type", "DW_TAG_atomic_type"),
    *("DW_TAG_variable", "DW_TAG_member", "DW_TAG_restrict_type"),
)


def _plain(die: DIE | None) -> DIE | None:
    """The type behind names and qualifiers."""
    while die is not None and die.tag in _NAMES:
        die = die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None
    return die


def _member(of: DIE, name: str) -> tuple[int, DIE] | None:
    for each in of.iter_children():
        if each.tag == "DW_TAG_member":
            member = each.attributes.get("DW_AT_data_member_location")
            offset = member.value if member is not None else 0
            if _text(each, "DW_AT_name") == name:
                return offset, each
            inner = _plain(each)
            if "DW_AT_name" not in each.attributes and inner is not None:
                found = _member(inner, name)  # of an anonymous union or structure
                if found is not None:
                    return offset + found[0], found[1]
    return None


def _element(of: DIE, number: int) -> tuple[int, DIE] | None:
    if of.tag != "DW_TAG_array_type" or len(list(of.iter_children())) != 1:
        return None
    kind = of.get_DIE_from_attribute("DW_AT_type")
    inner = _plain(kind)
    size = _size(inner)
    return (number * size, kind) if size else None


def _size(of: DIE | None) -> int:
    if of is None:
        return 0
    if "DW_AT_byte_size" in of.attributes:
        return int(of.attributes["DW_AT_byte_size"].value)
    return 8 if of.tag == "DW_TAG_pointer_type" else 0
