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
from weakspot.generators.source.assembly.operands import NotUnderstood, Operands
from weakspot.generators.source.assembly.state import State, Value
from weakspot.generators.source.assembly.templates import (
    JUMP,
    instructions,
    with_own_labels,
    without_full_turns,
)

SEQ_CST, ACQ_REL = "__ATOMIC_SEQ_CST", "__ATOMIC_ACQ_REL"
ACQUIRE, RELEASE = "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE"

_NOTHING = r"pause|yield|nop|wfe|sev|sevl|rep nop|hint #?\d+|isb( sy)?|lfence|sfence|prefetch\w* .*"
_NOTHING += r"|or 27,27,27|or 31,31,31|\.byte 0xf3,0x90"
_TRAPS = r"int3|int \$\$(0x)?3|ud2|brk #?\w+|ebreak"
_FENCES = {
    r"mfence|lock (add|or)[bwlq] \$\$0(x0)?,(-?\d+)?\(%[re]sp\)|(dmb|dsb)( (ish|sy|osh))?": SEQ_CST,
    r"sync|hwsync|sync 0|fence|fence (rw,rw|iorw,iorw)": SEQ_CST,
    r"lwsync|sync 1|fence\.tso": ACQ_REL,
    r"(dmb|dsb) (ishld|ld|oshld)|fence (r,rw|ir,iorw)": ACQUIRE,
    r"fence (rw,w|iorw,ow)": RELEASE,
}
_SUFFIXES = {"b": 8, "w": 16, "l": 32, "q": 64}
_BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}


_KEEPS_RBX = re.compile(r"(?:xchg|mov)q? %rbx,(.+)")
"""How code begins and ends that does not change %rbx, which some compilers reserve."""
_SAME_PAIR = ["movq %rdx,%rcx", "movq %rax,%rbx"]


def statements(template: str, operands: Operands, *, intel: bool = False) -> list[str]:
    """The statements for a whole template. Raises NotUnderstood."""
    found = instructions(template)
    return _Translation(operands).translated(list(map(in_att_syntax, found)) if intel else found)


class _Instruction(msgspec.Struct, frozen=True):
    name: str
    locked: bool
    width: int


class _Translation(State):
    """The instructions of a template, one after the other."""

    def translated(self, found: Sequence[str]) -> list[str]:
        if found[:2] == _SAME_PAIR and found[2:3] and found[2].startswith("lock cmpxchg16b"):
            # a load: whatever was in the registers, memory stays as it is
            for register in ("rax", "rdx"):
                self._write(self._legacy(register), "0")
        if found[1:2] == ["cpuid"] and len(found) == 3:
            saved, restored = _KEEPS_RBX.fullmatch(found[0]), _KEEPS_RBX.fullmatch(found[2])
            if saved and restored and saved[1] == restored[1] and found[2].startswith("xchg"):
                self._write(self._value(saved[1], 32), "0")
                found = found[1:2]
        for instruction in with_own_labels(without_full_turns(found)):
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
        if re.fullmatch(_TRAPS, text):
            self._out.append("__builtin_trap();")
            return
        for pattern, order in _FENCES.items():
            if re.fullmatch(pattern, text):
                self._out.append(f"__atomic_thread_fence({order});")
                return
        if re.fullmatch(r"xchgq (%r\w+),\1|rolq \$\$0,%r\w+", text):
            self._flags = set()
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
        if jump := JUMP.fullmatch(text):
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

    # --- instructions ---------------------------------------------------------------------------

    def _read_cycles(self, its: str) -> None:
        self._out.append("extern unsigned long weakspot_cycles(void);")
        cycles = self._new(64, "weakspot_cycles()")
        for register, half in (("ax", cycles), ("dx", f"{cycles} >> 32")):
            if variable := self._operands.registers.get(register):
                self._write(self._register(variable, 32), half)
        if its == "rdtscp" and (variable := self._operands.registers.get("cx")):
            self._write(self._register(variable, 32), "0")

    def _compare(self, its: _Instruction, one: Value, other: Value) -> None:
        """Subtract, or and, for the flags alone."""
        if its.locked:
            raise NotUnderstood(its.name)
        first = self._new(its.width, self._read(one, its.width))
        second = first if other == one else self._new(its.width, self._read(other, its.width))
        operator = {"cmp": "-", "test": "&"}[its.name]
        result = self._new(its.width, f"{second} {operator} {first}")
        self._set_flag("cf", f"{second} < {first}" if its.name == "cmp" else "0")
        self._set_result_flags(its.width, result)

    def _move(self, its: _Instruction, source: Value, target: Value) -> None:
        if its.locked or (source.address and target.address):
            raise NotUnderstood(its.name)
        self._write(target, self._read(source, its.width))

    def _exchange(self, its: _Instruction, one: Value, other: Value) -> None:
        memory, register = (one, other) if one.address else (other, one)
        if memory.address is None or register.variable is None:
            raise NotUnderstood(its.name)
        if register.variable not in self._written:
            # whatever is in the register: the instruction is there because it is a barrier
            self._out.append(f"__atomic_thread_fence({SEQ_CST});")
            self._write(register, "0")
            return
        value, pointer = self._read(register, its.width), self._pointer(memory, its.width)
        self._write(register, f"__atomic_exchange_n({pointer}, {value}, {SEQ_CST})")

    def _exchange_add(self, its: _Instruction, register: Value, memory: Value) -> None:
        if not its.locked or memory.address is None or register.variable is None:
            raise NotUnderstood(its.name)
        value, pointer = self._read(register, its.width), self._pointer(memory, its.width)
        old = self._new(its.width, f"__atomic_fetch_add({pointer}, {value}, {SEQ_CST})")
        self._set_result_flags(its.width, f"((uint{its.width}_t)({old} + {value}))")
        self._write(register, old)

    def _compare_exchange(self, its: _Instruction, new: Value, memory: Value) -> None:
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

    def _compare_exchange_pair(self, its: _Instruction, memory: Value) -> None:
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

    def _binary(self, its: _Instruction, source: Value, target: Value) -> None:
        operator, value = _BINARY[its.name], self._read(source, its.width)
        if its.locked:
            if target.address is None:
                raise NotUnderstood(its.name)
            pointer = self._pointer(target, its.width)
            old = self._new(its.width, f"__atomic_fetch_{its.name}({pointer}, {value}, {SEQ_CST})")
        else:
            old = self._new(its.width, self._read(target, its.width))
        result = self._new(its.width, f"{old} {operator} {value}")
        if not its.locked:
            self._write(target, result)
        carry = {"add": f"{result} < {old}", "sub": f"{old} < {value}"}.get(its.name, "0")
        self._set_flag("cf", carry)
        self._set_result_flags(its.width, result)

    def _unary(self, its: _Instruction, target: Value) -> None:
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
        one = Value(f"((uint{its.width}_t)1)", its.width)
        self._binary(
            _Instruction({"inc": "add", "dec": "sub"}[its.name], its.locked, its.width), one, target
        )
        if saved:
            self._set_flag("cf", saved)
        else:
            self._flags.discard("cf")

    def _bit(self, its: _Instruction, bit: Value, target: Value) -> None:
        """Test, and set, reset or complement, a bit; a register's bit offset reaches beyond the
        word that the address names."""
        number = self._new(its.width, self._read(bit, its.width))
        if target.address is not None and bit.variable is not None:
            signed = f"((int{its.width}_t){number} >> {its.width.bit_length() - 1})"
            target = Value(
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

    def _scan(self, its: _Instruction, source: Value, target: Value) -> None:
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
