"""Power: what instructions of the disassembler do, and how steps are written."""

from __future__ import annotations

import re

import msgspec

from weakspot.generators.binary.instructions import Instruction, Memory, Operand
from weakspot.generators.binary.isa import InstructionSet, Log, Options
from weakspot.generators.binary.semantics import (
    Access,
    Arithmetic,
    Barrier,
    Branch,
    Choice,
    Compare,
    Compute,
    Condition,
    ConditionBit,
    Copy,
    End,
    Flow,
    Jump,
    Mark,
    NotUnderstood,
    Semantics,
    Step,
)

_REGISTER = re.compile(r"r([12]?\d|3[01])")
_BRANCHES = {"beq": True, "bne": False}  # equal or not is the same to signed and unsigned
_LOADS = {"lwz": 4, "lwa": 4, "ld": 8, "lbz": 1}
_STORES = {"stw": 4, "std": 8, "stb": 1}
_WIDTH = re.compile(r"(?P<direction>l|st)(?P<size>[bhwd])(?P<ordered>arx|cx\.)?(?P<form>[az]?u?x?)")
_ARITHMETIC: dict[str, Arithmetic] = {
    **{"add": "add", "addi": "add", "and": "and", "andi.": "and"},
    **{"or": "or", "ori": "or", "xor": "xor", "xori": "xor"},
}
_IMMEDIATE = {"add": "addi", "or": "ori", "xor": "xori"}


class PPC(Semantics):
    dialect = "PPC"
    capstone = (4, (1 << 3))  # CS_ARCH_PPC, CS_MODE_64, little-endian
    arguments = tuple(f"r{n}" for n in range(3, 11))
    stack = "r1"
    fresh = tuple(f"r{n}" for n in range(3, 32))  # r0 is zero in addresses and in addi
    jump = "b {to}"
    # Power ISA, Book II, B.2.1.1: lwarx, stwcx., bne, isync acquires. In the model of Herding cats
    # a branch on stwcx. does not depend on what lwarx has read; this one does
    acquires = ("cmpw {v},{v}\nbne {own}\n{own}:", "isync")
    branched = ("cmpw {r},{r}", "bne {own}", "{own}:")
    placed = ("xor {t},{r},{r}", "add {t},{at},{t}")
    zeroed = ("xor {t},{r},{r}",)
    failed = ("bne {end}",)
    unequal = ("cmpw {a},{b}", "bne {end}")

    def word(self, instruction: Instruction) -> Instruction:
        at = self.touched(instruction)
        kind = _WIDTH.fullmatch(instruction.name)
        if at is None or kind is None:
            return instruction
        name = {"l": "lwz", "st": "stw"}[kind["direction"]]
        given: tuple[Operand, ...] = (instruction.operands[0], at)
        if kind["ordered"]:
            name = "lwarx" if kind["direction"] == "l" else "stwcx."
            given = (instruction.operands[0], 0, "r0")  # its address is known otherwise
        return msgspec.structs.replace(instruction, name=name, operands=given)

    def touched(self, instruction: Instruction) -> Memory | None:
        name, given = instruction.name, instruction.operands
        for each in given:
            if isinstance(each, Memory):
                return each
        kind = _WIDTH.fullmatch(name)
        if kind is None or not (kind["ordered"] or kind["form"].endswith("x")) or len(given) < 3:
            return None
        base, index = given[1], given[2]
        return Memory(base if isinstance(base, str) else "0", index=str(index))

    def flow(self, instruction: Instruction) -> Flow:
        name, given = instruction.name.rstrip("+-"), instruction.operands
        named = [each for each in given if isinstance(each, str)]
        at = self.touched(instruction)
        if at is not None:
            named = [*named[:1], *(each for each in (at.base, at.index) if each not in ("", "0"))]
        if name.startswith("b"):
            fields = [each[:3] for each in named if each.startswith("cr")] or ["cr0"]
            if name in ("b", "bl", "blr", "ba", "bla", "bcl"):
                return Flow()
            return Flow(("ctr",) if "ctr" in name else tuple(fields), branch=True)
        if name.startswith("stwcx") or (name.startswith("st") and name.endswith("cx.")):
            return Flow((), ("cr0",))
        if name.startswith("st"):
            return Flow(tuple(named))
        if name.startswith("cmp"):
            field = named[0] if named[0].startswith("cr") else "cr0"
            return Flow(tuple(each for each in named if each != field), (field,))
        if name in ("mtctr", "mtlr"):
            return Flow(tuple(named), (name[2:],))
        if name in ("mfctr", "mflr"):
            return Flow((name[2:],), tuple(named))
        reads = [each[:3] if each.startswith("cr") else each for each in named[1:]]
        inserted_into = named[:1] if name.startswith(("rlwimi", "rldimi")) else []
        return Flow(
            (*reads, *inserted_into), (*named[:1], *(["cr0"] if name.endswith(".") else []))
        )

    def register(self, name: str, _size: int, /) -> str:
        return name

    def number(self, value: int, stored: bool, /) -> str | None:
        return None if stored else str(value)

    def copy(self, constant: bool, _size: int, /) -> str:
        return "li {t},{a}" if constant else "mr {t},{a}"

    def compute(self, op: Arithmetic, constant: bool, flags: bool, /) -> str | None:
        if flags:
            return "andi. {t},{a},{b}" if op == "and" and constant else None
        if constant:
            return f"{_IMMEDIATE[op]} {{t}},{{a}},{{b}}" if op in _IMMEDIATE else None
        return "subf {t},{b},{a}" if op == "sub" else f"{op} {{t}},{{a}},{{b}}"

    def compare(self, constant: bool, /) -> str | None:
        return f"cmpw{'i' if constant else ''} {{f}}{{a}},{{b}}"

    def steps(self, instruction: Instruction) -> list[Step]:
        if instruction.symbol:
            raise NotUnderstood(f"refers to {instruction.symbol}")
        name, given = instruction.name, instruction.operands
        match name, given:
            case "nop", ():
                return []
            case "blr", ():
                return [End()]
            case (("sync" | "lwsync" | "isync" | "eieio" | "hwsync"), ()):
                return [Barrier("sync" if name == "hwsync" else name)]
            case "b", (int(to),):
                return [Jump(to)]
            case "li", (str(to), int(number)):
                return [Copy(_register(to), number, 4)]
            case (("mr" | "extsw"), (str(to), str(of))):
                return [Copy(_register(to), _register(of), 8)]
            case (
                ("cmpw" | "cmpd" | "cmpwi" | "cmpdi" | "cmplw" | "cmpld" | "cmplwi" | "cmpldi"),
                _,
            ):
                field, (left, right) = _with_field(given, 2)
                if not isinstance(left, str):
                    raise NotUnderstood
                return [Compare(field, _register(left), _value(right), 4)]
            case "rlwinm", (str(to), str(of), int(turn), int(first), int(last)):
                return [_masked(to, of, turn, first, last)]
            case "clrlwi", (str(to), str(of), int(first)):
                return [_masked(to, of, 0, first, 31)]
            case (("mfocrf" | "mfcr"), (str(to), *which)):
                mask = which[0] if which else 0x80
                if not isinstance(mask, int) or mask not in _FIELDS:
                    raise NotUnderstood
                return [Condition(_register(to), _FIELDS[mask])]
            case (("crset" | "crclr"), (str(bit),)) if (
                bit[3:] == "lt" and bit[:3] in _FIELDS.values()
            ):
                return [Mark(bit[:3], name == "crset")]
            case "isel", (str(to), str(a), str(b), str(bit)) if bit[3:] == "lt":
                return [Choice(_register(to), _register(a), _register(b), bit[:3])]
            case "subf", (str(to), str(a), str(b)):
                return [Compute("sub", _register(to), _register(b), _register(a), 4)]
            case "neg", (str(to), str(of)):
                return [Compute("sub", _register(to), 0, _register(of), 4)]
            case _, (str(to), str(a), b) if name in _ARITHMETIC:
                if a == "r0" and name == "addi":
                    raise NotUnderstood
                flags = "cr0" if name.endswith(".") else ""
                # the width only matters where it is an address
                return [
                    Compute(_ARITHMETIC[name], _register(to), _register(a), _value(b), 8, flags)
                ]
        hint = name.rstrip("+-")
        if hint in _BRANCHES:
            field, (target,) = _with_field(given, 1)
            if isinstance(target, int):
                equal = _BRANCHES[hint]
                code = f"{hint} {{f}}{{to}}"
                return [Branch(code, {"f": field}, target, equal, fails=not equal)]
        return _memory(name, given)


_FIELDS = {0x80 >> n: f"cr{n}" for n in range(8)}


def _memory(name: str, given: tuple[Operand, ...]) -> list[Step]:
    match name, given:
        case _, (str(to), Memory() as at) if name in _LOADS:
            return [Copy(_register(to), at, _LOADS[name], f"{name} {{r}},0({{at}})")]
        case _, (str(of), Memory() as at) if name in _STORES:
            return [Copy(at, _register(of), _STORES[name], f"{name} {{r}},0({{at}})")]
        case "stdu", (str(of), Memory() as at):
            return [
                Copy(at, _register(of), 8),
                Compute("add", at.base, at.base, at.displacement, 8),
            ]
        case "lwarx", (str(to), 0 | "0", str(base), *_):
            at = Memory(_register(base))
            writes = {"r": _register(to)}
            return [Access("lwarx {r},r0,{at}", at, {}, writes, kind="reserves")]
        case "stwcx.", (str(of), 0 | "0", str(base)):
            at = Memory(_register(base))
            reads = {"r": _register(of)}
            writes = {"f": "cr0"}
            code = "stwcx. {r},r0,{at}"
            return [Access(code, at, reads, writes, flags="cr0", kind="conditional")]
    raise NotUnderstood


def _masked(to: str, of: str, turn: int, first: int, last: int) -> Step:
    """Turned left and masked: a mask, or a bit of a copied condition field, its first or the
    third, of equality."""
    if turn % 4 in (1, 3) and first == last == 31:
        return ConditionBit(_register(to), _register(of), f"cr{turn // 4}", turn % 4 == 1)
    if turn or first > last:
        raise NotUnderstood
    mask = (1 << (32 - first)) - (1 << (31 - last))
    return Compute("and", _register(to), _register(of), mask, 4)


def _with_field(given: tuple[Operand, ...], count: int) -> tuple[str, tuple[Operand, ...]]:
    """The condition field, the first where none is named, and so many other operands."""
    if len(given) == count:
        return "cr0", given
    if len(given) == count + 1 and isinstance(given[0], str) and given[0].startswith("cr"):
        return given[0], given[1:]
    raise NotUnderstood


def _register(name: str) -> str:
    if not _REGISTER.fullmatch(name):
        raise NotUnderstood(f"{name} is no general register")
    return name


def _value(of: Operand) -> str | int:
    if isinstance(of, Memory):
        raise NotUnderstood
    return of if isinstance(of, int) else _register(of)


ISA = InstructionSet(
    name="ppc64le",
    rank=2,
    title="POWER",
    dialect=PPC.dialect,
    triple="powerpc64le-linux-gnu",
    backend="ppc64le",
    mappings=(Options("power"),),
    semantics=PPC(),
    log=Log("NIP ", "NIP"),
)
