"""A program is inlined completely, unless the copies of its functions would be too many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weakspot
from weakspot.errors import LimitReached
from weakspot.generators.source import clang, inlining, passes
from weakspot.generators.source.frontend import compile_source
from weakspot.generators.source.program import read_program
from weakspot.system.deadline import ending

LEVELS = 30

PATIENT = weakspot.Bounds(seconds=300)

DOUBLING = "\n".join(
    f"static int f{n}(int x) {{ return x > 99 ? f{n - 1}(f{n - 1}(x)) : x + 1; }}"
    for n in range(1, LEVELS)
)
"""With 2^30 calls in all, of which few are performed."""

C = f"""\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int data;
static int f0(int x) {{ return x; }}
{DOUBLING}
static int get(atomic_int *it) {{ return atomic_load_explicit(it, memory_order_acquire); }}
static void *writer(void *none) {{
  data = f{LEVELS - 1}(6);
  atomic_store_explicit(&flag, 1, memory_order_release);
  return none;
}}
int main(void) {{
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (get(&flag)) assert(data == 7);
  pthread_join(t, 0);
  return 0;
}}
"""

STRUCTURE = """\
#include <atomic>
#include <cassert>
#include <thread>
struct Bits { unsigned char one : 3; unsigned char two : 2; unsigned char type; };
struct Spec { Bits bits; int width; int precision; char fill; };
static Spec get(const Spec &from, int depth) {
  if (depth) return get(from, depth - 1);
  Spec made;
  made.bits.one = from.bits.one;
  made.bits.type = from.bits.type;
  made.width = from.width;
  made.precision = from.precision;
  made.fill = from.fill;
  return made;
}
static int use(Spec s, int depth) {
  if (depth) return use(s, depth - 1);
  return 1 >= s.width ? s.precision : s.fill;
}
std::atomic<int> x;
int main() {
  Spec from{};
  from.precision = -1;
  std::thread t([&] { x.store(use(get(from, 1), 1), std::memory_order_release); });
  int seen = x.load(std::memory_order_acquire);
  assert(seen == 0 || seen == -1);
  t.join();
}
"""


def function(name: str, body: str, parameter: str = "") -> str:
    return f"define internal void @{name}({parameter}) alwaysinline {{\n{body}  ret void\n}}\n"


def doubling(parameter: str = "", atomic: bool = False) -> str:
    """A module of functions that call the one before them twice."""
    value = parameter.rpartition(" ")[0] + " undef" if parameter else ""
    first = "  fence seq_cst\n" if atomic else ""
    functions = [function("f0", first, parameter)] + [
        function(f"f{n}", f"  call void @f{n - 1}({value})\n" * 2, parameter) for n in range(1, 30)
    ]
    return (
        "".join(functions)
        + f"define void @main() {{\n  call void @f29({value})\n  ret void\n}}\n"
        + 'attributes #0 = { alwaysinline "weakspot" }\n'
    )


def stay(text: str) -> set[str]:
    """The functions that are not inlined."""
    lines = re.findall(r"^define .*@(\w+)\((.*)$", text, re.M)
    return {name for name, rest in lines if "alwaysinline" not in rest}


def test_a_small_module_is_inlined_completely() -> None:
    text = function("f0", "") + "define void @main() {\n  call void @f0()\n  ret void\n}\n"
    known = inlining.bounded(text)
    assert (known.text, known.lines) == (text, 3)


@pytest.mark.parametrize("atomic", [False, True])
def test_a_module_that_grows_exponentially_is_bounded(atomic: bool) -> None:
    known = inlining.bounded(doubling(atomic=atomic), 500)
    assert known.lines <= 500
    assert {"main"} < stay(known.text)


def test_functions_that_reach_atomic_accesses_are_inlined_rather_than_others() -> None:
    atomic = function("a", "  fence seq_cst\n")
    others = doubling().replace(
        "  call void @f29()\n", "  call void @f29()\n  call void @a()\n" * 9
    )
    assert "a" not in stay(inlining.bounded(atomic + others, 900).text)


def test_functions_that_pause_are_inlined_rather_than_others() -> None:
    pausing = function("p", "  call void @llvm.x86.sse2.pause()\n" * 20)
    atomic = function("a", "  fence seq_cst\n" * 15)
    calls = "  call void @a()\n  call void @p()\n" * 9
    text = f"{pausing}{atomic}define void @main() {{\n{calls}  ret void\n}}\n"
    assert stay(inlining.bounded(text, 250).text) == {"main", "a"}


def test_what_is_inlined_may_call_what_it_is_inlined_into() -> None:
    recursive = "define internal void @r() {\n  call void @f()\n  ret void\n}\n"
    text = function("f", "  call void @r()\n") + recursive
    known = inlining.bounded(text + "define void @main() {\n  call void @f()\n  ret void\n}\n")
    assert known.lines == 2 + 2 + 2 + 2


def test_a_structure_is_passed_by_value_only_to_what_is_inlined() -> None:
    text = doubling("ptr byval(i64) %x")
    assert stay(inlining.bounded(text, 500).text) == {"main"}


def test_a_program_whose_calls_grow_exponentially_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "it.c"
    path.write_text(C)
    (found,) = weakspot.explore(path, models=["rc20"], bounds=PATIENT)
    assert found.result == "Safe"
    path.write_text(C.replace("memory_order_release", "memory_order_relaxed"))
    (found,) = weakspot.explore(path, models=["rc20"], bounds=PATIENT)
    assert {each.kind for each in found.violations} == {"assertion", "race"}


def test_what_stays_a_function_takes_and_returns_partly_initialised_structures(
    tmp_path: Path,
) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(STRUCTURE)
    (found,) = weakspot.explore(path, models=["rc20"], bounds=PATIENT)
    assert found.result == "Safe"


def test_a_program_that_formats_text_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(
        "#include <atomic>\n#include <cassert>\n#include <format>\n#include <thread>\n"
        "std::atomic<int> x;\n"
        "int main() {\n"
        '  std::string s = std::format("{} {:>4}", 1, "a");\n'
        "  std::thread t([&] { x.store((int)s.size(), std::memory_order_release); });\n"
        "  int got = x.load(std::memory_order_acquire);\n"
        "  assert(got == 0 || got == 6);\n"
        "  t.join();\n"
        "}\n"
    )
    (found,) = weakspot.explore(path, models=["rc20"], bounds=PATIENT)
    assert (found.result, found.complete) == ("Safe", 2)


@pytest.mark.full
def test_a_program_that_prints_formatted_text_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(
        "#include <atomic>\n#include <print>\n#include <thread>\n"
        "std::atomic<int> x;\n"
        "int main() {\n"
        "  std::thread t([] { x.store(1, std::memory_order_relaxed); });\n"
        '  std::println("{}", x.load(std::memory_order_relaxed));\n'
        "  t.join();\n"
        "}\n"
    )
    (found,) = weakspot.explore(
        path, models=["rc20"], bounds=PATIENT, build=weakspot.Build(std=("c++23",))
    )
    assert (found.result, found.complete) == ("Safe", 2)


def test_passes_in_a_process_of_their_own_make_the_same_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "it.cpp"
    path.write_text(STRUCTURE)
    here = compile_source(path).text
    monkeypatch.setattr(passes, "LITTLE", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path.write_text(STRUCTURE + " ")
    assert compile_source(path).text == here


def test_passes_end_with_the_time_limit(tmp_path: Path) -> None:
    limited = clang.find()
    limited = clang.Clang(limited.commands, limited.identity, limited.name, [], end=ending(0))
    with pytest.raises(LimitReached, match="inlined"):
        passes.run(doubling(), 1 << 30, handled=False, clang=limited, source=tmp_path / "it.c")


def test_compiling_ends_with_the_time_limit(tmp_path: Path) -> None:
    path = tmp_path / "it.c"
    path.write_text(C)
    with pytest.raises(LimitReached, match="time limit") as raised:
        read_program(path, end=ending(-9))
    assert raised.value.place == str(path)
    assert "--seconds" in (raised.value.advice or "")
