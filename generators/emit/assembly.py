"""The threads of an assembly test as C: each is one inline-assembly statement, for native runs.

Every register that a thread uses is a register variable that the statement reads and writes, so
that the compiler keeps nothing else there; a location is the address of this instance's cell.
What is accepted is a part of each language in which no run can leave the cells: registers hold
values or addresses that the initial state gives, never both; branches go forward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.threads import ThreadText
from weakspot.generators.litmus import Atom, Test

#: by the processor that `uname -m` names: the tests that run there
DIALECTS = {"x86_64": "X86_64", "aarch64": "AArch64"}

_X86_WORDS = {
    **{f"e{name}": f"r{name}" for name in ("ax", "bx", "cx", "dx", "si", "di")},
    **{f"r{number}d": f"r{number}" for number in range(8, 16)},
}
_X86_REGISTERS = _X86_WORDS | {name: name for name in _X86_WORDS.values()}
_X86 = re.compile(
    r"(?P<fence>mfence|lfence|sfence)"
    r"|(?P<jump>jmp|je|jne|jz|jnz) (?P<label>\w+)"
    r"|mov[lq] \S+?,\S+|(?:lock )?xchg[lq] \S+?,\S+|(?:lock )?(?:add|or|and|xor)[lq] \S+?,\S+"
    r"|(?:lock )?inc[lq] \S+|(?:cmp|test)[lq] \S+?,\S+"
)
_A64_ADDRESS = r"\[X\d+(?:,(?P<index>W\d+),[SU]XTW)?\]"
_A64 = re.compile(
    r"(?:DMB|DSB) (?:SY|ST|LD|ISH|ISHST|ISHLD)|ISB"
    r"|MOV W\d+,(?:#\d{1,5}|W\d+)"
    r"|(?:EOR|AND|ORR|ADD) W\d+,W\d+,(?:#\d{1,3}|W\d+)"
    r"|CMP W\d+,(?:#\d{1,3}|W\d+)"
    r"|(?:CBN?Z W\d+,|B\.(?:EQ|NE) |B )(?P<label>\w+)"
    rf"|(?:LDR|STR) W\d+,{_A64_ADDRESS}"
    r"|(?:LDAR|LDAPR|STLR|LDXR|LDAXR) W\d+,\[X\d+\]"
    r"|STL?XR W\d+,W\d+,\[X\d+\]"
    r"|(?:SWP|CAS|LDADD|LDSET|LDEOR|LDCLR)(?:A|L|AL)? W\d+,W\d+,\[X\d+\]"
    r"|(?:STADD|STSET|STEOR|STCLR)L? W\d+,\[X\d+\]"
)
_EXTENSIONS = {
    "lse": re.compile("SWP|CAS|(?:LD|ST)(?:ADD|SET|EOR|CLR)"),
    "rcpc": re.compile("LDAPR"),
}
_LABEL = re.compile(r"(\w+): *")
_X86_CELL = re.compile(r"\((\w+)\)|\[(\w+)\]")
_X86_REGISTER_CELL = re.compile(r"\(%(\w+)\)")
_RESERVED = {"X18", "X29", "X30"}  # of the system, the frame and the linkage


class Assembly(msgspec.Struct, frozen=True):
    """A test that can run: the threads, its condition's parts, and its locations' first values."""

    threads: tuple[ThreadText, ...]
    atoms: tuple[Atom, ...]
    locations: tuple[str, ...]
    init: dict[str, int]


@lru_cache(maxsize=1024)
def assembly(test: Test) -> Assembly:
    """The threads of a test of X86_64 or AArch64. Raises Unsupported with what is not known."""
    from weakspot import _engine

    outline = _engine.outline(test.text)
    if outline["dialect"] not in DIALECTS.values():
        raise Unsupported(f"it is {outline['dialect']} assembly; the runner litmus7 may take it")
    atoms = _atoms(outline["end"])
    cells, wide, registers, pointers = _initial(outline["initial"], outline["dialect"])
    rows = [row.split("|") for row in _plain(outline["program"]).split(";") if row.strip()]
    count = len(rows[0])
    if [each.strip() for each in rows[0]] != [f"P{n}" for n in range(count)]:
        raise _refused("the threads are not P0, P1, …", " | ".join(rows[0]).strip())
    if any(len(row) != count for row in rows):
        raise _refused("a line has not as many columns as there are threads", test.name)
    codes = [
        _Code(outline["dialect"], number, [row[number].strip() for row in rows[1:]], pointers)
        for number in range(count)
    ]
    for cell, eight, code in (each for thread in codes for each in thread.widths):
        if eight != (cell in wide):
            raise _refused(f"{cell} has another width", code)
    if wide and outline["dialect"] != "X86_64":
        raise _refused("only int locations are known", min(wide))
    locations = dict.fromkeys((*cells, *pointers.values(), *(c for x in codes for c in x.cells)))
    for atom in atoms:
        if atom.thread is None and atom.name not in locations:
            raise _refused("no thread uses the location", str(atom))
        if atom.thread is not None and (
            atom.thread >= count or atom.name not in codes[atom.thread].data
        ):
            raise _refused("nothing is computed in the register", str(atom))
    for thread, name in registers:
        if thread >= count:
            raise _refused("there is no such thread", f"{thread}:{name}")
    where = tuple(locations)
    return Assembly(
        tuple(code.text(where, atoms, registers) for code in codes), tuple(atoms), where, cells
    )


def _refused(why: str, what: str) -> Unsupported:
    return Unsupported(f"{why}: `{what}`; the runner litmus7 may take it")


def _plain(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", " ", text, flags=re.S)


def _atoms(end: str) -> list[Atom]:
    rest = re.sub(r"^\s*locations\s*\[[^]]*(?:\[\w+\][^]]*)*\]", "", _plain(end)).strip()
    match = re.fullmatch(r"~?\s*exists\s*(.+)", rest, re.S)
    found: list[Atom] = []
    if match is None:
        raise _refused("the condition is not exists over a conjunction", rest)
    for part in re.sub(r"^\((.*)\)$", r"\1", match[1].strip(), flags=re.S).split("/\\"):
        atom = re.fullmatch(
            r"(?:(\d+):(\w+)|\[(\w+)\]|([A-Za-z_]\w*))\s*=\s*(\d{1,9})", part.strip()
        )
        if atom is None:
            raise _refused("the condition is not exists over a conjunction", part.strip())
        thread, reg, cell, bare, value = atom.groups()
        found.append(Atom(int(thread) if thread else None, reg or cell or bare, int(value)))
    return found


Registers = dict[tuple[int, str], int]
Pointers = dict[tuple[int, str], str]


def _initial(text: str, dialect: str) -> tuple[dict[str, int], set[str], Registers, Pointers]:
    wide: set[str] = set()
    cells: dict[str, int] = {}
    registers: Registers = {}
    pointers: Pointers = {}
    for each in filter(None, map(str.strip, _plain(text).split(";"))):
        match = re.fullmatch(
            r"(?:(?:int|(u?int64_t)) +)?(?:(\d+):(\w+)|\[?([A-Za-z_]\w*)\]?)\s*"
            r"(?:=\s*(?:(\d{1,9})|([A-Za-z_]\w*)))?",
            each,
        )
        if match is None or (match[4] and match[6]):
            raise _refused("only int values and addresses are known in the initial state", each)
        long, thread, reg, cell, value, target = match.groups()
        if cell:
            cells[cell] = int(value or 0)
            wide |= {cell} if long else set()
            continue
        key = int(thread), reg
        if not (reg in _X86_REGISTERS.values() if dialect == "X86_64" else _numbered(reg)):
            raise _refused("the register is not known", each)
        if target:
            pointers[key] = target
        else:
            registers[key] = int(value or 0)
    return cells, wide, registers, pointers


def _numbered(reg: str) -> bool:
    return bool(re.fullmatch(r"X([12]?\d|30)", reg)) and reg not in _RESERVED


class _Code:
    """The instructions of a thread: `data` and `addresses` are the registers, as the condition
    names them, that hold values and addresses; `cells` the locations named by instructions."""

    def __init__(self, dialect: str, number: int, lines: list[str], pointers: Pointers) -> None:
        self.dialect, self.number, self.pointers = dialect, number, pointers
        self.data: dict[str, None] = {}
        self.addresses: dict[str, None] = {}
        self.cells: dict[str, None] = {}
        self.written: list[str] = []
        self.lines: list[str] = []
        self.widths: list[tuple[str, bool, str]] = []  # of accesses: whether 64 bits
        labels: list[str] = []
        asked: dict[str, str] = {}
        indexes: list[tuple[str, str]] = []
        for line in lines:
            code = re.sub(r"\s*,\s*", ",", re.sub(r"\s+", " ", line)).strip()
            while label := _LABEL.match(code):
                if label[1] in labels:
                    raise _refused("a label stands twice", line)
                labels.append(label[1])
                self.lines.append(f".L{number}_{label[1]}_%=:")
                code = code[label.end() :]
            if code:
                match = self._x86(code) if dialect == "X86_64" else self._a64(code, indexes)
                if target := match["label"]:
                    if target in labels:
                        raise _refused("a loop", line)
                    asked[target] = line
        for target, line in asked.items():
            if target not in labels:
                raise _refused("no such label", line)
        if both := self.data.keys() & self.addresses.keys():
            raise _refused("a register holds an address and a value", f"{number}:{min(both)}")
        for index, line in indexes:  # only a dependency of value 0 stays within the instance
            writes = [each for each in self.written if re.match(rf"\w+ {index},", each)]
            if not re.fullmatch(rf"EOR {index},(W\d+),\1", " ".join(writes)):
                raise _refused("the index is not certainly 0", line)

    def _address(self, reg: str, code: str) -> None:
        if (self.number, reg) not in self.pointers:
            raise _refused("the initial state gives no address to the register", code)
        self.addresses[reg] = None

    def _x86(self, code: str) -> re.Match[str]:
        match = _X86.fullmatch(code)
        if match is None:
            raise _refused("the instruction is not known", code)
        text = code.replace("%", "%%")
        operands = [] if match["fence"] or match["jump"] else code.split(" ")[-1].split(",")
        wide = code.removeprefix("lock ").split(" ")[0].endswith("q")
        for operand in operands:
            name = operand.removeprefix("%")
            if operand[0] == "%" and name in _X86_REGISTERS:
                if wide == (name in _X86_WORDS):
                    raise _refused("the register has another width", code)
                self.data[_X86_REGISTERS[name]] = None
            elif held := _X86_REGISTER_CELL.fullmatch(operand):
                self._address(held[1], code)
                self.widths.append((self.pointers[self.number, held[1]], wide, code))
            elif cell := _X86_CELL.fullmatch(operand):
                name = cell[1] or cell[2]
                self.cells[name] = None
                self.widths.append((name, wide, code))
                text = text.replace(operand, f"(%[l_{name}])")
            elif not re.fullmatch(r"\$\d{1,9}", operand):
                raise _refused("the operand is not known", code)
        if operands and operands[-1][0] == "$":
            raise _refused("the operand is not known", code)
        if match["jump"]:
            text = f"{match['jump']} .L{self.number}_{match['label']}_%="
        self.lines.append(text)
        return match

    def _a64(self, given: str, indexes: list[tuple[str, str]]) -> re.Match[str]:
        code = re.sub(r"\bx(?=\d)", "X", re.sub(r"\bw(?=\d)", "W", given))
        match = _A64.fullmatch(code)
        if match is None:
            raise _refused("the instruction is not known", given)
        for kind, number in re.findall(r"\b([XW])(\d+)\b", code):
            if not _numbered(f"X{number}"):
                raise _refused("the register is not known", given)
            if kind == "X":
                self._address(f"X{number}", given)
            else:
                self.data[f"X{number}"] = None
        if match["index"]:
            indexes.append((match["index"], given))
        if not re.match(r"(STR|STLR|CMP|CBN?Z)\b", code):
            self.written.append(code)
            if pair := re.match(r"(?:SWP|LD(?:ADD|SET|EOR|CLR))\w* W\d+,(W\d+)", code):
                self.written.append(f"{code.split(' ')[0]} {pair[1]},")
        self.lines.append(
            re.sub(rf"\b{match['label']}$", f".L{self.number}_{match['label']}_%=", code)
            if match["label"]
            else code
        )
        return match

    def _extensions(self) -> Iterator[str]:
        """What the assembler of AArch64 has to accept beyond Armv8.0."""
        for name, instructions in _EXTENSIONS.items():
            if self.dialect == "AArch64" and any(map(instructions.match, self.lines)):
                yield f".arch_extension {name}"

    def text(
        self, locations: tuple[str, ...], atoms: list[Atom], registers: Registers
    ) -> ThreadText:
        held = {reg: self.pointers[self.number, reg] for reg in self.addresses}
        used = dict.fromkeys((*self.cells, *held.values()))
        observed = tuple(dict.fromkeys(a.name for a in atoms if a.thread == self.number))
        first = {
            **{reg: f"(uintptr_t)l_{cell}" for reg, cell in held.items()},
            **{reg: str(registers.get((self.number, reg), 0)) for reg in self.data},
        }
        lines = [
            f'register uintptr_t r_{reg} __asm__("{reg.lower()}") = {value};'
            for reg, value in first.items()
        ]
        lines.append("__asm__ volatile(")
        code = [*self._extensions(), *self.lines]
        lines += [f'  "{re.sub(r"(?<!%)%(?![%=[])", "%%", line)}\\n"' for line in code]
        lines += [
            '  ""',
            "  : " + ", ".join(f'"+&r"(r_{reg})' for reg in first),
            "  : " + ", ".join(f'[l_{cell}] "r"(l_{cell})' for cell in self.cells),
            '  : "cc", "memory");',
            *(f"out[{at}] = (int)r_{reg};" for at, reg in enumerate(observed)),
        ]
        parameters = tuple((locations.index(cell), "atomic_int", f"l_{cell}") for cell in used)
        return ThreadText(parameters, observed, tuple(lines))
