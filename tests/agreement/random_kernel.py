"""Random litmus tests with the Linux kernel's primitives, for comparing the engine with herd7."""

from __future__ import annotations

import random

_ORDERS = ("", "_relaxed", "_acquire", "_release")
_FENCES = (
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "smp_mb__before_atomic",
    "smp_mb__after_atomic",
    "barrier",
    "synchronize_rcu",
)


class _Thread:
    """Statements of a thread, and the registers that they assign."""

    def __init__(self, chance: random.Random, number: int) -> None:
        self.chance, self.number = chance, number
        self.lines: list[str] = []
        self.registers: list[str] = []
        self.indices = 0

    def register(self) -> str:
        self.registers.append(f"r{len(self.registers)}")
        return self.registers[-1]

    def location(self) -> str:
        return self.chance.choice("xyz")

    def value(self) -> str:
        """A constant, a register, or a computation with one."""
        pick = self.chance.random()
        if self.registers and pick < 0.25:
            return self.chance.choice(self.registers)
        if self.registers and pick < 0.35:
            register = self.chance.choice(self.registers)
            return self.chance.choice([f"{register} + 1", f"{register} - {register} + 1"])
        return str(self.chance.choice((1, 1, 1, 2)))

    def statement(self, depth: int) -> list[str]:
        """One statement, or a critical section with some."""
        choices = [
            (10, self.read),
            (10, self.write),
            (3, self.plain),
            (5, self.fence),
            (3, self.exchange),
            (3, self.compare_exchange),
            (4, self.update),
            (2, self.no_return),
            (1, self.add_unless),
            (1, self.predicate),
            (1, self.is_locked),
            (1, self.nested),
        ]
        if depth < 2:
            choices += [
                (4, lambda: self.branch(depth)),
                (3, lambda: self.rcu(depth)),
                (2, lambda: self.srcu(depth)),
                (3, lambda: self.lock(depth)),
                (2, lambda: self.try_lock(depth)),
            ]
        weights = [weight for weight, _ in choices]
        return self.chance.choices([make for _, make in choices], weights)[0]()

    def read(self) -> list[str]:
        at = self.location()
        form = self.chance.choice(
            (
                f"READ_ONCE(*{at})",
                f"READ_ONCE(*{at})",
                f"smp_load_acquire({at})",
                f"atomic_read({at})",
            )
        )
        return [f"int {self.register()} = {form};"]

    def write(self) -> list[str]:
        at, value = self.location(), self.value()
        forms = (
            f"WRITE_ONCE(*{at}, {value});",
            f"WRITE_ONCE(*{at}, {value});",
            f"smp_store_release({at}, {value});",
            f"smp_store_mb(*{at}, {value});",
            f"atomic_set({at}, {value});",
            f"rcu_assign_pointer(*{at}, {value});",
        )
        return [self.chance.choice(forms)]

    def plain(self) -> list[str]:
        at = self.location()
        if self.chance.random() < 0.5:
            return [f"*{at} = {self.value()};"]
        return [f"int {self.register()} = *{at};"]

    def fence(self) -> list[str]:
        return [f"{self.chance.choice(_FENCES)}();"]

    def exchange(self) -> list[str]:
        order, at, value = self.chance.choice(_ORDERS), self.location(), self.value()
        name = self.chance.choice(("xchg", "atomic_xchg"))
        return [f"int {self.register()} = {name}{order}({at}, {value});"]

    def compare_exchange(self) -> list[str]:
        order, at = self.chance.choice(_ORDERS), self.location()
        name = self.chance.choice(("cmpxchg", "atomic_cmpxchg"))
        old, new = self.chance.choice(("0", "1", self.value())), self.value()
        return [f"int {self.register()} = {name}{order}({at}, {old}, {new});"]

    def update(self) -> list[str]:
        order, at, value = self.chance.choice(_ORDERS), self.location(), self.value()
        form = self.chance.choice(
            (
                f"atomic_add_return{order}({value}, {at})",
                f"atomic_fetch_add{order}({value}, {at})",
                f"atomic_inc_return{order}({at})",
                f"atomic_fetch_dec{order}({at})",
                f"atomic_sub_return{order}({value}, {at})",
            )
        )
        return [f"int {self.register()} = {form};"]

    def no_return(self) -> list[str]:
        at, value = self.location(), self.value()
        return [self.chance.choice((f"atomic_add({value}, {at});", f"atomic_dec({at});"))]

    def add_unless(self) -> list[str]:
        return [f"int {self.register()} = atomic_add_unless({self.location()}, 1, {self.value()});"]

    def predicate(self) -> list[str]:
        at = self.location()
        form = self.chance.choice((f"atomic_dec_and_test({at})", f"atomic_sub_and_test(1, {at})"))
        return [f"int {self.register()} = {form};"]

    def is_locked(self) -> list[str]:
        return [f"int {self.register()} = spin_is_locked({self.chance.choice('sl')});"]

    def nested(self) -> list[str]:
        first, second = self.location(), self.location()
        form = self.chance.choice(
            (
                f"WRITE_ONCE(*{first}, READ_ONCE(*{second}));",
                f"atomic_add(READ_ONCE(*{first}), {second});",
                f"WRITE_ONCE(*{first}, xchg_relaxed({second}, 1));",
                f"WRITE_ONCE(*{first}, atomic_inc_return({second}));",
            )
        )
        return [form]

    def body(self, depth: int, most: int = 2) -> list[str]:
        lines: list[str] = []
        for _ in range(self.chance.randint(1, most)):
            lines += self.statement(depth)
        return lines

    def branch(self, depth: int) -> list[str]:
        if not self.registers:
            return self.read()
        register = self.chance.choice(self.registers)
        condition = self.chance.choice((register, f"{register} == 1", f"{register} != 1"))
        condition = self.chance.choice((condition, condition, f"READ_ONCE(*{self.location()})"))
        lines = [f"if ({condition}) {{", *_inside(self.body(depth + 1)), "}"]
        if self.chance.random() < 0.3:
            lines[-1:] = ["} else {", *_inside(self.body(depth + 1)), "}"]
        return lines

    def rcu(self, depth: int) -> list[str]:
        return ["rcu_read_lock();", *self.body(depth + 1), "rcu_read_unlock();"]

    def srcu(self, depth: int) -> list[str]:
        if self.chance.random() < 0.4:
            return ["synchronize_srcu(ss);"]
        index = f"i{self.indices}"
        self.indices += 1
        return [
            f"int {index} = srcu_read_lock(ss);",
            *self.body(depth + 1),
            f"srcu_read_unlock(ss, {index});",
        ]

    def lock(self, depth: int) -> list[str]:
        lock = self.chance.choice("ssl")
        after = self.chance.choice(([], [], ["smp_mb__after_spinlock();"]))
        return [f"spin_lock({lock});", *after, *self.body(depth + 1), f"spin_unlock({lock});"]

    def try_lock(self, depth: int) -> list[str]:
        lock, register = self.chance.choice("ssl"), self.register()
        body = [*self.body(depth + 1), f"spin_unlock({lock});"]
        return [
            f"int {register} = spin_trylock({lock});",
            f"if ({register}) {{",
            *_inside(body),
            "}",
        ]


def _inside(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def kernel_test(chance: random.Random, name: str) -> str:
    """The text of a test of two or three threads."""
    threads = []
    for number in range(chance.choice((2, 2, 2, 3))):
        thread = _Thread(chance, number)
        thread.lines = thread.body(0, 3)
        threads.append(thread)
    used = [f"{thread.number}:{register}" for thread in threads for register in thread.registers]
    atoms = [f"{name}={chance.choice((0, 1))}" for name in chance.sample(used, min(2, len(used)))]
    if not atoms or chance.random() < 0.3:
        atoms.append(f"{chance.choice('xyz')}=1")
    lines = [f"C {name}", "", "{}", ""]
    for thread in threads:
        parameters = "int *x, int *y, int *z, spinlock_t *s, spinlock_t *l, struct srcu_struct *ss"
        lines += [f"P{thread.number}({parameters})", "{"]
        # what a branch declares is declared before it
        declared = [*thread.registers, *(f"i{n}" for n in range(thread.indices))]
        lines += [f"\tint {register};" for register in declared]
        lines += [f"\t{line.replace('int ', '')}" for line in thread.lines]
        lines += ["}", ""]
    locations = chance.sample(["x;", "y;", "z;", *(f"{name};" for name in used)], 2)
    lines += [f"locations [{' '.join(locations)}]", f"exists ({chr(32).join(_joined(atoms))})", ""]
    return "\n".join(lines)


def _joined(atoms: list[str]) -> list[str]:
    return [atoms[0], *(f"/\\ {atom}" for atom in atoms[1:])]


SHAPES = {
    "MP": ("Wx Wy", "Ry Rx"),
    "SB": ("Wx Ry", "Wy Rx"),
    "LB": ("Rx Wy", "Ry Wx"),
    "S": ("Wx Wy", "Ry Wx"),
    "R": ("Wx Wy", "Wy Rx"),
    "2+2W": ("Wx Wy", "Wy Wx"),
    "WRC": ("Wx", "Rx Wy", "Ry Rx"),
    "RWC": ("Wx", "Rx Ry", "Wy Rx"),
    "ISA2": ("Wx Wy", "Ry Wz", "Rz Rx"),
    "Z6.0": ("Wx Wy", "Wy Rz", "Wz Rx"),
    "3.LB": ("Rx Wy", "Ry Wz", "Rz Wx"),
    "CoRR": ("Wx", "Rx Rx"),
}
"""Critical cycles in diy7's names: the accesses of each thread."""

_READS = (
    "{r} = READ_ONCE(*{at});",
    "{r} = READ_ONCE(*{at});",
    "{r} = smp_load_acquire({at});",
    "{r} = *{at};",
    "{r} = atomic_read_acquire({at});",
    "{r} = xchg_relaxed({at}, 3);",
    "{r} = atomic_fetch_add_acquire(2, {at});",
    "{r} = atomic_fetch_add(0, {at});",
    "{r} = cmpxchg({at}, 1, 4);",
    "{r} = cmpxchg_acquire({at}, 0, 0);",
)
_WRITES = (
    "WRITE_ONCE(*{at}, {v});",
    "WRITE_ONCE(*{at}, {v});",
    "smp_store_release({at}, {v});",
    "*{at} = {v};",
    "smp_store_mb(*{at}, {v});",
    "atomic_add({v}, {at});",
    "{t} = xchg({at}, {v});",
    "{t} = xchg_release({at}, {v});",
    "{t} = atomic_add_return_relaxed({v}, {at});",
    "{t} = cmpxchg_release({at}, 0, {v});",
    "{t} = atomic_add_unless({at}, {v}, 2);",
)
_BETWEEN = (
    "",
    "",
    "smp_mb();",
    "smp_rmb();",
    "smp_wmb();",
    "barrier();",
    "smp_mb__before_atomic();",
    "smp_mb__after_atomic();",
    "synchronize_rcu();",
    "synchronize_srcu(ss);",
    "spin_lock(s);\n\tspin_unlock(s);",
    "spin_unlock(s);\n\tspin_lock(s);\n\tsmp_mb__after_spinlock();",
    "spin_unlock(s);\n\tspin_lock(s);",
    "spin_unlock(s);\n\tspin_lock(l);\n\tsmp_mb__after_unlock_lock();\n\tspin_unlock(l);",
    "data",
    "data",
    "ctrl",
    "ctrl",
)
_AROUND = (
    ("", ""),
    ("", ""),
    ("rcu_read_lock();", "rcu_read_unlock();"),
    ("i = srcu_read_lock(ss);", "srcu_read_unlock(ss, i);"),
    ("spin_lock(s);", "spin_unlock(s);"),
)


def kernel_cycle(chance: random.Random, name: str) -> str:
    """The text of a test of a critical cycle, with operations and fences at random."""
    shape = chance.choice(sorted(SHAPES))
    lines = [f"C {name}", "", "{}", ""]
    atoms: list[str] = []
    values = dict.fromkeys("xyz", 0)
    for number, accesses in enumerate(SHAPES[shape]):
        body: list[str] = []
        between, (before, after) = chance.choice(_BETWEEN), chance.choice(_AROUND)
        if between.startswith("spin_unlock"):
            before, after = "spin_lock(s);", "spin_unlock(s);" if "lock(l)" not in between else ""
        read = ""
        for place, access in enumerate(accesses.split()):
            kind, at = access[0], access[1]
            if place and between not in ("data", "ctrl"):
                body.append(between)
            if kind == "R":
                made = chance.choice(_READS).format(r=f"r{place}", at=at)
                atoms.append(f"{number}:r{place}={chance.choice((0, 1))}")
            else:
                values[at] += 1
                value = f"{values[at]} + r0 - r0" if read and between == "data" else values[at]
                made = chance.choice(_WRITES).format(t="t", at=at, v=value)
            if place and read and between == "ctrl":
                made = f"if (r0 == 1)\n\t\t{made}"
            read = read or (made if kind == "R" else "")
            body.append(made)
        lines += [f"P{number}(int *x, int *y, int *z, spinlock_t *s, spinlock_t *l,"]
        lines += [
            "\tstruct srcu_struct *ss)",
            "{",
            "\tint r0;",
            "\tint r1;",
            "\tint t;",
            "\tint i;",
        ]
        lines += [f"\t{line}" for line in (before, *body, after) if line]
        lines += ["}", ""]
    atoms += [f"{at}={value}" for at, value in values.items() if value > 1]
    lines += ["locations [x; y; z;]", f"exists ({' '.join(_joined(atoms or ['x=1']))})", ""]
    return "\n".join(lines)
