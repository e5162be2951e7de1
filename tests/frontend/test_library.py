"""Functions of the C library that a program calls are explored with what they really do.

Each file of `library/` is a program; its first line says what exploring it under RC11 finds,
with the message in parentheses if it matters.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weakspot
from weakspot.errors import Unsupported
from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

PROGRAMS = sorted((Path(__file__).parent / "library").glob("*.c"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_library_functions_do_what_they_do(path: Path) -> None:
    found = asked(read_program(path), models.resolve("rc11"), Bounds())
    assert not found["reasons"], found["reasons"]
    kinds = sorted({each["kind"] for each in found["violations"]})
    first = path.read_text().splitlines()[0].removeprefix("// ")
    expected, _, message = first.removesuffix(")").partition(" (")
    assert expected == (f"Violated: {', '.join(kinds)}" if kinds else "Safe")
    assert not message or message in [each["message"] for each in found["violations"]]


@pytest.mark.parametrize(
    "statement",
    [
        "pthread_mutexattr_t a; pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);",
        'if (printf("%d", 1) < 2) { }',
        "return fputc(1, stderr);",
        'char text[9]; snprintf(text, 9, "%g", 1.0);',
        'char text[9]; snprintf(text, 9, "%f", 1e20);',
        'char text[9]; snprintf(text, 9, "%.99f", 1.0);',
        "mmap(0, 1, PROT_READ, MAP_SHARED, 1, 0);",
        "return (int)sysconf(_SC_ARG_MAX);",
        "return rand() > 7;",
        "int r = rand(); return r % 2 + r % 3;",
        "int r = rand(), s = 0; for (int k = 0; k < 2; k++) s = 3 * s + r % 2; return s == 1;",
        "return alarm(1) > 0;",
        'return strtod("0x1p3", 0) > 1;',
        'return strtod("1e23", 0) > 1;',
        'return strtof("0.123456789", 0) > 1;',
    ],
)
def test_what_is_not_modelled_of_a_function_is_refused_at_its_line(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        f"#include <sys/mman.h>\n#include <unistd.h>\nint main(void) {{\n  {statement}\n}}\n"
    )
    with pytest.raises(Unsupported) as error:
        asked(read_program(path), models.resolve("rc11"), Bounds())
    assert (error.value.place or "").startswith(f"{path}:8:")
    assert re.search("is not supported|modelled", error.value.message)


@pytest.mark.parametrize(("size", "kinds"), [("1ul << 40", []), ("-1", ["memory"])])
def test_more_memory_than_there_are_addresses_for(
    tmp_path: Path, size: str, kinds: list[str]
) -> None:
    path = tmp_path / "program.c"
    path.write_text(f"#include <stdlib.h>\nint main(void) {{ free(malloc({size})); }}\n")
    found = asked(read_program(path), models.resolve("rc11"), Bounds())
    assert [each["kind"] for each in found["violations"]] == kinds
    messages = [each["message"] for each in found["reasons"]]
    assert kinds or messages == ["allocation of 1099511627776 bytes aligned to 16"]


@pytest.mark.parametrize("call", ["all(1, 2.0L)", "through(1, 2.0L)"])
def test_an_argument_of_another_type_is_refused(tmp_path: Path, call: str) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        "#include <stdarg.h>\nstatic int all(int n, ...) {\n  va_list list;\n"
        "  va_start(list, n);\n  va_end(list);\n  return n;\n}\n"
        "static int (*volatile through)(int, ...) = all;\n"
        f"int main(void) {{ return {call} - 1; }}\n"
    )
    with pytest.raises(Unsupported, match=r"variadic|x86_fp80"):
        asked(read_program(path), models.resolve("rc11"), Bounds())


def test_a_system_call_where_an_object_is_to_be_destroyed(tmp_path: Path) -> None:
    path = tmp_path / "program.cpp"
    path.write_text(
        """#include <atomic>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
struct Guard { ~Guard() {} };
std::atomic<int> word;
int main() {
  std::thread other([] {
    Guard guard;
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  });
  Guard guard;
  while (word == 0) syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  other.join();
}
"""
    )
    found = asked(read_program(path), models.resolve("rc11"), Bounds())
    assert not found["violations"]
    assert not found["reasons"]


@pytest.mark.parametrize("function", ["__VERIFIER_nondet_int", "rand", "mrand48"])
def test_a_value_of_any_int_is_refused_at_its_line(tmp_path: Path, function: str) -> None:
    path = tmp_path / "program.c"
    path.write_text(f"int {function}(void);\nint main(void) {{ return {function}(); }}\n")
    with pytest.raises(Unsupported) as error:
        asked(read_program(path), models.resolve("rc11"), Bounds())
    assert error.value.place == f"{path}:2:25"
    assert "weakspot_choose" in (error.value.advice or "")


NOT_MODELLED = {
    "it.cpp": (
        "#include <sstream>\nint main() { std::ostringstream text; text << 1; }\n",
        "streams other than std::cout",
    )
}


@pytest.mark.parametrize("name", NOT_MODELLED)
def test_text_that_is_printed_to_memory_is_refused_with_advice(tmp_path: Path, name: str) -> None:
    text, advice = NOT_MODELLED[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(Unsupported) as error:
        weakspot.check(str(tmp_path / name), models=("rc20",)).wait()
    assert advice in (error.value.advice or "")
    assert (error.value.place or "").startswith(f"{tmp_path / name}:2")


def test_integers_of_std_string_are_read(tmp_path: Path) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(
        """
        #include <cassert>
        #include <stdexcept>
        #include <string>
        int main() {
            assert(std::stoi("42") == 42 && std::stoul("ff", nullptr, 16) == 255);
            try {
                std::stoi("99999999999");
                assert(false);
            } catch (const std::out_of_range &) {
            }
        }
        """
    )
    found = asked(read_program(path), models.resolve("rc11"), Bounds())
    assert found["result"] == "Safe", found


def test_a_call_of_a_pure_virtual_function_is_a_violation(tmp_path: Path) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(
        """struct Base {
  Base() { call(*this); }
  virtual void run() = 0;
  static void call(Base &it) { it.run(); }
};
struct Derived : Base {
  void run() override {}
};
int main() { Derived it; }
"""
    )
    found = asked(read_program(path), models.resolve("rc11"), Bounds())
    messages = [each["message"] for each in found["violations"]]
    assert messages == ["call of a pure virtual function"]
