"""Random litmus tests whose accesses have mixed sizes, for AArch64 and X86_64.

The bytes of what they write name the write and the position, so that a final state shows from which
write each byte was read. Tests are small: herd7 tries all combinations of the pieces of accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

SIZES = [(8, 4), (8, 4), (8, 2), (4, 2), (4, 1), (4, 2, 1), (8, 4, 2), (2, 1)]
"""The bytes that accesses of a test have; its locations have the first number."""
NARROW = {1: "B", 2: "H", 4: "", 8: ""}
SIGNED = {1: "SB", 2: "SH", 4: "SW", 8: ""}
ORDERS = ["", "A", "L", "AL"]
OPERANDS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi"]


@dataclass
class Access:
    """What an instruction accesses: so many bytes from an offset in a location."""

    location: str
    offset: int
    size: int
    reads: bool = False
    writes: bool = False

    def overlaps(self, other: Access) -> bool:
        return (
            self.location == other.location
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


@dataclass
class Thread:
    """The instructions of a thread, what they need in the initial state, and what they load."""

    number: int
    lines: list[str] = field(default_factory=list)
    initial: dict[str, str] = field(default_factory=dict)
    loaded: list[str] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    registers: int = 0

    def register(self) -> int:
        self.registers += 1
        return self.registers - 1

    def holds(self, register: str, value: str | int) -> None:
        """Sets the initial value of a register."""
        self.initial[register] = str(value)


def mixed_tests(
    dialect: str, count: int, seed: int = 0, largest: int = 3000
) -> Iterator[tuple[str, str]]:
    """So many tests: the name and the text of each. `largest` is the number of choices of
    reads-from that one can have; herd7 examines some hundreds in a second."""
    random = Random(f"{dialect}-{seed}")
    made = 0
    while made < count:
        name = f"mixed-{seed}-{made}"
        text = _test(dialect, name, random, largest)
        if text is not None:
            made += 1
            yield name, text


def _test(dialect: str, name: str, random: Random, largest: int) -> str | None:
    sizes = random.choice(SIZES) if dialect == "AArch64" else (8, 4)
    locations = random.choice([["x"], ["x", "y"], ["x", "y"]])
    threads = [Thread(number) for number in range(random.choice([2, 2, 2, 3]))]
    writes = 0
    for thread in threads:
        for _ in range(random.randint(1, 5 - len(threads))):
            size = random.choice(sizes)
            offset = random.randrange(0, sizes[0], size)
            access = Access(random.choice(locations), offset, size)
            _INSTRUCTIONS[dialect](thread, access, writes + 1, random)
            writes += access.writes
            thread.accesses.append(access)
    accesses = [access for thread in threads for access in thread.accesses]
    mixed = any(a.size != b.size and a.overlaps(b) for a in accesses for b in accesses)
    if not mixed or _choices(accesses, min(sizes)) > largest:
        return None
    declared = f"uint{sizes[0] * 8}_t"
    values = [0, 0, -1, 1] if dialect == "AArch64" else [0, 0, 1]  # sums must fit
    initial = [f"{declared} {at}={random.choice(values)};" for at in locations]
    for thread in threads:
        for register, value in (dict.fromkeys(thread.loaded, "0") | thread.initial).items():
            typed = "" if value in locations else "uint64_t "
            initial.append(f"{typed}{thread.number}:{register}={value};")
    loaded = [f"{thread.number}:{reg}" for thread in threads for reg in thread.loaded]
    rows = max(len(thread.lines) for thread in threads)
    columns = [[f"P{thread.number}", *thread.lines] for thread in threads]
    padded = [column + [""] * (rows + 1 - len(column)) for column in columns]
    code = [" | ".join(row) + " ;" for row in zip(*padded, strict=True)]
    listed = " ".join(f"{each};" for each in [*loaded, *locations])
    wanted = " /\\ ".join(f"{each}=0" for each in loaded[:2]) or "x=0"
    ends = [f"locations [{listed}]", f"exists ({wanted})", ""]
    return "\n".join([f"{dialect} {name}", "{", *initial, "}", *code, *ends])


def _choices(accesses: list[Access], piece: int) -> int:
    """The number of choices of reads-from and last writes."""
    writes = [access for access in accesses if access.writes]
    choices = 1
    for read in accesses:
        if read.reads:
            others = sum(read.overlaps(write) and write is not read for write in writes)
            choices *= (1 + others) ** (read.size // piece)
    for location in ("x", "y"):
        sizes = [write.size for write in writes if write.location == location]
        choices *= max(len(sizes), 1) ** (max(sizes, default=0) // piece)
    return choices


def _value(number: int, size: int) -> int:
    """The value of a write: each byte is the number of the write and its position."""
    parts = ((16 * number + position & 0xFF) << 8 * position for position in range(size))
    value = sum(parts)
    return value - (1 << 64) if value >> 63 else value  # herd7 reads numbers of 63 bits


def _aarch64(thread: Thread, access: Access, number: int, random: Random) -> None:
    """Appends the instructions of an access, after a fence or a dependency."""
    base, to, data = (thread.register() for _ in range(3))
    suffix, word = NARROW[access.size], "X" if access.size == 8 else "W"
    thread.holds(f"X{base}", access.location)
    kinds = ["load"] * 5 + ["store"] * 5 + ["signed", "acquire", "release", "pair", "storepair"]
    kind = random.choice([*kinds, "swap", "xor", "set", "cas", "exclusive"])
    if "pair" in kind and (access.size != 4 or access.offset or random.random() < 0.5):
        kind = "store" if "store" in kind else "load"
    if thread.loaded and random.random() < 0.3:
        index, last = thread.register(), random.choice(thread.loaded)
        thread.lines.append(f"EOR X{index},{last},{last}")
        thread.lines.append(f"ADD X{base},X{base},X{index}")
    elif thread.lines and random.random() < 0.3:
        thread.lines.append(random.choice(["DMB SY", "DMB LD", "DMB ST", "ISB"]))
    at = f"[X{base}]"
    if access.offset and kind in ("load", "store", "signed"):
        at = f"[X{base},#{access.offset}]"
    elif access.offset:
        thread.lines.append(f"ADD X{base},X{base},#{access.offset}")
    access.writes = kind not in ("load", "signed", "acquire", "pair")
    access.reads = kind not in ("store", "release", "storepair")
    if kind == "store" and thread.loaded and random.random() < 0.25:
        thread.lines.append(f"ADD X{data},{random.choice(thread.loaded)},#{number}")
    elif access.writes:
        thread.holds(f"X{data}", _value(number + random.choice([0, 0, 0, 8]), access.size))
    if access.reads:
        thread.loaded.append(f"X{to}")
    order = random.choice(ORDERS)
    value, result = f"{word}{data}", f"{word}{to}"
    match kind:
        case "load":
            thread.lines.append(f"LDR{suffix} {result},{at}")
        case "signed":
            thread.lines.append(f"LDR{SIGNED[access.size]} X{to},{at}")
        case "acquire":
            thread.lines.append(f"{random.choice(['LDAR', 'LDAPR'])}{suffix} {result},{at}")
        case "store" | "release":
            name = "STR" if kind == "store" else "STLR"
            thread.lines.append(f"{name}{suffix} {value},{at}")
        case "swap" | "xor" | "set":
            name = {"swap": "SWP", "xor": "LDEOR", "set": "LDSET"}[kind]
            thread.lines.append(f"{name}{order}{suffix} {value},{result},{at}")
        case "cas":
            thread.lines.append(f"CAS{order}{suffix} {result},{value},{at}")
        case "exclusive":
            thread.lines.append(f"LDXR{suffix} {result},{at}")
            thread.lines.append(f"STXR{suffix} W{thread.register()},{value},{at}")
        case "pair":
            second = thread.register()
            thread.loaded.append(f"X{second}")
            thread.lines.append(f"LDP W{to},W{second},{at}")
        case "storepair":
            thread.lines.append(f"STP {value},{value},{at}")
    if "pair" in kind:
        access.size = 8


def _x86_64(thread: Thread, access: Access, number: int, random: Random) -> None:
    """Appends the instruction of an access, after a fence."""
    base = "r8" if access.location == "x" else "r9"
    thread.holds(base, access.location)
    at = f"{access.offset or ''}(%{base})"
    suffix = "q" if access.size == 8 else "l"
    register = OPERANDS[thread.register()]
    if thread.lines and random.random() < 0.3:
        thread.lines.append("mfence")
    kind = random.choice(["load"] * 4 + ["store"] * 4 + ["immediate", "exchange", "add", "cas"])
    access.reads = kind not in ("store", "immediate")
    access.writes = kind != "load"
    if kind == "store" and thread.loaded and random.random() < 0.3:
        register = random.choice(thread.loaded)
    elif kind in ("store", "exchange", "cas"):
        thread.holds(register, _value(number, access.size))
    elif kind == "load":
        thread.loaded.append(register)
    operand = f"%{register}" if suffix == "q" else f"%e{register[1:]}"
    thread.lines.append(
        {
            "load": f"mov{suffix} {at},{operand}",
            "store": f"mov{suffix} {operand},{at}",
            "immediate": f"mov{suffix} ${number},{at}",
            "exchange": f"xchg{suffix} {operand},{at}",
            "add": f"lock add{suffix} ${number},{at}",
            "cas": f"lock cmpxchg{suffix} {at},{operand}",
        }[kind]
    )


_INSTRUCTIONS: dict[str, Callable[[Thread, Access, int, Random], None]] = {
    "AArch64": _aarch64,
    "X86_64": _x86_64,
}
