"""Instructions as C statements.

In: the template of an inline assembly statement, as LLVM writes it, and its operands. Out: C
statements in terms of the operands' variables. x86 is in AT&T syntax, or translated to it
(`intel`); of the other instruction sets fences and hints are known. Sources of the meanings:
Intel's SDM, volume 2; the Arm ARM (DMB, DSB); the Power ISA, book II (sync); the RISC-V
specification (FENCE); for the fences of C11 that they are at least as strong as:
https://www.cl.cam.ac.uk/~pes20/cpp/cpp0xmappings.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from weakspot.generators.source.assembly.intel import in_att_syntax
from weakspot.generators.source.assembly.operands import WIDTH, NotUnderstood, Operand, Operands

SEQ_CST, ACQ_REL = "__ATOMIC_SEQ_CST", "__ATOMIC_ACQ_REL"
ACQUIRE, RELEASE = "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE"

_NOTHING = r"pause|yield|nop|wfe|sev|sevl|rep nop|hint #?\d+|isb( sy)?|lfence|sfence|prefetch\w* .*"
_NOTHING += r"|or 27,27,27|or 31,31,31|\.byte 0xf3,0x90"
_FENCES = {
    r"mfence|lock (add|or)[bwlq] \$\$0(x0)?,(-?\d+)?\(%[re]sp\)|(dmb|dsb)( (ish|sy|osh))?": SEQ_CST,
    r"sync|hwsync|sync 0|fence|fence (rw,rw|iorw,iorw)": SEQ_CST,
    r"lwsync|sync 1|fence\.tso": ACQ_REL,
    r"(dmb|dsb) (ishld|ld|oshld)|fence (r,rw|ir,iorw)": ACQUIRE,
    r"fence (rw,w|iorw,ow)": RELEASE,
}
_SUFFIXES = {"b": 8, "w": 16, "l": 32, "q": 64}
_PARTS = {"b": 8, "w": 16, "k": 32, "q": 64}
_BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_FETCH = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor"}
_CONDITIONS = {
    **dict.fromkeys(("z", "e"), "zf"),
    **dict.fromkeys(("nz", "ne"), "!zf"),
    **dict.fromkeys(("c", "b", "nae"), "cf"),
    **dict.fromkeys(("nc", "nb", "ae"), "!cf"),
    "s": "sf",
    "ns": "!sf",
}
_LEGACY = {
    name: (register, bits)
    for register in ("ax", "bx", "cx", "dx")
    for name, bits in (
        (register[0] + "l", 8),
        (register, 16),
        (f"e{register}", 32),
        (f"r{register}", 64),
    )
}


_KEEPS_RBX = "xchgq %rbx,"
"""How code begins and ends that does not change %rbx, which some compilers reserve."""
_SAME_PAIR = ["movq %rdx,%rcx", "movq %rax,%rbx"]


class _Value(msgspec.Struct, frozen=True):
    """An operand of an instruction: an expression of so many bits; an object's address if it is
    memory; 0 bits: a constant, which fits any width."""

    text: str
    bits: int
    address: str | None = None
    variable: str | None = None


def statements(template: str, operands: Operands, *, intel: bool = False) -> list[str]:
    """The statements for a whole template. Raises NotUnderstood."""
    found = instructions(template)
    return _Translation(operands).translated(list(map(in_att_syntax, found)) if intel else found)


def instructions(template: str) -> list[str]:
    """The instructions of a template, each with its prefix: "lock xaddl $0,$1"."""
    text = template.replace("\\09", " ").replace("\\0A", "\n").replace("\\0D", "\n")
    text = _DIALECTS.sub(r"\1", text)
    text = re.sub(r"#(?!\d).*|/\*.*?\*/", " ", text)
    found: list[str] = []
    for part in re.split(r"[;\n]", text):
        one = re.sub(r"\s+", " ", part.strip())
        one = re.sub(r" ?, ?", ",", one)
        while label := _LABEL.match(one):
            found.append(label[0].strip())
            one = one[label.end() :]
        if not one:
            continue
        if found and found[-1] in ("lock", "rep"):
            one = f"{found.pop()} {one}"
        found.append(one)
    return found


def _named(found: Sequence[str]) -> list[str]:
    """The instructions with a name of its own for each local label and for each jump to one. Raises
    NotUnderstood for a jump to elsewhere."""
    labels = [(at, each[:-1]) for at, each in enumerate(found) if each.endswith(":")]

    def target(name: str, at: int) -> str:
        number, way = (name[:-1], name[-1]) if _NUMBERED.fullmatch(name) else (name, "")
        there = [
            place
            for place, each in labels
            if each == number and (way != "b" or place <= at) and (way != "f" or place > at)
        ]
        if not there:
            raise NotUnderstood(f"a jump to {name}")
        return f"label{there[-1] if way == 'b' else there[0]}"

    def renamed(at: int, text: str) -> str:
        if text.endswith(":"):
            return f"label{at}:"
        jump = _JUMP.fullmatch(text)
        return f"j{jump[1]} {target(jump[2], at)}" if jump else text

    return [renamed(at, each) for at, each in enumerate(found)]


_DIALECTS = re.compile(r"\$\((.*?)\$\|.*?\$\)")
"""What is written in the dialect of AT&T and, after a bar, in Intel's."""
_LABEL = re.compile(r"[\w.$]+(?:\$\{:uid\})?: ?")
_NUMBERED = re.compile(r"\d+[bf]")
_JUMP = re.compile(r"j([a-z]+) (\S+)")


class _Instruction(msgspec.Struct, frozen=True):
    name: str
    locked: bool
    width: int


class _Translation:
    def __init__(self, operands: Operands) -> None:
        self._operands = operands
        self._out: list[str] = []
        self._flags: set[str] = set()
        self._flag_statements: list[str] = []
        self._flags_matter = False
        self._written = {
            name for name, (_, initial) in operands.variables.items() if initial is not None
        }

    def translated(self, found: Sequence[str]) -> list[str]:
        if found[:2] == _SAME_PAIR and found[2:3] and found[2].startswith("lock cmpxchg16b"):
            # a load: whatever was in the registers, memory stays as it is
            for register in ("rax", "rdx"):
                self._write(self._legacy(register), "0")
        if found[1:2] == ["cpuid"] and found[0] == found[-1] and found[0].startswith(_KEEPS_RBX):
            self._write(self._value(found[0].removeprefix(_KEEPS_RBX), 32), "0")
            found = found[1:2]
        for instruction in _named(found):
            self._instruction(instruction)
        for name, condition in self._operands.flag_results.items():
            self._out.append(f"{name} = {self._condition(condition)};")
            self._written.add(name)
        if not self._flags_matter:
            self._out = [each for each in self._out if each not in self._flag_statements]
        if not self._out and self._operands.clobbers_memory:
            self._out.append(f"__atomic_signal_fence({SEQ_CST});")
        if not self._written >= set(self._operands.results):
            raise NotUnderstood("a result is not computed")
        return self._out

    def _instruction(self, text: str) -> None:
        if re.fullmatch(_NOTHING, text):
            return
        for pattern, order in _FENCES.items():
            if re.fullmatch(pattern, text):
                self._out.append(f"__atomic_thread_fence({order});")
                return
        if text in ("rdtsc", "rdtscp"):
            self._read_cycles(text)
            return
        if text == "cpuid":
            for register in ("ax", "bx", "cx", "dx"):
                if variable := self._operands.registers.get(register):
                    self._write(self._register(variable, 32), "0")
            return
        if text.endswith(":"):
            self._out.append(f"{text};")
            self._flags = set()  # those of several instructions may come here
            return
        if jump := _JUMP.fullmatch(text):
            when = "" if jump[1] == "mp" else f"if ({self._condition(jump[1])}) "
            self._out.append(f"{when}goto {jump[2]};")
            return
        found = re.fullmatch(r"(lock )?([a-z]\w*)(?: (.*))?", text)
        if found is None:
            raise NotUnderstood(text)
        locked, name = found[1] is not None, found[2]
        words = re.findall(r"(?:\([^)]*\)|[^,(])+", found[3] or "")
        if name.startswith("set") and len(words) == 1:
            target = self._value(words[0], 8)
            self._write(target, self._condition(name[3:]))
            return
        known, width = name, 128 if name == "cmpxchg16b" else None
        rules: dict[tuple[str, int], Callable[..., None]] = {
            ("mov", 2): self._move,
            ("xchg", 2): self._exchange,
            ("xadd", 2): self._exchange_add,
            ("cmpxchg", 2): self._compare_exchange,
            ("cmpxchg16b", 1): self._compare_exchange_pair,
            **{(each, 2): self._binary for each in _BINARY},
            **{(each, 2): self._compare for each in ("cmp", "test")},
            **{(each, 1): self._unary for each in ("inc", "dec", "neg", "not")},
            **{(each, 2): self._bit for each in ("bt", "bts", "btr", "btc")},
            **{(each, 2): self._scan for each in ("bsf", "bsr")},
        }
        if (known, len(words)) not in rules and known[-1:] in _SUFFIXES:
            known, width = name[:-1], _SUFFIXES[name[-1]]
        rule = rules.get((known, len(words)))
        if rule is None:
            raise NotUnderstood(text)
        values = [self._value(word, width) for word in words]
        if width is None:
            widths = {each.bits for each in values if each.variable} or {
                each.bits for each in values if each.bits
            }
            if len(widths) != 1:
                raise NotUnderstood(text)
            width = widths.pop()
            values = [self._value(word, width) for word in words]
        rule(_Instruction(known, locked, width), *values)

    # --- operands -------------------------------------------------------------------------------

    def _value(self, text: str, width: int | None) -> _Value:
        """An operand, read with this width, or with its own."""
        if found := re.fullmatch(r"\$\$(-?(?:0x[0-9a-fA-F]+|\d+))", text):
            return _Value(f"((uint{width or 64}_t){found[1]})", width or 0)
        if found := re.fullmatch(r"%(\w+)", text):
            return self._legacy(found[1])
        if found := re.fullmatch(r"(-?\d*)\((?:\$(\d+)|\$\{(\d+)(?::q)?\})\)", text):
            operand = self._operand(int(found[2] or found[3]))
            bits = width or 0
            if operand.address:
                raise NotUnderstood(text)
            address = f"((char *){operand.text} + {found[1] or 0})"
            return _Value("", bits, address=address)
        found = re.fullmatch(r"\$(\d+)|\$\{(\d+):(\w)\}", text)
        if found is None:
            raise NotUnderstood(text)
        operand = self._operand(int(found[1] or found[2]))
        part = found[3]
        if operand.address:
            stated = width or WIDTH.get(operand.type)
            if stated is None or part is not None:
                raise NotUnderstood(text)
            return _Value("", stated, address=operand.address)
        if part is not None and part not in _PARTS:
            raise NotUnderstood(text)
        return self._register(operand.text, (_PARTS[part] if part else None) or width)

    def _legacy(self, name: str) -> _Value:
        """A register that is named in the text: the operand that is in it, or one that the
        statement clobbers."""
        register, bits = _LEGACY.get(name, ("", 0))
        variable = self._operands.registers.get(register)
        if variable is None:
            if register not in self._operands.clobbered:
                raise NotUnderstood(f"%{name}")
            variable = self._operands.registers[register] = f"clobbered_{register}"
            self._operands.variables[variable] = ("i64", None)
        return self._register(variable, bits)

    def _operand(self, number: int) -> Operand:
        if number >= len(self._operands.by_number):
            raise NotUnderstood(f"${number}")
        return self._operands.by_number[number]

    def _register(self, variable: str, bits: int | None) -> _Value:
        type_ = self._operands.variables[variable][0]
        if type_ not in WIDTH:
            raise NotUnderstood(type_)
        bits = bits or WIDTH[type_]
        whole = f"(uint64_t){variable}" if type_ == "ptr" else variable
        return _Value(f"((uint{bits}_t){whole})", bits, variable=variable)

    def _pointer(self, value: _Value, width: int) -> str:
        return f"(uint{width}_t *){value.address}"

    def _read(self, value: _Value, width: int) -> str:
        if value.address is not None:
            return f"__atomic_load_n({self._pointer(value, width)}, __ATOMIC_RELAXED)"
        if value.variable is not None and value.variable not in self._written:
            raise NotUnderstood(f"{value.variable} is read before it is written")
        return value.text

    def _write(self, value: _Value, expression: str) -> None:
        """Assign, as x86 does: 8 and 16 bits leave the rest of a register, 32 bits clear it."""
        if value.address is not None:
            pointer = self._pointer(value, value.bits)
            self._out.append(f"__atomic_store_n({pointer}, {expression}, __ATOMIC_RELAXED);")
            return
        if value.variable is None:
            raise NotUnderstood("a constant as a target")
        name = value.variable
        type_ = self._operands.variables[name][0]
        if type_ == "ptr":
            self._out.append(f"{name} = (void *)(uint64_t)(uint{value.bits}_t)({expression});")
        elif value.bits < 32 and value.bits < WIDTH[type_] and name in self._written:
            rest = f"({name} & ~(uint{WIDTH[type_]}_t){(1 << value.bits) - 1})"
            self._out.append(f"{name} = {rest} | (uint{value.bits}_t)({expression});")
        else:
            self._out.append(f"{name} = (uint{value.bits}_t)({expression});")
        self._written.add(name)

    def _new(self, width: int, expression: str) -> str:
        name = f"t{len(self._out)}"
        self._out.append(f"uint{width}_t {name} = {expression};")
        return name

    def _set_flag(self, name: str, expression: str, *, pure: bool = True) -> None:
        self._flags.add(name)
        self._out.append(f"{name} = {expression};")
        if pure:
            self._flag_statements.append(self._out[-1])

    def _condition(self, name: str) -> str:
        expression = _CONDITIONS.get(name)
        if expression is None or expression.strip("!") not in self._flags:
            raise NotUnderstood(f"condition {name}")
        self._flags_matter = True
        return expression

    def _set_result_flags(self, width: int, result: str) -> None:
        self._set_flag("zf", f"{result} == 0")
        self._set_flag("sf", f"({result} >> {width - 1}) & 1")

    # --- instructions ---------------------------------------------------------------------------

    def _read_cycles(self, its: str) -> None:
        self._out.append("extern unsigned long weakspot_cycles(void);")
        cycles = self._new(64, "weakspot_cycles()")
        for register, half in (("ax", cycles), ("dx", f"{cycles} >> 32")):
            if variable := self._operands.registers.get(register):
                self._write(self._register(variable, 32), half)
        if its == "rdtscp" and (variable := self._operands.registers.get("cx")):
            self._write(self._register(variable, 32), "0")

    def _compare(self, its: _Instruction, one: _Value, other: _Value) -> None:
        """Subtract, or and, for the flags alone."""
        if its.locked:
            raise NotUnderstood(its.name)
        first = self._new(its.width, self._read(one, its.width))
        second = first if other == one else self._new(its.width, self._read(other, its.width))
        operator = {"cmp": "-", "test": "&"}[its.name]
        result = self._new(its.width, f"{second} {operator} {first}")
        self._set_flag("cf", f"{second} < {first}" if its.name == "cmp" else "0")
        self._set_result_flags(its.width, result)

    def _move(self, its: _Instruction, source: _Value, target: _Value) -> None:
        if its.locked or (source.address and target.address):
            raise NotUnderstood(its.name)
        self._write(target, self._read(source, its.width))

    def _exchange(self, its: _Instruction, one: _Value, other: _Value) -> None:
        memory, register = (one, other) if one.address else (other, one)
        if memory.address is None or register.variable is None:
            raise NotUnderstood(its.name)
        value, pointer = self._read(register, its.width), self._pointer(memory, its.width)
        self._write(register, f"__atomic_exchange_n({pointer}, {value}, {SEQ_CST})")

    def _exchange_add(self, its: _Instruction, register: _Value, memory: _Value) -> None:
        if not its.locked or memory.address is None or register.variable is None:
            raise NotUnderstood(its.name)
        value, pointer = self._read(register, its.width), self._pointer(memory, its.width)
        old = self._new(its.width, f"__atomic_fetch_add({pointer}, {value}, {SEQ_CST})")
        self._set_result_flags(its.width, f"((uint{its.width}_t)({old} + {value}))")
        self._write(register, old)

    def _compare_exchange(self, its: _Instruction, new: _Value, memory: _Value) -> None:
        """The accumulator is compared, and gets the value read."""
        if not its.locked or memory.address is None or "ax" not in self._operands.registers:
            raise NotUnderstood(its.name)
        accumulator = self._register(self._operands.registers["ax"], its.width)
        old = self._new(its.width, self._read(accumulator, its.width))
        value, pointer = self._read(new, its.width), self._pointer(memory, its.width)
        exchange = (
            f"__atomic_compare_exchange_n({pointer}, &{old}, {value}, 0, {SEQ_CST}, {SEQ_CST})"
        )
        self._flags = set()
        self._set_flag("zf", exchange, pure=False)
        self._write(accumulator, old)

    def _compare_exchange_pair(self, its: _Instruction, memory: _Value) -> None:
        """d:a is compared, and gets the value read; c:b is stored."""
        if not its.locked or memory.address is None:
            raise NotUnderstood(its.name)
        wide = "unsigned __int128"

        def pair(high: str, low: str) -> str:
            first, second = (self._read(self._legacy(name), 64) for name in (high, low))
            return f"(({wide}){first} << 64 | {second})"

        old = f"t{len(self._out)}"
        self._out.append(f"{wide} {old} = {pair('rdx', 'rax')};")
        exchange = (
            f"__atomic_compare_exchange_n(({wide} *){memory.address}, &{old}, "
            f"{pair('rcx', 'rbx')}, 0, {SEQ_CST}, {SEQ_CST})"
        )
        self._flags = set()
        self._set_flag("zf", exchange, pure=False)
        self._write(self._legacy("rax"), f"(uint64_t){old}")
        self._write(self._legacy("rdx"), f"(uint64_t)({old} >> 64)")

    def _binary(self, its: _Instruction, source: _Value, target: _Value) -> None:
        operator, value = _BINARY[its.name], self._read(source, its.width)
        if its.locked:
            if target.address is None:
                raise NotUnderstood(its.name)
            pointer = self._pointer(target, its.width)
            old = self._new(
                its.width, f"__atomic_fetch_{_FETCH[its.name]}({pointer}, {value}, {SEQ_CST})"
            )
        else:
            old = self._new(its.width, self._read(target, its.width))
        result = self._new(its.width, f"{old} {operator} {value}")
        if not its.locked:
            self._write(target, result)
        carry = {"add": f"{result} < {old}", "sub": f"{old} < {value}"}.get(its.name, "0")
        self._set_flag("cf", carry)
        self._set_result_flags(its.width, result)

    def _unary(self, its: _Instruction, target: _Value) -> None:
        if its.name in ("not", "neg"):  # not leaves the flags
            if its.locked and (its.name == "neg" or target.address is None):
                raise NotUnderstood(its.name)
            if its.locked:
                pointer, all_ones = self._pointer(target, its.width), f"(uint{its.width}_t)-1"
                self._out.append(f"__atomic_fetch_xor({pointer}, {all_ones}, {SEQ_CST});")
                # a locked instruction is a barrier for all accesses, and this one is used as such
                self._out.append(f"__atomic_thread_fence({SEQ_CST});")
                return
            sign = "~" if its.name == "not" else "-"
            result = self._new(its.width, f"{sign}{self._read(target, its.width)}")
            self._write(target, result)
            if its.name == "neg":
                self._flags = set()
                self._set_result_flags(its.width, result)
            return
        # inc and dec leave the carry flag
        carry = "cf" in self._flags
        saved = self._new(8, "cf") if carry else None
        one = _Value(f"((uint{its.width}_t)1)", its.width)
        self._binary(
            _Instruction({"inc": "add", "dec": "sub"}[its.name], its.locked, its.width), one, target
        )
        if saved:
            self._set_flag("cf", saved)
        else:
            self._flags.discard("cf")

    def _bit(self, its: _Instruction, bit: _Value, target: _Value) -> None:
        """Test, and set, reset or complement, a bit; a register's bit offset reaches beyond the
        word that the address names."""
        number = self._new(its.width, self._read(bit, its.width))
        if target.address is not None and bit.variable is not None:
            signed = f"((int{its.width}_t){number} >> {its.width.bit_length() - 1})"
            target = _Value(
                "", its.width, address=f"({self._pointer(target, its.width)} + {signed})"
            )
        mask = self._new(its.width, f"(uint{its.width}_t)1 << ({number} & {its.width - 1})")
        if its.name == "bt":
            old = self._new(its.width, self._read(target, its.width))
        else:
            how, value = {"bts": ("or", mask), "btr": ("and", f"~{mask}"), "btc": ("xor", mask)}[
                its.name
            ]
            if its.locked and target.address is None:
                raise NotUnderstood(its.name)
            if its.locked:
                pointer = self._pointer(target, its.width)
                value = f"(uint{its.width}_t)({value})"
                old = self._new(its.width, f"__atomic_fetch_{how}({pointer}, {value}, {SEQ_CST})")
            else:
                old = self._new(its.width, self._read(target, its.width))
                self._write(target, f"{old} {_BINARY[how]} {value}")
        self._set_flag("cf", f"({old} & {mask}) != 0")

    def _scan(self, its: _Instruction, source: _Value, target: _Value) -> None:
        """The number of the lowest, or the highest, bit that is set; of 0 there is none, and the
        target keeps what is in it."""
        if its.locked or target.variable is None or its.width not in (32, 64):
            raise NotUnderstood(its.name)
        value, long = self._new(its.width, self._read(source, its.width)), "ll" * (its.width == 64)
        lowest = f"__builtin_ctz{long}({value})"
        highest = f"{its.width - 1} - __builtin_clz{long}({value})"
        self._write(target, lowest if its.name == "bsf" else highest)
        self._out[-1] = f"if ({value}) {{ {self._out[-1]} }}"
        self._flags = set()
        self._set_flag("zf", f"{value} == 0")
