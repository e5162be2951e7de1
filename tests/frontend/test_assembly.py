"""Inline assembly means what its instruction set says.

Each file of `assembly/` is a program; its first line says what exploring it finds under which
models. That the instructions are understood as the machine does is tested on the machine.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import weakspot
from weakspot.errors import BadInput, Unsupported
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.system.compilers import zig

FOLDER = Path(__file__).parent / "assembly"
PROGRAMS = sorted(FOLDER.glob("*.c"))
EXPECTED = re.compile(r"// (Safe|Violated: .+) under (.+)")


def found_in(program: Program, model: str) -> str:
    found = asked(program, models.resolve(model), Bounds())
    assert not found["reasons"], found["reasons"]
    kinds = sorted({each["kind"] for each in found["violations"]})
    return f"Violated: {', '.join(kinds)}" if kinds else "Safe"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_assembly_means_what_its_instruction_set_says(path: Path) -> None:
    expected = EXPECTED.match(path.read_text())
    assert expected
    program = read_program(path)
    for model in expected[2].split(", "):
        assert found_in(program, model) == expected[1], model


def test_a_violation_says_that_a_compiler_barrier_orders_nothing() -> None:
    barrier, fence = (FOLDER / f"store_buffering_{each}.c" for each in ("compiler_barrier", "sync"))
    language, machine = weakspot.explore(barrier, models=["rc20", "tso"])
    (note,) = language.notes
    assert re.search(r"compiler_barrier\.c:\d+: a compiler barrier orders nothing under rc20", note)
    assert language.violations
    assert machine.violations
    assert not machine.notes
    (without,) = weakspot.explore(fence, models=["rc20"], machine_models=())
    assert not without.notes


def test_an_operand_may_have_a_type_whose_name_has_brackets(tmp_path: Path) -> None:
    path = tmp_path / "program.cpp"
    path.write_text(
        """#include <thread>
namespace {
struct Counter { int count; } counter;
void increment() { __asm__ volatile("lock addl %1, %0" : "+m"(counter) : "r"(1) : "memory"); }
}
int main() {
  std::thread thread(increment);
  increment();
  thread.join();
  if (counter.count != 2) __builtin_trap();
}
"""
    )
    assert found_in(read_program(path), "rc20") == "Safe"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instructions are those of x86-64")
@pytest.mark.parametrize(
    "name", ["double_word", "elided_lock", "instructions", "lock", "spin_with_jumps"]
)
def test_the_machine_agrees(tmp_path: Path, name: str) -> None:
    program = tmp_path / "program"
    # zig makes a C library first, which takes half a minute
    compiler = ["gcc"] if shutil.which("gcc") else [str(zig.program()), "cc", "-fno-sanitize=all"]
    command = [*compiler, "-w", "-pthread", str(FOLDER / f"{name}.c"), "-o", str(program)]
    subprocess.run(command, check=True)
    subprocess.run([program], check=True)


PROGRAM = """\
#include <assert.h>
static unsigned x;
int main(void) {
  unsigned r;
  __asm__ __volatile__("ldadd %w1,  %0, [%2]" : "=r"(r) : "r"(1), "r"(&x) : "memory");
  assert(r == 0 && x == 1);
  return 0;
}
"""


def written(folder: Path, text: str = PROGRAM) -> Path:
    path = folder / "program.c"
    path.write_text(text)
    return path


def test_assembly_without_meaning_is_an_error_at_its_line(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(Unsupported, match=r"inline assembly.*ldadd") as error:
        found_in(read_program(path), "rc11")
    assert error.value.place == f"{path}:5:3"
    assert "[[asm]]" in (error.value.advice or "")


@pytest.mark.parametrize("main", ["return 0;", "return x ? other() : 0;"])
def test_assembly_that_is_never_reached_needs_no_meaning(tmp_path: Path, main: str) -> None:
    other = PROGRAM.replace("int main(void)", "int other(void)")
    path = written(tmp_path, f"{other}int main(void) {{ {main} }}\n")
    assert found_in(read_program(path), "rc11") == "Safe"


def test_a_jump_out_of_the_statement_is_an_error_at_its_line(tmp_path: Path) -> None:
    text = 'int main(void) {\n  __asm__("testl %0, %0; jz elsewhere" : : "r"(1));\n}\n'
    with pytest.raises(Unsupported, match="inline assembly") as error:
        found_in(read_program(written(tmp_path, text)), "rc11")
    assert error.value.place == f"{tmp_path}/program.c:2:3"


def test_a_processor_without_features(tmp_path: Path) -> None:
    text = """#include <assert.h>
#include <cpuid.h>
int main(void) {
  unsigned a, b, c, d;
  assert(!__get_cpuid(1, &a, &b, &c, &d));
  (void)__builtin_ia32_rdtsc();
  unsigned processor;
  (void)__builtin_ia32_rdtscp(&processor);
  assert(__builtin_thread_pointer());
}
"""
    assert found_in(read_program(written(tmp_path, text)), "rc11") == "Safe"


def test_the_user_gives_assembly_a_meaning(tmp_path: Path) -> None:
    body = "%0 = __atomic_fetch_add((unsigned *)%2, %1, __ATOMIC_RELAXED);"
    build = Build(assembly=(Meaning("ldadd %w1, %0, *", body),))
    program = read_program(written(tmp_path), build=build)
    assert found_in(program, "rc11") == "Safe"


def test_a_meaning_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    build = Build(assembly=(Meaning("ldadd*", "%0 = nonsense;"),))
    with pytest.raises(BadInput, match="nonsense"):
        read_program(written(tmp_path), build=build)


def test_assembly_at_file_scope_is_an_error_at_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, 'int x;\n__asm__("nop");\nint main(void) { return 0; }\n')
    with pytest.raises(Unsupported, match="file scope") as error:
        read_program(path)
    assert error.value.place == f"{path}:2"


DATA = r"""
extern char version;
__asm__(".symver main, main@1\n.section .version\n\tversion%s:\n.asciz \"1.0\"; .previous");
int main(void) { return &version == 0; }
"""


def test_data_at_file_scope_is_an_error_only_where_the_program_names_it(tmp_path: Path) -> None:
    assert found_in(read_program(written(tmp_path, DATA % "2")), "rc11") == "Safe"
    with pytest.raises(Unsupported, match="version:"):
        read_program(written(tmp_path, DATA % ""))


def test_the_memory_order_of_an_instruction_is_not_the_users_to_choose() -> None:
    program = read_program(FOLDER / "store_buffering_mfence.c")
    fences = [n for n, site in enumerate(program.sites) if site.kind == "F"]
    assert fences
    assert all(program.orders[n] == "" for n in fences)
