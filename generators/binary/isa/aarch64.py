"""AArch64: what instructions of the disassembler do, and how steps are written."""

from __future__ import annotations

import re

import msgspec

from weakspot.generators.binary.instructions import Instruction, Memory, Operand
from weakspot.generators.binary.isa import InstructionSet, Log, Options
from weakspot.generators.binary.semantics import (
    FLAGS,
    Access,
    Arithmetic,
    Barrier,
    Branch,
    Compare,
    Compute,
    Copy,
    End,
    Flow,
    Jump,
    NotUnderstood,
    Semantics,
    Step,
    Truth,
)

_ZERO = ("wzr", "xzr")
_CONDITIONS = {"eq", "ne", "lt", "ge", "gt", "le", "mi", "pl"}
_ARITHMETIC: dict[str, Arithmetic] = {
    "add": "add",
    "sub": "sub",
    "and": "and",
    "orr": "or",
    "eor": "xor",
}
_WORDS: dict[Arithmetic, str] = {op: name.upper() for name, op in _ARITHMETIC.items()}
_EXCHANGE = re.compile(r"(swp|ldadd|ldset|ldclr|ldeor)(a|l|al)?")
_STORED = re.compile(r"(stadd|stset|stclr|steor)(l)?")
_CAS = re.compile(r"cas(a|l|al)?")
_NARROW = re.compile(
    r"(?P<name>ldr|ldur|ldar|ldapr|ldapur|ldxr|ldaxr|str|stur|stlr|stlur|stxr|stlxr|cas(a|l|al)?"
    r"|(swp|ldadd|ldset|ldclr|ldeor)(a|l|al)?|(stadd|stset|stclr|steor)(l)?)s?[bhw]"
)
_GENERAL = re.compile(r"[wx]([12]?\d|30)").fullmatch


class AArch64(Semantics):
    dialect = "AArch64"
    capstone = (1, 0)  # CS_ARCH_ARM64, CS_MODE_ARM
    arguments = tuple(f"x{n}" for n in range(8))
    stack = "sp"
    fresh = tuple(f"x{n}" for n in range(31))
    jump = "B {to}"
    branched = ("CBNZ {r},{own}", "{own}:")
    placed = ("EOR {t},{r},{r}", "ADD {wide},{at},{wide}")
    zeroed = ("EOR {t},{r},{r}",)
    failed = ("CBNZ {s},{end}",)
    unequal = ("CMP {a},{b}", "B.NE {end}")

    def word(self, instruction: Instruction) -> Instruction:
        name = instruction.name
        narrow = _NARROW.fullmatch(name)
        if narrow is None:
            return instruction
        return msgspec.structs.replace(instruction, name=narrow["name"])

    def touched(self, instruction: Instruction) -> Memory | None:
        given = instruction.operands
        at = next((each for each in given if isinstance(each, Memory)), None)
        return None if at is None or instruction.name.startswith("prf") else at

    def flow(self, instruction: Instruction) -> Flow:
        name, given = instruction.name, instruction.operands
        operands = [each for each in given if isinstance(each, Memory)]
        named = [f"x{each[1:]}" for each in given if isinstance(each, str) and _GENERAL(each)]
        inside = [f"x{r[1:]}" for at in operands for r in (at.base, at.index) if _GENERAL(r)]
        if name.startswith(("cb", "tb")):
            return Flow(tuple(named), branch=True)
        if name.startswith("b."):
            return Flow((FLAGS,), branch=True)
        if name in ("br", "blr"):
            return Flow(tuple(named), branch=True)
        flags = (FLAGS,) if name.startswith(("cs", "cin", "cneg", "ccm")) else ()
        if name in ("cmp", "cmn", "tst", "ccmp", "ccmn"):
            return Flow((*named, *flags), (FLAGS,))
        if name.startswith("st") and "x" not in name:
            return Flow((*named, *inside))
        if name.startswith(("stx", "stlx")):  # its status depends on no value
            return Flow((), tuple(named[:1]))
        if _EXCHANGE.match(name):
            return Flow((*named[:1], *inside), tuple(named[1:]))
        count = 2 if name.startswith(("ldp", "ldx", "ldax")) and len(named) > 1 else 1
        reads_written = name.startswith(("movk", "bfi", "bfx", "cas"))
        written = named[:count] if len(given) and _starts(given[0]) else []
        reads = named if reads_written else named[len(written) :]
        sets = (FLAGS,) if name in ("adds", "subs", "ands", "bics", "negs") else ()
        return Flow((*reads, *inside, *flags), (*written, *sets))

    def register(self, name: str, size: int, /) -> str:
        return f"{'X' if size == 8 else 'W'}{name[1:]}"

    def state_name(self, name: str) -> str:
        return name.upper()

    def number(self, value: int, stored: bool, /) -> str | None:
        if stored:
            return "WZR" if value == 0 else None
        return f"#{value}"

    def copy(self, _constant: bool, _size: int, /) -> str:
        return "MOV {t},{a}"

    def compute(self, op: Arithmetic, _constant: bool, flags: bool, /) -> str | None:
        if flags and op not in ("add", "sub", "and"):
            return None
        return f"{_WORDS[op]}{'S' if flags else ''} {{t}},{{a}},{{b}}"

    def compare(self, _constant: bool, /) -> str | None:
        return "CMP {a},{b}"

    def steps(self, instruction: Instruction) -> list[Step]:
        if instruction.symbol:
            raise NotUnderstood(f"refers to {instruction.symbol}")
        name, given = instruction.name, instruction.operands
        match name, given:
            case (("nop" | "hint" | "bti" | "clrex"), _):
                # threads that reserve anew do not need clrex
                return []
            case "ret", ():
                return [End()]
            case "b", (int(to),):
                return [Jump(to)]
            case "dmb" | "dsb", (str(kind),):
                return [Barrier(f"{name.upper()} {kind.upper()}")]
            case "isb", _:
                return [Barrier("ISB")]
            case (("cbz" | "cbnz"), (str(register), int(to))):
                code = f"{name.upper()} {{r}},{{to}}"
                return [Branch(code, {"r": _whole(register)}, to, fails=name == "cbnz")]
            case (("tbz" | "tbnz"), (str(register), int(bit), int(to))):
                code = f"{name.upper()} {{r}},#{bit},{{to}}"
                return [Branch(code, {"r": _whole(register)}, to)]
            case _, (int(to),) if name.startswith("b.") and name[2:] in _CONDITIONS:
                return [Branch(f"{name.upper()} {{to}}", {"f": FLAGS}, to)]
            case "cset", (str(to), str(when)) if when in _CONDITIONS:
                return [Truth(f"CSET {{t}},{when.upper()}", _whole(to), {"f": FLAGS})]
            case (("mov" | "movz" | "sxtw"), (str(to), of)):
                return [Copy(_whole(to), _value(of), _size(to))]
            case "uxtb", (str(to), str(of)):
                return [Copy(_whole(to), _whole(of), 1)]
            case "mvn", (str(to), str(of)):
                return [Compute("xor", _whole(to), _whole(of), -1, _size(to))]
            case "neg", (str(to), str(of)):
                return [Compute("sub", _whole(to), 0, _whole(of), _size(to))]
            case "cmp", (str(a), b):
                return [Compare(FLAGS, _whole(a), _value(b), _size(a))]
            case "tst", (str(a), b):
                return [Compare(FLAGS, _whole(a), _value(b), _size(a), bits=True)]
            case _, (str(to), a, b) if (op := _ARITHMETIC.get(name.removesuffix("s"))) is not None:
                flags = FLAGS if name.endswith("s") else ""
                if to in _ZERO:
                    raise NotUnderstood
                return [Compute(op, _whole(to), _value(a), _value(b), _size(to), flags)]
        return self._memory(name, given)

    def _memory(self, name: str, given: tuple[Operand, ...]) -> list[Step]:
        word = name.upper()
        match name, given:
            case (
                ("ldr" | "ldur" | "ldar" | "ldapr" | "ldapur"),
                (str(to), Memory() as at, *after),
            ):
                load = Copy(_whole(to), _apart(at), _size(to), f"{word} {{r}},[{{at}}]")
                return _moved(at, after, [load])
            case (("str" | "stur" | "stlr" | "stlur"), (str(of), Memory() as at, *after)):
                store = Copy(_apart(at), _value(of), _size(of), f"{word} {{r}},[{{at}}]")
                return _moved(at, after, [store])
            case (("ldrb" | "ldurb"), (str(to), Memory() as at)):
                return [Copy(_whole(to), at, 1)]
            case (("strb" | "sturb"), (str(of), Memory() as at)):
                return [Copy(at, _value(of), 1)]
            case (("ldp" | "stp"), (str(one), str(other), Memory() as at, *after)):
                steps: list[Step] = []
                for register, by in ((one, 0), (other, _size(one))):
                    memory = Memory(at.base, (0 if after else at.displacement) + by)
                    if at.ahead:
                        memory = Memory(at.base, by)
                    if name == "ldp":
                        steps.append(Copy(_whole(register), memory, _size(one)))
                    else:
                        steps.append(Copy(memory, _value(register), _size(one)))
                return _moved(at, after, steps)
            case (("ldxr" | "ldaxr"), (str(to), Memory() as at)):
                if to in _ZERO:
                    return [Access(f"{word} WZR,[{{at}}]", at, {}, {}, kind="reserves")]
                code = f"{word} {{r}},[{{at}}]"
                return [Access(code, at, {}, {"r": _whole(to)}, _size(to), kind="reserves")]
            case (("stxr" | "stlxr"), (str(status), str(of), Memory() as at)):
                code = f"{word} {{s}},{{r}},[{{at}}]"
                reads, writes = {"r": _value(of)}, {"s": _whole(status)}
                return [Access(code, at, reads, writes, _size(of), kind="conditional")]
            case _, (str(of), str(to), Memory() as at) if _EXCHANGE.fullmatch(name):
                reads = {"v": _value(of)}
                if to in _ZERO:
                    return [Access(f"{word} {{v}},WZR,[{{at}}]", at, reads, {}, _size(of))]
                code = f"{word} {{v}},{{r}},[{{at}}]"
                return [Access(code, at, reads, {"r": _whole(to)}, _size(of))]
            case _, (str(of), Memory() as at) if _STORED.fullmatch(name):
                return [Access(f"{word} {{v}},[{{at}}]", at, {"v": _value(of)}, {}, _size(of))]
            case _, (str(old), str(new), Memory() as at) if _CAS.fullmatch(name):
                reads = {"r": _whole(old), "n": _value(new)}
                code = f"{word} {{r}},{{n}},[{{at}}]"
                return [Access(code, at, reads, {"r": _whole(old)}, _size(old))]
        raise NotUnderstood


def _starts(operand: Operand) -> bool:
    return isinstance(operand, str) and _GENERAL(operand) is not None


def _size(register: str) -> int:
    return 4 if register.startswith("w") and register != "wsp" else 8


def _whole(register: str) -> str:
    """The whole register; NotUnderstood for what is none."""
    if register in ("sp", "x29", "x30"):
        return register
    if re.fullmatch(r"[wx]([12]?\d|30)", register):
        return f"x{register[1:]}"
    raise NotUnderstood(f"{register} is no general register")


def _value(of: Operand) -> str | int:
    if isinstance(of, int):
        return of
    if isinstance(of, str):
        return 0 if of in _ZERO else _whole(of)
    raise NotUnderstood


def _apart(at: Memory) -> Memory:
    """The operand after the address is written back."""
    return Memory(at.base) if at.ahead else at


def _moved(at: Memory, after: list[Operand], steps: list[Step]) -> list[Step]:
    """The steps with the change of the address before or after them."""
    if at.ahead:
        return [Compute("add", at.base, at.base, at.displacement, 8), *steps]
    if len(after) == 1 and isinstance(after[0], int):
        return [*steps, Compute("add", at.base, at.base, after[0], 8)]
    if after:
        raise NotUnderstood
    return steps


_INLINE, _OUTLINE = ("-mno-outline-atomics",), ("-moutline-atomics",)
ISA = InstructionSet(
    name="aarch64",
    rank=1,
    title="AArch64",
    dialect=AArch64.dialect,
    triple="aarch64-linux-gnu",
    backend="aarch64",
    mappings=(
        Options("aarch64", _INLINE, march="armv8-a"),
        Options("aarch64-lse", _INLINE, march="armv8.1-a", cpu="generic+v8_1a"),
        Options("aarch64-rcpc", _INLINE, march="armv8.3-a", cpu="generic+v8_3a"),
        Options("aarch64-outline", _OUTLINE, march="armv8-a", like="aarch64", outline="exclusives"),
        Options(
            "aarch64-outline-lse", _OUTLINE, march="armv8-a", like="aarch64-lse", outline="lse"
        ),
    ),
    semantics=AArch64(),
    log=Log(" PC=", "PC"),
)
