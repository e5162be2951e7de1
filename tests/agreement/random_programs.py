"""Programs in two forms: C for the explorer, and a C litmus test; random_assembly.py adds that of
their assembly. They are chosen at random, or made of straight-line litmus tests.

A thread is a few statements of generators.litmus, each with its dependencies on what earlier ones
have read. A final state is what every register and location holds at the end; main returns a hash
of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from weakspot.generators.emit.c11 import UNREACHED, expression
from weakspot.generators.litmus import Atom, Cas, Fence, Guard, Load, Order, Rmw, Store, Test
from weakspot.harness.values.state import State

LOADS: tuple[Order, ...] = ("rlx", "rlx", "rlx", "rlx", "acq", "sc")
STORES: tuple[Order, ...] = ("rlx", "rlx", "rlx", "rlx", "rel", "sc")
UPDATES: tuple[Order, ...] = ("rlx", "rlx", "rlx", "rlx", "acq", "rel", "acq_rel", "sc")
FENCES: tuple[Order, ...] = ("acq", "rel", "acq_rel", "sc")
COMPUTED = ("exch", "fetch.add")  # the operands that mappings take from registers
UPDATE = (*COMPUTED, *COMPUTED, "fetch.sub", "fetch.or", "fetch.and", "fetch.xor")
MOST_LOOPS = 2  # a loop of machine code multiplies the executions

Operation = Load | Store | Rmw | Cas | Fence
Branch = tuple[str, int]
"""A register, and the value with which the thread continues as written."""


class Use(msgspec.Struct, frozen=True):
    """What a statement uses of a register: its value, or nothing of it (`r ^ r`)."""

    reg: str
    value: bool = False

    def plus(self, number: int) -> str:
        """The sum of this and a number, in C."""
        return f"{self.reg if self.value else f'({self.reg} ^ {self.reg})'} + {number}"


class Step(msgspec.Struct, frozen=True):
    """An operation, and what its address and the value that it writes depend on. A branch in front
    of it skips it, or leaves the thread."""

    operation: Operation
    address: Use | None = None
    data: Use | None = None
    skips: Branch | None = None
    leaves: Branch | None = None

    @property
    def register(self) -> str | None:
        """The register of what it reads."""
        operation = self.operation
        return operation.reg if isinstance(operation, Load | Rmw | Cas) else None


Thread = tuple[Step, ...]


class Program(msgspec.Struct, frozen=True):
    """Threads, and the locations that they use; those in `plain` are not atomic, those in `initial`
    do not start as 0."""

    name: str
    threads: tuple[Thread, ...]
    locations: tuple[str, ...]
    plain: frozenset[str] = frozenset()
    initial: dict[str, int] = {}

    @property
    def registers(self) -> list[tuple[int, str]]:
        """What is read, by thread."""
        return [(at, reg) for at, thread in enumerate(self.threads) for reg in results(thread)]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """A condition about each register and location."""
        registers = (Atom(thread, reg, 0) for thread, reg in self.registers)
        return (*registers, *(Atom(None, loc, 0) for loc in self.locations))

    @property
    def loops(self) -> int:
        """The operations whose assembly may be a loop."""
        return sum(isinstance(s.operation, Rmw | Cas) for thread in self.threads for s in thread)


def results(thread: Thread) -> list[str]:
    """The registers of what a thread reads."""
    return [step.register for step in thread if step.register is not None]


# --- the choice ---------------------------------------------------------------------------------


def random_program(name: str, chance: random.Random) -> Program:
    """Two or three threads of a few steps. In most, each thread begins by reading what the one
    before it writes last: load buffering, where nothing orders the two."""
    count = chance.choice([2, 2, 2, 3])
    locations = tuple("xy" if chance.random() < 0.6 else "xyz")
    plain = frozenset(locations[-1:] if chance.random() < 0.15 else ())
    ring = locations[:count] if chance.random() < 0.7 else ()
    last = dict.fromkeys(locations, 0)
    threads: list[Thread] = []
    loops = MOST_LOOPS
    for at in range(count):
        steps: list[Step] = []
        size = chance.choice([2, 2, 3] if count == 3 else [2, 3, 3, 4])
        for number in range(size):
            loc = chance.choice(locations)
            kinds = "LLLLSSSSSUUCF"
            if ring and number == 0:
                loc, kinds = ring[at % len(ring)], "LLLLLU"
            elif ring and number == size - 1:
                loc, kinds = ring[(at + 1) % len(ring)], "SSSSSU"
            if loops == 0 or loc in plain:
                kinds = kinds.replace("U", "").replace("C", "")
            operation = _operation(chance.choice(kinds), f"r{number}", loc, last, chance)
            if loc in plain and isinstance(operation, Load | Store):
                operation = msgspec.structs.replace(operation, order="na")
            loops -= isinstance(operation, Rmw | Cas)
            steps.append(_depending(operation, steps, chance))
        threads.append(tuple(steps))
    return Program(name, tuple(threads), locations, plain)


def _operation(
    kind: str, register: str, loc: str, last: dict[str, int], chance: random.Random
) -> Operation:
    if kind in "SUC":
        last[loc] += 1
    match kind:
        case "L":
            return Load(register, loc, chance.choice(LOADS))
        case "S":
            return Store(loc, last[loc], chance.choice(STORES))
        case "U":
            op = chance.choice(UPDATE)
            return Rmw(register, loc, op, last[loc], chance.choice(UPDATES))
        case "C":
            order, weak = chance.choice(LOADS), chance.random() < 0.2
            success = order if chance.random() < 0.5 else chance.choice(UPDATES)
            expected = chance.randrange(last[loc])
            return Cas(register, loc, expected, last[loc], success, order, weak)
    return Fence(chance.choice(FENCES))


def _depending(operation: Operation, before: Sequence[Step], chance: random.Random) -> Step:
    # whether a compare-exchange has succeeded is two constants behind a branch in the mapping
    values = [step.register for step in before if not isinstance(step.operation, Cas)]
    known = [register for register in values if register is not None]
    address = data = None
    if known and not isinstance(operation, Fence) and chance.random() < 0.3:
        address = Use(chance.choice(known))
    takes = isinstance(operation, Store | Cas) or (
        isinstance(operation, Rmw) and operation.op in COMPUTED
    )
    if known and takes and chance.random() < 0.5:
        data = Use(chance.choice(known), chance.random() < 0.5)
    step = Step(operation, address, data)
    if not results(tuple(before)) or chance.random() < 0.7:
        return step
    branch = (chance.choice(results(tuple(before))), chance.randrange(2))
    if step.register is None and chance.random() < 0.5:
        return msgspec.structs.replace(step, skips=branch)
    return msgspec.structs.replace(step, leaves=branch)


def has_one_order(operation: Cas) -> bool:
    """Whether a compare-exchange acquires if it fails as it does if it succeeds."""
    return operation.success == operation.failure


def with_one_order(test: Test) -> bool:
    """Whether each compare-exchange acquires as well where it fails: the code acquires if either
    order does, which the models of programs say they leave out."""
    assert test.statements is not None
    return all(
        has_one_order(statement)
        for thread in test.statements.threads
        for statement in thread
        if isinstance(statement, Cas)
    )


def of_test(test: Test) -> Program | None:
    """The program of a litmus test in C whose threads are straight lines, if the models of programs
    allow what its assembly does."""
    body = test.statements
    if body is None or not with_one_order(test):
        return None
    threads = []
    for statements in body.threads:
        steps: list[Step] = []
        leaves: Branch | None = None
        for statement in statements:
            if isinstance(statement, Guard):
                if leaves is not None:
                    return None
                leaves = (statement.reg, statement.value)
                continue
            steps.append(Step(statement, leaves=leaves))
            leaves = None
        threads.append(tuple(steps))
    return Program(test.name, tuple(threads), body.locations, body.plain, body.init)


# --- C ------------------------------------------------------------------------------------------


def _text(step: Step, at: str, cell: str) -> str:
    """The C of an operation on the location at an address."""
    operation, data = step.operation, step.data
    if isinstance(operation, Fence):
        return expression(operation)
    if step.address is not None:
        at = f"({at} + {step.address.plus(0)})"
    return expression(
        msgspec.structs.replace(operation, loc=at),
        cell,
        lambda _, number: str(number) if data is None else data.plus(number),
    )


def _lines(thread: Thread, addresses: Mapping[str, str], cell: str, *, whole: bool) -> list[str]:
    """The C of a thread; `cell` and a number point to what a compare-exchange expects.

    In a litmus test, `ctrl` ends with the `if`. There, what follows an operation that may be
    skipped is in both alternatives: each is the `whole` rest of the thread.
    """

    def rest(number: int) -> list[str]:
        if number == len(thread):
            return []
        step = thread[number]
        at = "" if isinstance(step.operation, Fence) else addresses[step.operation.loc]
        text = _text(step, at, f"{cell}{number}") + ";"
        if step.register is not None:
            text = f"{step.register} = {text}"
        after = rest(number + 1)
        lines = [text, *after]
        if step.skips is not None:
            condition = f"if ({step.skips[0]} == {step.skips[1]}) {{"
            if whole:
                lines = [condition, *lines, *(["} else {", *after] if after else []), "}"]
            else:
                lines = [condition, text, "}", *after]
        if step.leaves is not None:
            lines = [f"if ({step.leaves[0]} == {step.leaves[1]}) {{", *lines, "}"]
        return lines

    return [*(f"int {reg} = {UNREACHED};" for reg in results(thread)), *rest(0)]


def _expected(thread: Thread) -> Iterator[tuple[int, int]]:
    """Which steps are compare-exchanges, and what they expect."""
    for number, step in enumerate(thread):
        if isinstance(step.operation, Cas):
            yield number, step.operation.expected


def litmus(program: Program) -> str:
    """The program as a C litmus test."""
    initial = [f"[{loc}]={value};" for loc, value in program.initial.items()]
    threads = []
    for at, thread in enumerate(program.threads):
        kinds = {
            loc: "int*" if loc in program.plain else "atomic_int*" for loc in program.locations
        }
        for number, value in _expected(thread):
            initial.append(f"[e{at}{number}]={value};")
            kinds[f"e{at}{number}"] = "int*"
        head = ", ".join(f"{kind} {name}" for name, kind in kinds.items())
        lines = _lines(thread, {loc: loc for loc in program.locations}, f"e{at}", whole=True)
        threads += [f"P{at} ({head}) {{", *lines, "}", ""]
    condition = " /\\ ".join(map(str, program.atoms))
    return "\n".join(
        [f"C {program.name}", f"{{ {' '.join(initial)} }}", *threads, f"exists ({condition})", ""]
    )


HEAD = """\
#include <pthread.h>
#include <stdatomic.h>

int selected = 0;
#define MIX(hash, value) ((hash) = (hash) * 0x9e3779b1u + (unsigned)(value))
"""


def source(programs: Sequence[Program]) -> str:
    """A C program that runs the first of these, or in its LLVM IR the one that is `selected`."""
    names = dict.fromkeys(loc for program in programs for loc in program.locations)
    text = [HEAD, *(f"static atomic_int atomic_{name}; static int plain_{name};" for name in names)]
    for number, program in enumerate(programs):
        text += _functions(program, number)
    text += ["int main(void) {", "  switch (selected) {"]
    text += [f"  case {number}: return main_{number}();" for number in range(len(programs))]
    return "\n".join([*text, "  }", "  return 0;", "}", ""])


def selected(ir: str, number: int) -> str:
    """The LLVM IR of a source in which another program runs."""
    return with_global(ir, "selected", number)


def with_global(ir: str, name: str, value: int) -> str:
    """The LLVM IR of a program with another value of a variable, which is 0."""
    definition = f"@{name} = dso_local global i32 "
    assert f"{definition}0" in ir
    return ir.replace(f"{definition}0", f"{definition}{value}", 1)


def _functions(program: Program, number: int) -> list[str]:
    names = {
        loc: f"{'plain' if loc in program.plain else 'atomic'}_{loc}" for loc in program.locations
    }
    addresses = {loc: f"&{name}" for loc, name in names.items()}
    count = len(program.threads)
    text = []
    for at, thread in enumerate(program.threads):
        text += [
            f"static void *thread_{number}_{at}(void *unused) {{",
            *(f"  int e{step} = {value};" for step, value in _expected(thread)),
            *(f"  {line}" for line in _lines(thread, addresses, "&e", whole=False)),
            "  unsigned hash = 0;",
            *(f"  MIX(hash, {reg});" for reg in results(thread)),
            "  return (void *)(unsigned long)hash;",
            "}",
            "",
        ]
    return [
        *text,
        f"static int main_{number}(void) {{",
        f"  pthread_t threads[{count}];",
        f"  void *result[{count}];",
        *(f"  {names[loc]} = {value};" for loc, value in program.initial.items()),
        *(f"  pthread_create(&threads[{at}], 0, thread_{number}_{at}, 0);" for at in range(count)),
        *(f"  pthread_join(threads[{at}], &result[{at}]);" for at in range(count)),
        "  unsigned hash = 0;",
        *(f"  MIX(hash, (unsigned long)result[{at}]);" for at in range(count)),
        *(f"  MIX(hash, {names[loc]});" for loc in program.locations),
        "  return (int)hash;",
        "}",
        "",
    ]


def returned(program: Program, state: State) -> int:
    """What main returns at the end of an execution with this final state."""
    hashes = [
        mixed(int(state[f"{at}:{reg}"]) for reg in results(thread))
        for at, thread in enumerate(program.threads)
    ]
    return mixed([*hashes, *(int(state[loc]) for loc in program.locations)])


def mixed(values: Iterable[int]) -> int:
    """What MIX makes of the values."""
    found = 0
    for value in values:
        found = (found * 0x9E3779B1 + value) & 0xFFFFFFFF
    return found
