"""x86-64: what instructions of the disassembler do, and how steps are written."""

from __future__ import annotations

import msgspec

from weakspot.generators.binary.instructions import Instruction, Memory, Operand
from weakspot.generators.binary.isa import InstructionSet, Log, Options
from weakspot.generators.binary.semantics import (
    ARITHMETIC,
    FLAGS,
    Access,
    Arithmetic,
    Barrier,
    Branch,
    Compare,
    Compute,
    Copy,
    End,
    Jump,
    NotUnderstood,
    Semantics,
    Step,
    Truth,
)

_LEGACY = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")
_WHOLE = {
    **{f"r{name}": (f"r{name}", 8) for name in _LEGACY},
    **{f"e{name}": (f"r{name}", 4) for name in _LEGACY},
    **{f"{name[0]}l": (f"r{name}", 1) for name in _LEGACY[:4]},
    **{f"{name}l": (f"r{name}", 1) for name in _LEGACY[4:]},
    **{f"r{n}": (f"r{n}", 8) for n in range(8, 16)},
    **{f"r{n}d": (f"r{n}", 4) for n in range(8, 16)},
    **{f"r{n}b": (f"r{n}", 1) for n in range(8, 16)},
}
_CONDITIONS = {"e", "ne", "g", "ge", "le", "s", "ns"}
_NOT = {"e": "ne", "ne": "e"}


class X86(Semantics):
    """x86-TSO has no dependencies, and so no code that makes some."""

    dialect = "X86_64"
    capstone = (3, 1 << 3)  # CS_ARCH_X86, CS_MODE_64
    arguments = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
    stack = "rsp"
    fresh = (
        *(f"r{name}" for name in _LEGACY[:7]),
        *(f"r{n}" for n in range(8, 16)),
    )
    named = True
    merges = True
    jump = "jmp {to}"
    unequal = ("cmpl {b},{a}", "jne {end}")

    def word(self, instruction: Instruction) -> Instruction:
        name, given = instruction.name, instruction.operands
        at = self.touched(instruction)
        if at is None or at.size > 8 or name.startswith(("lock", "xchg")):
            return instruction
        if isinstance(given[0], Memory) and name not in ("cmp", "test"):
            return instruction
        # whatever it does with what it reads, it reads it
        return msgspec.structs.replace(instruction, name="mov", operands=("eax", at))

    def touched(self, instruction: Instruction) -> Memory | None:
        at = next((each for each in instruction.operands if isinstance(each, Memory)), None)
        return None if at is None or instruction.name == "lea" else at

    def register(self, name: str, size: int, /) -> str:
        if size == 8:
            return f"%{name}"
        return f"%{name}d" if name[1:].isdigit() else f"%e{name[1:]}"

    def number(self, value: int, _stored: bool, /) -> str | None:
        return f"${value}"

    def copy(self, _constant: bool, size: int, /) -> str:
        return f"mov{'q' if size == 8 else 'l'} {{a}},{{t}}"

    def compute(self, op: Arithmetic, _constant: bool, _flags: bool, /) -> str | None:
        return f"{op}l {{b}},{{t}}"

    def compare(self, _constant: bool, /) -> str | None:
        return "cmpl {b},{a}"

    def steps(self, instruction: Instruction) -> list[Step]:
        if instruction.symbol:
            raise NotUnderstood(f"refers to {instruction.symbol}")
        name, given = instruction.name, instruction.operands
        match name, given:
            case (("nop" | "endbr64"), _):
                return []
            case (("ret" | "rep ret"), ()):
                return [End()]
            case (("mfence" | "lfence" | "sfence"), ()):
                return [Barrier(name)]
            case "lock or", (Memory(base="rsp"), 0):
                # a locked instruction on memory of the thread's own is a full fence
                return [Barrier("mfence")]
            case "jmp", (int(to),):
                return [Jump(to)]
            case _, (int(to),) if name[0] == "j" and name[1:] in _CONDITIONS:
                return [Branch(f"{name} {{to}}", {"f": FLAGS}, to)]
            case "push", (str(of),):
                down = Compute("sub", "rsp", "rsp", 8, 8)
                return [down, Copy(Memory("rsp"), _value(of), 8)]
            case "pop", (str(to),):
                return [Copy(_register(to), Memory("rsp"), 8), Compute("add", "rsp", "rsp", 8, 8)]
            case "leave", ():
                return [
                    Copy("rsp", "rbp", 8),
                    Copy("rbp", Memory("rsp"), 8),
                    Compute("add", "rsp", "rsp", 8, 8),
                ]
            case (("mov" | "movabs"), (to, of)):
                return [self._mov(to, of)]
            case "movzx", (str(to), of) if _size(of) == 1:
                return [Copy(_register(to), _value(of), 1, whole=True)]
            case "lea", (str(to), Memory(base=base, displacement=by, index="")):
                return [Compute("add", _register(to), base, by, 8)]
            case "cmp", (a, b):
                return [Compare(FLAGS, _destination(a), _value(b), _size(a) or _size(b))]
            case "test", (a, b):
                return [Compare(FLAGS, _destination(a), _value(b), _size(a) or _size(b), bits=True)]
            case (("xor" | "sub"), (str(to), str(of))) if to == of:
                return [Compute("and", _register(to), 0, 0, _size(to), FLAGS)]
            case _, (to, of) if name in ARITHMETIC:
                destination = _destination(to)
                size = _size(to) or _size(of)
                return [
                    Compute(ARITHMETIC[name], destination, destination, _value(of), size, FLAGS)
                ]
            case "neg", (to,):
                return [Compute("sub", _destination(to), 0, _destination(to), _size(to), FLAGS)]
            case "not", (to,):
                return [Compute("xor", _destination(to), _destination(to), -1, _size(to))]
            case (("inc" | "dec"), (to,)):
                op: Arithmetic = "add" if name == "inc" else "sub"
                return [Compute(op, _destination(to), _destination(to), 1, _size(to), FLAGS)]
            case _, (str(to),) if name.startswith("set") and name[3:] in _NOT:
                # what depends on a jump and what depends on flags is the same to x86-TSO
                code = f"movl $0,{{t}}\nj{_NOT[name[3:]]} {{own}}\nmovl $1,{{t}}\n{{own}}:"
                return [Truth(code, _register(to), {"f": FLAGS}, 1)]
        return self._locked(name, given)

    def _mov(self, to: Operand, of: Operand) -> Step:
        size = _size(to) or _size(of)
        if isinstance(to, Memory):
            return Copy(to, _value(of), size, "movl {r},({at})")
        return Copy(_destination(to), _value(of), size, "movl ({at}),{r}")

    def _locked(self, name: str, given: tuple[Operand, ...]) -> list[Step]:
        flags = {"f": FLAGS}
        match name, given:
            case "xchg", (Memory() as at, str(of)) | (str(of), Memory() as at):
                register = _register(of)
                code = "xchgl {v},({at})"
                return [Access(code, at, {"v": register}, {"v": register}, at.size)]
            case (("lock xadd" | "xadd"), (Memory() as at, str(of))):
                register = _register(of)
                writes = {"v": register, **flags}
                return [Access(f"{name}l {{v}},({{at}})", at, {"v": register}, writes, at.size)]
            case (("lock cmpxchg" | "cmpxchg"), (Memory() as at, str(new))):
                reads = {"n": _register(new), "o": "rax"}
                writes = {"o": "rax", **flags}
                return [Access(f"{name}l ({{at}}),{{n}}", at, reads, writes, at.size)]
            case _, (Memory() as at, of) if name.removeprefix("lock ") in ARITHMETIC and (
                name.startswith("lock ")
            ):
                code = f"{name}l {{v}},({{at}})"
                return [Access(code, at, {"v": _value(of)}, flags, at.size)]  # type: ignore[dict-item]
            case (("lock inc" | "lock dec"), (Memory() as at,)):
                return [Access(f"{name}l ({{at}})", at, {}, flags, at.size)]
        raise NotUnderstood


def _register(name: str) -> str:
    if name not in _WHOLE:
        raise NotUnderstood(f"{name} is no general register")
    return _WHOLE[name][0]


def _size(of: Operand) -> int:
    """The size of an operand in bytes; 0 where it does not say."""
    if isinstance(of, Memory):
        return of.size
    return _WHOLE[of][1] if isinstance(of, str) and of in _WHOLE else 0


def _destination(of: Operand) -> str | Memory:
    if isinstance(of, int):
        raise NotUnderstood
    return of if isinstance(of, Memory) else _register(of)


def _value(of: Operand) -> str | int | Memory:
    return of if isinstance(of, int) else _destination(of)


ISA = InstructionSet(
    name="x86_64",
    rank=0,
    title="x86-64",
    dialect=X86.dialect,
    triple="x86_64-linux-gnu",
    backend="x86-64",
    mappings=(Options("x86", ("-fcf-protection=none",)),),
    semantics=X86(),
    log=Log("RAX=", "RIP"),
    emulated=False,  # most hosts are one
)
