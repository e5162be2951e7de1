"""RISC-V: what instructions of the disassembler do, and how steps are written."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from weakspot.generators.binary.instructions import Instruction, Memory, Operand
from weakspot.generators.binary.isa import InstructionSet, Log, Options
from weakspot.generators.binary.semantics import (
    ARITHMETIC,
    Access,
    Arithmetic,
    Barrier,
    Branch,
    Compute,
    Copy,
    End,
    Flow,
    Jump,
    NotUnderstood,
    Semantics,
    Shift,
    Step,
    Truth,
)

_NAMES = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *(f"a{n}" for n in range(8)),
    *(f"s{n}" for n in range(2, 12)),
    *("t3", "t4", "t5", "t6"),
)
_LOADS = {"lw": 4, "ld": 8, "lbu": 1, "lwsp": 4, "ldsp": 8}
_STORES = {"sw": 4, "sd": 8, "sb": 1, "swsp": 4, "sdsp": 8}
_AMO = re.compile(r"amo(swap|add|and|or|xor)\.w(\.aq|\.rl|\.aqrl)?")
_RESERVE = re.compile(r"(lr|sc)\.w(\.aq|\.rl|\.aqrl)?")
_WIDTH = re.compile(r"(?P<direction>[ls])[bhwd]u?")
_DOUBLE = re.compile(r"((?:amo\w+|lr|sc))\.d")
_BRANCHES = ("beq", "bne")


class RISCV(Semantics):
    dialect = "RISCV"
    capstone = (15, (1 << 1) | (1 << 2))  # CS_ARCH_RISCV, CS_MODE_RISCV64 with compressed ones
    arguments = tuple(f"a{n}" for n in range(8))
    stack = "sp"
    fresh = tuple(name for name in _NAMES if name not in ("zero", "sp", "gp", "tp"))
    jump = "j {to}"
    branched = ("bne {r},x0,{own}", "{own}:")
    placed = ("xor {t},{r},{r}", "add {t},{at},{t}")
    zeroed = ("xor {t},{r},{r}",)
    failed = ("bne {s},x0,{end}",)
    unequal = ("bne {a},{b},{end}",)

    def word(self, instruction: Instruction) -> Instruction:
        name = instruction.name.removeprefix("c.")
        if (narrow := _WIDTH.fullmatch(name)) is not None:
            name = f"{narrow['direction']}w"
        else:
            name = _DOUBLE.sub(r"\1.w", name)
        return msgspec.structs.replace(instruction, name=name)

    def touched(self, instruction: Instruction) -> Memory | None:
        name, given = instruction.name.removeprefix("c."), instruction.operands
        if name in ("lwsp", "ldsp", "swsp", "sdsp"):
            return None  # the thread's own
        return next((each for each in given if isinstance(each, Memory)), None)

    def flow(self, instruction: Instruction) -> Flow:
        name, given = instruction.name, instruction.operands
        short, name = name.startswith("c."), name.removeprefix("c.")
        named = [each for each in given if isinstance(each, str) and each in _NAMES]
        inside = [at.base for at in given if isinstance(at, Memory)]
        if name in ("j", "jal", "ret", "nop") or name.startswith("fence"):
            return Flow()
        if name.startswith("b") or name in ("jr", "jalr"):
            return Flow(tuple(named), branch=True)
        if name in _STORES or name in ("sh", "fsw", "fsd"):
            return Flow((*named, *inside))
        if name.startswith("sc."):  # its status depends on no value
            return Flow((), tuple(named[:1]))
        both = short and len(given) == 2 and not inside and name not in ("mv", "li", "lui")
        return Flow((*(named if both else named[1:]), *inside), tuple(named[:1]))

    def register(self, name: str, _size: int, /) -> str:
        return f"x{_NAMES.index(name)}"

    def state_name(self, name: str) -> str:
        return self.register(name, 8)

    def number(self, value: int, stored: bool, /) -> str | None:
        if stored:
            return "x0" if value == 0 else None
        return str(value)

    def copy(self, constant: bool, _size: int, /) -> str:
        return "ori {t},x0,{a}" if constant else "mv {t},{a}"

    def compute(self, op: Arithmetic, constant: bool, _flags: bool, /) -> str | None:
        word = "w" if op in ("add", "sub") else ""
        if constant and op == "sub":
            return None
        return f"{op}{'i' if constant else ''}{word} {{t}},{{a}},{{b}}"

    def steps(self, instruction: Instruction) -> list[Step]:
        name, given = instruction.name.removeprefix("c."), instruction.operands
        to = _target(instruction)
        if instruction.symbol and to is None:
            raise NotUnderstood(f"refers to {instruction.symbol}")
        match name, given:
            case "nop", _:
                return []
            case ("ret", ()) | ("jr", ("ra",)):
                return [End()]
            case "j", (int(),) if to is not None:
                return [Jump(to)]
            case "fence", ():
                return [Barrier("fence rw,rw")]
            case "fence", (str(before), str(behind)):
                # devices are none of a test's locations
                sides = (re.sub("[io]", "", side) for side in (before, behind))
                return [Barrier(f"fence {','.join(sides)}")]
            case "fence.tso", ():
                return [Barrier("fence.tso")]
            case (("beqz" | "bnez"), (str(a), int())) if to is not None:
                code = f"{name[:3]} {{a}},x0,{{to}}"
                return [Branch(code, {"a": _register(a)}, to, fails=name == "bnez")]
            case _, (str(a), str(b), int()) if name in _BRANCHES and to is not None:
                reads = {field: each for field, each in (("a", a), ("b", b)) if each != "zero"}
                words = [f"{{{field}}}" if field in reads else "x0" for field in ("a", "b")]
                code = f"{name} {','.join(words)},{{to}}"
                return [Branch(code, {f: _register(each) for f, each in reads.items()}, to)]
            case "li", (str(to_), int(number)):
                return [Copy(_register(to_), number, 4)]
            case "mv", (str(to_), str(of)):
                return [Copy(_register(to_), _value(of), 8)]
            case "sext.w", (str(to_), str(of)):
                return [Copy(_register(to_), _value(of), 4)]
            case (("slli" | "srli"), (str(to_), 32)):
                return [Shift(_register(to_), _register(to_), name == "slli")]
            case (("slli" | "srli"), (str(to_), str(of), 32)):
                return [Shift(_register(to_), _register(of), name == "slli")]
            case "seqz" | "snez", (str(to_), str(of)):
                # 0 < v or v < 0: herd7 knows no sltiu
                turn = "\nxori {t},{t},1" if name == "seqz" else ""
                code = f"slt {{s}},{{a}},x0\nslt {{t}},x0,{{a}}\nor {{t}},{{t}},{{s}}{turn}"
                return [Truth(code, _register(to_), {"a": _register(of)})]
            case (("addi16sp" | "addi4spn"), (str(to_), *_, int(by))):
                return [Compute("add", _register(to_), "sp", by, 8)]
            case (("neg" | "negw"), (str(to_), str(of))):
                return [Compute("sub", _register(to_), 0, _register(of), 4)]
            case "not", (str(to_), str(of)):
                return [Compute("xor", _register(to_), _register(of), -1, 4)]
        return self._arithmetic(name, given)

    def _arithmetic(self, name: str, given: tuple[Operand, ...]) -> list[Step]:
        base = name.removesuffix("w") if name not in ("lw", "sw") else name
        immediate = base.endswith("i")
        op = ARITHMETIC.get(base.removesuffix("i") if immediate else base)
        match given:
            case (str(to), *rest) if op is not None and len(rest) in (1, 2):
                left, right = (to, rest[0]) if len(rest) == 1 else (rest[0], rest[1])
                if isinstance(right, int) is not immediate:
                    raise NotUnderstood
                if op == "add" and right == 0 and name.endswith("w"):
                    return [Copy(_register(to), _value(left), 4)]  # sext.w
                if left == "zero" and isinstance(right, int):
                    return [Copy(_register(to), right, 4)]
                size = 4 if name.endswith("w") else 8
                return [Compute(op, _register(to), _value(left), _value(right), size)]
        return _memory(name, given)


def _memory(name: str, given: tuple[Operand, ...]) -> list[Step]:
    match name, given:
        case _, (str(to), Memory() as at) if name in _LOADS:
            return [Copy(_register(to), at, _LOADS[name], f"{name} {{r}},0({{at}})")]
        case _, (str(of), Memory() as at) if name in _STORES:
            return [Copy(at, _value(of), _STORES[name], f"{name} {{r}},0({{at}})")]
        case _, (str(to), str(of), Memory() as at) if _AMO.fullmatch(name) or (
            _RESERVE.fullmatch(name)
        ):
            if to == "zero":
                return [Access(f"{name} x0,{{v}},({{at}})", at, {"v": _value(of)}, {})]
            code = f"{name} {{r}},{{v}},({{at}})"
            writes = {"r": _register(to)}
            kind: Literal["", "conditional"] = "conditional" if name.startswith("sc") else ""
            return [Access(code, at, {"v": _value(of)}, writes, kind=kind)]
        case _, (str(to), Memory() as at) if _RESERVE.fullmatch(name):
            code = f"{name} {{r}},({{at}})"
            return [Access(code, at, {}, {"r": _register(to)}, kind="reserves")]
    raise NotUnderstood


def _target(instruction: Instruction) -> int | None:
    """Where it leads: as its relocation says, else as far from it as its last operand says."""
    if instruction.symbol:
        return instruction.target
    by = instruction.operands[-1] if instruction.operands else None
    return instruction.at + by if isinstance(by, int) else None


def _register(name: str) -> str:
    if name not in _NAMES or name == "zero":
        raise NotUnderstood(f"{name} is no general register")
    return name


def _value(of: Operand) -> str | int:
    if isinstance(of, Memory):
        raise NotUnderstood
    return of if isinstance(of, int) else 0 if of == "zero" else _register(of)


ISA = InstructionSet(
    name="riscv64",
    rank=3,
    title="RISC-V",
    dialect=RISCV.dialect,
    triple="riscv64-linux-gnu",
    backend="riscv64",
    mappings=(Options("riscv", march="rv64gc"),),
    semantics=RISCV(),
    log=Log(" pc  ", "pc"),
)
