"""The programs of random_programs.py as compilers map them to the assembly of machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
from random_programs import Operation, Program, Step, Use, has_one_order, returned

from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.emit.isa import Mapped, Target, mapped, stronger_order, target
from weakspot.generators.litmus import Body, Cas, Fence, Load, Order, Rmw, Store, Test
from weakspot.harness.values.agreement import in_source_names
from weakspot.harness.values.state import State


class Instructions(msgspec.Struct, frozen=True):
    """What the mapping to a machine has no lines for: the `address` of a location that depends on
    the register {on}, in another register; {number} depending on it, alone (`nothing`) and added
    to its value (`sum`); a `branch` unless it holds {number}.

    They stand in place of `constant`, the line of the mapping that sets a register to a number; of
    `added`, they are an operand of the `sum_of` two registers."""

    address: tuple[str, ...]
    moved: str
    nothing: tuple[str, ...]
    sum: tuple[str, ...]
    branch: tuple[str, ...]
    constant: str
    added: str = ""
    sum_of: str = ""


INSTRUCTIONS = {
    "AArch64": Instructions(
        address=("EOR W25,{on},{on}", "ADD X26,{at},W25,SXTW"),
        moved="X26",
        nothing=("EOR {to},{on},{on}", "ADD {to},{to},#{number}"),
        sum=("ADD {to},{on},#{number}",),
        branch=("CMP {on},#{number}", "B.NE {to}"),
        constant="MOV {to},#{number}",
        added="ADD {n},{r},#{number}",
        sum_of="ADD {n},{r},{m}",
    ),
    "PPC": Instructions(
        address=("xor r25,{on},{on}", "add r26,r25,{at}"),
        moved="r26",
        nothing=("xor {to},{on},{on}", "addi {to},{to},{number}"),
        sum=("addi {to},{on},{number}",),
        branch=("cmpwi {on},{number}", "bne {to}"),
        constant="li {to},{number}",
        added="addi {n},{r},{number}",
        sum_of="add {n},{r},{m}",
    ),
    "RISCV": Instructions(
        address=("xor x25,{on},{on}", "add x26,x25,{at}"),
        moved="x26",
        nothing=("xor {to},{on},{on}", "addi {to},{to},{number}"),
        sum=("addi {to},{on},{number}",),
        branch=("ori x25,x0,{number}", "bne {on},x25,{to}"),
        constant="ori {to},x0,{number}",
    ),
}


def targets_of(model: str) -> tuple[Target, ...]:
    """The mappings that the model of programs is about. POWER's with a branch on what an acquire
    read-modify-write reads, as power-programs.cat takes it to have."""
    llsc, rcpc = target("aarch64"), target("aarch64-rcpc")
    lrsc, zalasr = target("riscv-lrsc"), target("riscv-zalasr")
    acquires = ("cmpw {r},{r}", "bne {F}9", "{F}9:", "isync")
    # outline atomics on a processor without LSE, with -march=armv8-a+rcpc
    outlined = msgspec.structs.replace(
        llsc,
        lines={**llsc.lines, "load": rcpc.lines["load"]},
        parts={**llsc.parts, "P": rcpc.parts["P"]},
    )
    return {
        "aarch64": (llsc, target("aarch64-lse"), rcpc, outlined),
        "aarch64-llsc": (llsc,),
        "aarch64-lse": (target("aarch64-lse"),),
        "aarch64-rcpc": (rcpc,),
        "power": tuple(
            msgspec.structs.replace(to, parts={**to.parts, "after": after})
            for to in (target("power"), target("power-trailing"))
            for after in [
                {
                    order: acquires if code == "isync" else code
                    for order, code in to.parts["after"].items()
                }
            ]
        ),
        "riscv": (
            *map(target, ("riscv", "riscv-zacas", "riscv-lrsc", "riscv-zalasr")),
            # without Zabha and with Zalasr
            msgspec.structs.replace(
                lrsc,
                lines={**lrsc.lines, **{kind: zalasr.lines[kind] for kind in ("load", "store")}},
                parts=zalasr.parts,
            ),
        ),
    }[model]


def has_weaker_model(program: Program, model: str) -> bool:
    """Whether the model of programs says that it allows more than the assembly's: where a
    compare-exchange acquires if it succeeds or if it fails, where in herd7 a later store waits for
    the operand of an AMO or of a weak compare-exchange that fails spuriously, and where no mapping
    is the weakest one for each of the program's operations."""
    operations = [step.operation for thread in program.threads for step in thread]
    if any(isinstance(one, Cas) and not has_one_order(one) for one in operations):
        return True
    steps = [step for thread in program.threads for step in thread]
    if model == "riscv":
        # with Zalasr an acquire load waits for earlier stores that release
        fenced = any(
            _order(one) in ("rel", "acq_rel", "sc") and _order(other) in ("acq", "acq_rel")
            for thread in program.threads
            for one, other in combinations([step.operation for step in thread], 2)
            if isinstance(one, Store | Rmw) and isinstance(other, Load | Rmw)
        )
        computed = any(isinstance(step.operation, Rmw) and step.data for step in steps)
        return fenced or computed or any(isinstance(one, Cas) for one in operations)
    if model in ("aarch64-lse", "aarch64-rcpc"):
        # the instruction does not fail spuriously
        return any(isinstance(one, Cas) and one.weak for one in operations)
    if model == "aarch64":
        updates = [one for one in operations if isinstance(one, Rmw | Cas)]
        orders = {one.success if isinstance(one, Cas) else one.order for one in updates}
        compared = {one.success for one in updates if isinstance(one, Cas)}
        return bool(orders & {"acq_rel", "sc"}) and bool(compared & {"rlx", "rel"})
    return model == "power" and any(
        _order(step.operation) == "sc"
        or (isinstance(step.operation, Cas) and step.operation.weak and (step.data or step.address))
        for step in steps
        if not isinstance(step.operation, Fence)
    )


def _order(operation: Operation) -> Order:
    return operation.success if isinstance(operation, Cas) else operation.order


def assembly(program: Program, to: Target) -> Mapped:
    """The program as a compiler maps it."""
    lines = dict(to.lines)
    body = Body(
        tuple(_mapped(program, at, to, lines) for at in range(len(program.threads))),
        program.atoms,
        program.locations,
        program.initial,
        frozenset(),
    )
    made = mapped(
        Test(name=program.name, arch="C", text="", body=body),
        msgspec.structs.replace(to, lines=lines),
    )
    registers = (f"{t}:{made.registers[t, reg]}={UNREACHED};" for t, reg in program.registers)
    text = made.test.text.replace("{ ", f"{{ {' '.join(registers)} ", 1)
    return msgspec.structs.replace(made, test=msgspec.structs.replace(made.test, text=text))


def _mapped(
    program: Program, at: int, to: Target, lines: dict[str, tuple[str, ...]]
) -> tuple[Rmw, ...]:
    """A thread for the mapping: each step an operation of its own, whose lines are added."""
    thread = program.threads[at]
    names = [step.register or f"step{number}" for number, step in enumerate(thread)]
    registers = dict(zip(names, to.operands, strict=False))
    made: list[Rmw] = []
    out = f"OUT{at}"
    for number, (step, name) in enumerate(zip(thread, names, strict=True)):
        kind = f"{program.name}.{at}.{number}"
        # herd7 reads no label in front of another
        over = out if number == len(thread) - 1 else f"OVER{at}{number}"
        lines[kind] = tuple(_code(step, over, out, to, registers))
        operation = step.operation
        loc = program.locations[0] if isinstance(operation, Fence) else operation.loc
        order = stronger_order(operation) if isinstance(operation, Cas) else operation.order
        made.append(Rmw(name, loc, kind, 0, order))
    if thread[-1].skips is not None or any(step.leaves is not None for step in thread):
        lines[made[-1].op] += (f"{out}:",)
    return tuple(made)


def _code(
    step: Step, over: str, out: str, to: Target, registers: Mapping[str, str]
) -> Iterator[str]:
    """The lines of a step, as a mapping has them; `over` and `out` are labels behind the step and
    the thread."""
    known = INSTRUCTIONS[to.dialect]
    for branch, label in ((step.leaves, out), (step.skips, over)):
        if branch is not None:
            values = {"on": registers[branch[0]], "number": branch[1], "to": label}
            yield from (line.format_map(values) for line in known.branch)
    if step.address is not None:
        on = registers[step.address.reg]
        yield from (line.replace("{on}", on) for line in known.address)
    for line in _lines_of(step, to, registers):
        yield line if step.address is None else line.replace("{at}", known.moved)
    if step.skips is not None and over != out:
        yield f"{over}:"


def _lines_of(step: Step, to: Target, registers: Mapping[str, str]) -> list[str]:
    operation = step.operation
    match operation:
        case Load():
            return list(to.lines["load"])
        case Store(value=value):
            code = [line.replace("{value}", "{number}") for line in to.lines["store"]]
        case Rmw(op=op, operand=value):
            code = [
                line.replace("{value}", "{number}")
                .replace("{minus}", str(-value))
                .replace("{not}", str(~value))
                for line in to.lines[op]
            ]
        case Cas(expected=expected, desired=value, weak=weak):
            code = [
                line.replace("{desired}", "{number}").replace("{expected}", str(expected))
                for line in to.lines["cas_weak" if weak else "cas"]
            ]
        case Fence():
            return list(to.lines["fence"])
    if step.data is not None:
        code = _with_data(code, step.data, INSTRUCTIONS[to.dialect], registers)
    return [line.replace("{number}", str(value)) for line in code]


def _with_data(
    code: Sequence[str], data: Use, known: Instructions, registers: Mapping[str, str]
) -> list[str]:
    """The code with {number} computed from a register."""
    constants = {known.constant.replace("{to}", to): to for to in ("{n}", "{m}")}
    made: list[str] = []
    found = False
    for line in code:
        to = "{m}" if line == known.added else constants.get(line)
        if to is None:
            made.append(line)
            continue
        found = True
        for computed in known.sum if data.value else known.nothing:
            made.append(computed.replace("{to}", to).replace("{on}", registers[data.reg]))
        if line == known.added:
            made.append(known.sum_of)
    assert found, f"no line of the mapping writes a number: {code}"
    return made


def all_returned(program: Program, made: Mapped | None, states: Iterable[State]) -> set[int]:
    """What main returns in final states of the assembly, or of the C litmus test."""
    if made is None:
        made = Mapped(Test(name=program.name, arch="C", text=""), {})
    return {returned(program, state) for state in in_source_names(made, states)}
