"""A program of several translation units is read as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weakspot
from weakspot.errors import BadInput, Unsupported
from weakspot.generators.source import problems
from weakspot.generators.source.definitions import definitions
from weakspot.harness.corpus.resolution import resolve
from weakspot.harness.gate.config import ProjectFile

DRIVER = """\
#include <assert.h>
#include <pthread.h>
#include "src/mail.h"
static void *sender(void *p) { mail_put(42); return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, sender, 0);
  int letter;
  if (mail_get(&letter)) assert(letter == 42);
  pthread_join(t, 0);
  return 0;
}
"""
MAIL = """\
#include "mail.h"
#include <stdatomic.h>
static int box;
static atomic_int full;
void mail_put(int letter) {
  box = letter;
  atomic_store_explicit(&full, 1, ORDER);
}
int mail_get(int *letter) {
  if (!atomic_load_explicit(&full, memory_order_acquire)) return 0;
  *letter = box;
  return 1;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "driver.c").write_text(DRIVER)
    (tmp_path / "src" / "mail.h").write_text(
        "void mail_put(int letter);\nint mail_get(int *letter);\n"
    )
    (tmp_path / "src" / "mail.c").write_text(MAIL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("order", "result"), [("release", "Safe"), ("relaxed", "Violated")])
@pytest.mark.usefixtures("folder")
def test_files_without_a_main_are_linked_with_those_that_have_one(order: str, result: str) -> None:
    build = weakspot.Build(defines=(f"ORDER=memory_order_{order}",))
    (found,) = weakspot.explore(["src/mail.c", "driver.c"], models=["rc20"], build=build)
    assert (found.program, found.result) == ("driver.c/driver", result)
    places = {site for each in found.violations for site in each.sites}
    assert not places or any(site.startswith("src/mail.c:6") for site in places)


def test_a_source_in_a_linked_folder_may_include_headers_from_elsewhere(folder: Path) -> None:
    """The compiler names the header relative to where the source really is."""
    (folder / "far" / "away").mkdir(parents=True)
    (folder / "src").rename(folder / "far" / "away" / "src")
    (folder / "src").symlink_to(folder / "far" / "away" / "src")
    (folder / "include").mkdir()
    (folder / "src" / "mail.h").rename(folder / "include" / "mail.h")
    (folder / "driver.c").write_text(DRIVER.replace("src/mail.h", "mail.h"))
    build = weakspot.Build(defines=("ORDER=memory_order_release",), include=(Path("include"),))
    (found,) = weakspot.explore(["driver.c", "src/mail.c"], models=["rc20"], build=build)
    assert found.result == "Safe"


def test_each_program_gets_the_other_sources(folder: Path) -> None:
    (folder / "second.c").write_text(DRIVER)
    structures, _ = resolve(["driver.c", "src/mail.c", "second.c"])
    programs = {each.name: each.scenarios[0].sources for each in structures}
    assert programs == {"driver.c": ("src/mail.c",), "second.c": ("src/mail.c",)}


def test_a_source_that_mentions_main_is_no_program(folder: Path) -> None:
    mail = folder / "src" / "mail.c"
    mentions = '// before main() has "begun\n/* main( */ static const char *s = "\\"main() //";\n'
    mail.write_text(f"{mentions}{MAIL}")
    (structure,), _ = resolve(["driver.c", "src/mail.c"])
    assert structure.scenarios[0].sources == ("src/mail.c",)


def test_a_source_without_functions_is_linked_with_a_variadic_function(folder: Path) -> None:
    (folder / "limits.c").write_text("int limit = 2;\n")
    (folder / "first.c").write_text(
        "#include <assert.h>\n#include <stdarg.h>\nextern int limit;\n"
        "static int first(int count, ...) {\n"
        "  va_list list;\n  va_start(list, count);\n"
        "  int value = va_arg(list, int);\n  va_end(list);\n  return value;\n}\n"
        "int main(void) { assert(first(1, 2) == limit); }\n"
    )
    (found,) = weakspot.explore(["first.c", "limits.c"], models=["rc20"])
    assert found.result == "Safe"


@pytest.mark.parametrize(
    ("opening", "programs"),
    [
        ("#ifdef TRY", ["driver.c"]),
        ("#if 1\n#if defined(TRY)\n#endif\n#if defined (TRY)", ["driver.c"]),
        ("#ifndef TRY\n#elif 1\n#endif\n#if TRY", ["driver.c"]),
        ("#define TRY\n#ifdef TRY", ["driver.c", "mail.c"]),
        ("#ifdef TRY\n#else", ["driver.c", "mail.c"]),
        ("#ifndef TRY", ["driver.c", "mail.c"]),
        ("#ifdef GIVEN", ["driver.c", "mail.c"]),
        ("#ifdef __linux__", ["driver.c", "mail.c"]),
    ],
)
def test_a_main_that_needs_a_macro_is_no_program_beside_another(
    folder: Path, opening: str, programs: list[str]
) -> None:
    mail = folder / "src" / "mail.c"
    mail.write_text(f"{MAIL}\n{opening}\nint main(void) {{}}\n#endif\n")
    build = weakspot.Build(defines=("GIVEN=1",))
    structures, _ = resolve(["src/mail.c", "driver.c"], build=build)
    assert sorted(each.name for each in structures) == sorted(programs)
    assert [each.name for each in resolve(["src/mail.c"])[0]] == ["mail.c"]


def test_a_header_beside_the_source_does_not_replace_one_of_the_system(folder: Path) -> None:
    (folder / "errno.h").write_text("#error the project's own\n")
    (folder / "mine.h").write_text("enum { FULL = 1 };\n")
    (folder / "driver.c").write_text(
        "#include <mine.h>\n#include <pthread.h>\n#include <errno.h>\n"
        "int main(void) { return FULL == EAGAIN; }\n"
    )
    (found,) = weakspot.explore("driver.c", models=["rc20"])
    assert found.result == "Safe"


def test_a_source_that_alone_defines_what_is_missing_is_linked(folder: Path) -> None:
    (folder / "src" / "all.c").write_text(
        "/*\n * mail_get() begins with {\n */\nint mail_get(int *letter);\n"
        "int all(void) {\n  int letter;\n  while (mail_get(&letter)) {\n  }\n  return 0;\n}\n"
    )
    (folder / "src" / "test.c").write_text(
        "int mail_get(int *letter) { return 0; }\nint main(void) { return mail_get(0); }\n"
    )
    build = weakspot.Build(defines=("ORDER=memory_order_release",))
    (found,) = weakspot.explore("driver.c", models=["rc20"], build=build)
    assert (found.result, found.notes) == ("Safe", ("linked with what it calls: src/mail.c",))
    with pytest.raises(BadInput, match=r"ORDER.*linked with what it calls: src/mail.c") as error:
        list(weakspot.explore("driver.c"))
    assert (error.value.place or "").startswith("src/mail.c:7:")


def test_a_source_is_linked_beside_a_build_and_sources_for_other_systems(folder: Path) -> None:
    for name in ("build", "src/os_win"):
        (folder / name).mkdir()
    for number in range(2001):
        (folder / "build" / f"{number}.o").touch()
    (folder / "src/os_win/mail.c").write_text("int mail_get(int *letter) { return 0; }\n")
    build = weakspot.Build(defines=("ORDER=memory_order_release",))
    (found,) = weakspot.explore("driver.c", models=["rc20"], build=build)
    assert (found.result, found.notes) == ("Safe", ("linked with what it calls: src/mail.c",))


def test_a_function_that_is_missing_is_named_at_its_call(folder: Path) -> None:
    """It is not chosen between two that define it."""
    (folder / "src" / "other.c").write_text("int mail_get(int *letter) { return 0; }\n")
    with pytest.raises(Unsupported, match="mail_get is called but not defined") as error:
        list(weakspot.explore("driver.c"))
    assert error.value.place == "driver.c:9:7"
    assert "name src/mail.c or src/other.c too, which define it" in (error.value.advice or "")


def test_the_sources_beside_an_included_header_come_first(folder: Path) -> None:
    for library in ("codec", "util"):
        (folder / "lib" / library).mkdir(parents=True)
    for number in range(2001):
        (folder / "lib" / "codec" / f"{number}.c").touch()
    (folder / "lib" / "util" / "get.h").write_text("int get(void);\n")
    (folder / "lib" / "util" / "get.c").write_text("int get(void) { return 0; }\n")
    (folder / "main.c").write_text('#include "util/get.h"\nint main(void) { return get(); }\n')
    build = weakspot.Build(include=(folder / "lib",))
    (found,) = weakspot.explore("main.c", models=["rc20"], build=build)
    assert found.notes[:1] == ("linked with what it calls: lib/util/get.c",)


@pytest.mark.parametrize(
    ("size", "used", "defined"),
    [
        (200, "get()", "int get(void) { return 0; }"),
        (900, "get()", "int get(void) { return 0; }"),
        (900, "limit", "int limit = 0;"),
    ],
)
def test_what_is_missing_behind_a_long_loop_is_linked(
    folder: Path, size: int, used: str, defined: str
) -> None:
    (folder / "main.c").write_text(
        "int get(void);\nextern int limit;\n"
        f"static volatile int size = {size};\nstatic _Atomic int all[1000][6];\n"
        "int main(void) {\n  for (int i = 0; i < size; i++)\n"
        f"    for (int k = 0; k < 6; k++) all[i][k] = i;\n  return {used};\n}}\n"
    )
    (folder / "src" / "get.c").write_text(f"{defined}\n")
    (found,) = weakspot.explore("main.c", models=["rc20"])
    assert found.notes[:1] == ("linked with what it calls: src/get.c",)


@pytest.mark.parametrize(
    ("declared", "used", "defined"),
    [
        ("int get(void);", "get()", "int get(void) { return 0; }"),
        ("extern int limit;", "limit", "int limit = 0;"),
    ],
)
@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_a_source_is_linked_that_defines_what_is_missing_in_this_configuration(
    folder: Path, declared: str, used: str, defined: str, suffix: str
) -> None:
    (folder / f"main.{suffix}").write_text(f"{declared}\nint main(void) {{ return {used}; }}\n")
    for name, condition in (("first", "#ifdef FIRST"), ("second", "#ifndef FIRST")):
        text = f"{declared}\n{condition}\n{defined}\n#endif\n"
        (folder / "src" / f"{name}.{suffix}").write_text(text)
    (found,) = weakspot.explore(f"main.{suffix}", models=["rc20"])
    assert found.notes[:1] == (f"linked with what it calls: src/second.{suffix}",)
    build = weakspot.Build(defines=("FIRST",))
    (found,) = weakspot.explore(f"main.{suffix}", models=["rc20"], build=build)
    assert found.notes[:1] == (f"linked with what it calls: src/first.{suffix}",)


def test_the_sources_beside_a_program_are_searched_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found for a link that fails is used for the advice."""
    (folder / "src" / "other.c").write_text("int mail_get(int *letter) { return 0; }\n")
    searched = []

    def search(*given: Any) -> dict[str, tuple[Path, ...]]:
        searched.append(given)
        return definitions(*given)

    monkeypatch.setattr(problems, "definitions", search)
    with pytest.raises(Unsupported, match="mail_get is called but not defined"):
        list(weakspot.explore("driver.c"))
    assert len(searched) == 1


def test_sources_are_linked_until_nothing_is_missing(folder: Path) -> None:
    (folder / "main.c").write_text(
        "int (*const operations[])(int) = {second};\n"
        "int main(void) { return operations[0](1) - first(1); }\n"
    )
    (folder / "main.h").write_text("int first(int), second(int), third(int);\n")
    (folder / "src" / "a.c").write_text("int first(int a) { return third(a); }\n")
    (folder / "src" / "b.c").write_text("int second(int a) { return a; }\n")
    (folder / "src" / "c.c").write_text("int third(int a) { return a; }\n")
    build = weakspot.Build(flags=("-include", str(folder / "main.h")))
    (found,) = weakspot.explore("main.c", models=["rc20"], build=build)
    assert found.result == "Safe"
    (note,) = found.notes
    assert {"src/a.c", "src/b.c", "src/c.c"} == set(note.rpartition(": ")[2].split(", "))


@pytest.mark.parametrize(
    ("declared", "used", "defined"),
    [
        (
            "namespace box { int get(int); }",
            "box::get(1)",
            "namespace box {\nint get(int a) { return a; }\n}",
        ),
        ("struct Box { static int get(); };", "Box::get()", "int Box::get() { return 0; }"),
        (
            '#define EXPORT(name) name\nextern "C" int EXPORT(get)(int a);',
            "EXPORT(get)(1)",
            'extern "C" int EXPORT(get)(\n    int a) {\n  return a;\n}',
        ),
        ("extern int limit;", "limit", "int limit = 3;"),
        (
            "namespace a::box { extern int limits[2]; }",
            "a::box::limits[1]",
            "namespace a::box {\nint limits[2] =\n{1, 2};\n}",
        ),
        ("struct Box { static int limit; };", "Box::limit", "int Box::limit{3};"),
        (
            "struct Box { int size; Box(int n) : size(n) {} static const Box one; };",
            "Box::one.size",
            "const Box Box::one(1);",
        ),
        (
            "#define BOX_NAMESPACE_BEGIN namespace box {\nnamespace box { int get(); }",
            "box::get()",
            "BOX_NAMESPACE_BEGIN\nint get() { return 1; }\n}",
        ),
        ("struct Box { int size = 0; Box(); };", "Box().size", "Box::Box() = default;"),
        (
            "template <class T> struct Box { int get(); };\nextern template struct Box<Box<int>>;",
            "Box<Box<int>>().get()",
            "template <class T> int Box<T>::get() { return 0; }\n  template struct Box<Box<int>>;",
        ),
        (
            "#define GET(name) template <class T> int name(T) { return 0; }\n"
            "namespace box { template <class T> int get(T); }",
            "box::get(1)",
            "namespace box {\nGET(get)\ntemplate int get<int>(int);\n}",
        ),
    ],
)
def test_what_is_missing_of_a_namespace_or_class_is_found(
    folder: Path, declared: str, used: str, defined: str
) -> None:
    (folder / "main.cpp").write_text(f"{declared}\nint main() {{ return {used}; }}\n")
    (folder / "src" / "a_use.cpp").write_text(f"{declared}\nint other() {{ return {used}; }}\n")
    (folder / "src" / "box.cpp").write_text(f"{declared}\n{defined}\n")
    (found,) = weakspot.explore("main.cpp", models=["rc20"])
    assert found.notes == ("linked with what it calls: src/box.cpp",)


WEAK = """\
#include <assert.h>
#include <pthread.h>
int hook(int) __attribute__((weak));
extern int table __attribute__((weak));
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    __attribute__((weak));
static int (*chosen)(int) = hook;
static void *thread(void *unused) { return unused; }
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, 0);
  pthread_join(id, 0);
  assert((hook != 0) == DEFINED && (&table != 0) == DEFINED && (chosen != 0) == DEFINED);
  assert(pthread_create && sizeof "at @hook" == 9);
  const char *text = "at @hook";
  assert(text[4] == 'h');
  return DEFINED ? chosen(table) : 0;
}
"""


@pytest.mark.parametrize("defined", [0, 1])
def test_a_weak_symbol_that_nothing_defines_is_null(folder: Path, defined: int) -> None:
    (folder / "weak.c").write_text(WEAK)
    (folder / "hook.c").write_text("int table = 3;\nint hook(int of) { return of - 3; }\n")
    build = weakspot.Build(defines=(f"DEFINED={defined}",))
    what = ["weak.c", "hook.c"] if defined else ["weak.c"]
    (found,) = weakspot.explore(what, models=["rc20"], build=build)
    assert found.result == "Safe", found.reasons


def test_a_function_of_the_c_library_that_is_missing_is_no_source_to_name(folder: Path) -> None:
    (folder / "main.c").write_text("#include <stdlib.h>\nint main(void) { return mkstemp(0); }\n")
    (folder / "other.c").write_text("int mkstemp(char *name) { return 0; }\n")
    with pytest.raises(Unsupported, match="mkstemp is called but not defined") as error:
        list(weakspot.explore("main.c"))
    assert "weakspot does not have this function" in (error.value.advice or "")


@pytest.mark.usefixtures("folder")
def test_sources_without_a_main_say_so() -> None:
    build = weakspot.Build(defines=("ORDER=memory_order_release",))
    with pytest.raises(BadInput, match="no function main") as error:
        list(weakspot.explore("src/mail.c", build=build))
    assert "driver.c" in (error.value.advice or "")


def test_a_function_that_is_defined_twice_is_named_at_both_places(folder: Path) -> None:
    (folder / "other.c").write_text("\nint mail_get(int *letter) { return 0; }\n")
    build = weakspot.Build(defines=("ORDER=memory_order_release",))
    with pytest.raises(BadInput, match="mail_get is defined twice") as error:
        list(weakspot.explore(["driver.c", "src/mail.c", "other.c"], build=build))
    assert error.value.place == "other.c:2"
    assert "src/mail.c:9" in (error.value.advice or "")


@pytest.mark.parametrize("flags", [(), ("-fPIC",)], ids=str)
@pytest.mark.parametrize("again", ["", "extern inline int twice(int x);"])
def test_an_inline_function_of_a_header_may_be_used_in_several_files(
    folder: Path, flags: tuple[str, ...], again: str
) -> None:
    (folder / "twice.h").write_text(
        f"inline int twice(int x) {{ return 2 * x; }}\n{again}\n"
        f"#if defined __PIC__ != {len(flags)}\n#error the option is not taken\n#endif\n"
    )
    (folder / "one.c").write_text('#include "twice.h"\nint one(void) { return twice(1); }\n')
    (folder / "main.c").write_text(
        '#include <assert.h>\n#include "twice.h"\nextern inline int twice(int x);\nint one(void);\n'
        "int main(void) { assert(one() == 2 && twice(2) == 4); }\n"
    )
    build = weakspot.Build(flags=flags)
    (found,) = weakspot.explore(["main.c", "one.c"], models=["rc20"], build=build)
    assert found.result == "Safe"


@pytest.mark.parametrize("value", ["3", "computed()"])
def test_a_thread_local_variable_may_be_defined_in_another_file(folder: Path, value: str) -> None:
    (folder / "n.h").write_text("struct Numbers { static thread_local int own; };\n")
    (folder / "main.cpp").write_text(
        '#include <cassert>\n#include <thread>\n#include "n.h"\nint main() {\n'
        "  std::thread other([] { assert(++Numbers::own == 4); });\n"
        "  assert(Numbers::own == 3);\n  other.join();\n}\n"
    )
    (folder / "n.cpp").write_text(
        '#include "n.h"\nstatic volatile int three = 3;\nint computed() { return three; }\n'
        f"thread_local int Numbers::own = {value};\n"
    )
    (found,) = weakspot.explore(["main.cpp", "n.cpp"], models=["rc20"])
    assert found.result == "Safe"


def test_static_functions_of_one_name_are_different(folder: Path) -> None:
    (folder / "a.c").write_text(
        "#include <assert.h>\nstatic int n(void) { return 1; }\nint b(void);\n"
        "int main(void) { assert(n() + b() == 3); return 0; }\n"
    )
    (folder / "b.c").write_text("static int n(void) { return 2; }\nint b(void) { return n(); }\n")
    (found,) = weakspot.explore(["a.c", "b.c"], models=["sc"])
    assert found.result == "Safe"


def test_the_configuration_names_sources_and_meanings_of_assembly(folder: Path) -> None:
    (folder / "weakspot.toml").write_text(
        '[build]\nsources = ["src/mail.c"]\ndefines = ["ORDER=memory_order_release"]\n'
        '[[asm]]\npattern = "frobnicate %0"\nbody = "%0 = 1;"\n'
    )
    (folder / "driver.c").write_text(
        DRIVER.replace(
            "int letter;", 'static int n; __asm__("frobnicate %0" : "+m"(n)); int letter;'
        )
    )
    build = ProjectFile.of(folder / "weakspot.toml").build
    (found,) = weakspot.explore("driver.c", models=["rc20"], build=build)
    assert found.result == "Safe"


def test_a_source_that_is_not_there_is_an_error_of_the_configuration(folder: Path) -> None:
    (folder / "weakspot.toml").write_text('[build]\nsources = ["nowhere.c"]\n')
    with pytest.raises(BadInput, match=r"sources: no such file: nowhere\.c") as error:
        _ = ProjectFile.of(folder / "weakspot.toml").build
    assert error.value.place == "weakspot.toml:2"


INLINE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include "bump.h"
static atomic_int x;
static void *thread(void *p) { bump(&x); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, thread, 0);
  int (*through)(atomic_int *) = bump;
  through(&x);
  pthread_join(t, 0);
  assert(x == TWO);
}
"""


@pytest.mark.parametrize("words", ["inline", "extern inline", "static inline"])
@pytest.mark.parametrize("other", [None, "", "extern inline int bump(atomic_int *x);"])
def test_an_inline_function_is_defined_once_or_in_each_file(
    folder: Path, words: str, other: str | None
) -> None:
    body = "int bump(atomic_int *x) { return atomic_fetch_add(x, 1); }"
    (folder / "bump.h").write_text(f"#include <stdatomic.h>\n{words} {body}\n")
    (folder / "inline.c").write_text(INLINE)
    sources = ["inline.c"]
    if other is not None and words != "static inline":
        code = f'#include "bump.h"\n{other}\nint more(atomic_int *x) {{ return bump(x); }}\n'
        (folder / "more.c").write_text(code)
        sources.append("more.c")
    for two, result in (("2", "Safe"), ("3", "Violated")):
        build = weakspot.Build(defines=(f"TWO={two}",))
        (found,) = weakspot.explore(sources, models=["rc20"], build=build)
        assert found.result == result


@pytest.mark.parametrize(
    ("call", "result"),
    [("", "Safe"), ("o.run(1);", None), ("pthread_create(&t, 0, start, 0);", None)],
)
def test_a_pointer_to_a_missing_function_may_be_stored(
    folder: Path, call: str, result: str | None
) -> None:
    (folder / "pointer.c").write_text(
        "#include <pthread.h>\nvoid run(int); void *start(void *);\n"
        "struct { void (*run)(int); void *(*start)(void *); } o = { run, start };\n"
        f"int main(void) {{ pthread_t t; (void)t; (void)o; {call} }}\n"
    )
    if result is not None:
        (found,) = weakspot.explore("pointer.c", models=["rc20"])
        assert found.result == result
        return
    with pytest.raises(Unsupported, match="is called through a pointer, but not defined"):
        list(weakspot.explore("pointer.c", models=["rc20"]))


def test_functions_of_the_library_are_called_through_pointers(folder: Path) -> None:
    (folder / "pointer.c").write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "static pthread_key_t key;\n"
        "static struct { void *(*get)(size_t); void (*put)(void *); } heap = {malloc, free};\n"
        "static int (*volatile compare)(const char *, const char *) = strcmp;\n"
        "static void *run(void *p) {\n"
        "  pthread_setspecific(key, heap.get(4)); assert(heap.put == free); return p;\n}\n"
        "int main(void) {\n  pthread_t t;\n  pthread_key_create(&key, AT_EXIT);\n"
        "  pthread_create(&t, 0, run, 0);\n  pthread_join(t, 0);\n"
        '  assert(!compare("a", "a"));\n  heap.put(pthread_getspecific(key));\n}\n'
    )
    for destructor, result in (("free", "Safe"), ("(void (*)(void *))strlen", "Violated")):
        build = weakspot.Build(defines=(f"AT_EXIT={destructor}",))
        (found,) = weakspot.explore("pointer.c", models=["rc20"], build=build)
        assert found.result == result


MISSING = """
#include <pthread.h>
#include <stdatomic.h>
int first(int), second(int), third(int);
extern int variable;
static atomic_int x;
static int helper(int v) { return v ? second(v) : third(v); }
static void *thread(void *p) {
  if (atomic_load(&x) == 1) first(1);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, thread, 0);
  atomic_store(&x, VALUE);
  int seen = atomic_load(&x);
  if (seen == 2) helper(seen);
  if (seen == 3) atomic_store(&x, variable);
  pthread_join(t, 0);
}
"""


@pytest.mark.parametrize(
    ("value", "reached", "place"),
    [
        (1, "the function first is called", "missing.c:9:29"),
        (
            2,
            "the function second is called but not defined, called by main@missing.c",
            "missing.c:7:39",
        ),
        (3, "the variable variable is declared", "missing.c:18:35"),
        (4, "", ""),
    ],
)
def test_what_is_missing_is_an_error_where_it_is_reached(
    folder: Path, value: int, reached: str, place: str
) -> None:
    (folder / "missing.c").write_text(MISSING)
    build = weakspot.Build(defines=(f"VALUE={value}",))
    if not reached:
        (found,) = weakspot.explore("missing.c", models=["rc20"], build=build)
        assert found.result == "Safe"
        return
    with pytest.raises(Unsupported) as error:
        list(weakspot.explore("missing.c", models=["rc20"], build=build))
    message = error.value.message
    assert message.startswith(reached)
    assert (error.value.place or "").endswith(place)
    _, _, others = message.partition("; not defined either: ")
    for what in ("first (missing.c:9:29)", "second (missing.c:7", "variable (missing.c:18:35)"):
        assert (what in others) != (what.split()[0] in reached)


def test_the_advice_is_about_what_is_reached(folder: Path) -> None:
    (folder / "main.cpp").write_text(
        "#include <sstream>\nint first();\nint main() {\n  first();\n  std::ostringstream text;\n"
        "  text << 1;\n  return text.str().size() > 1;\n}\n"
    )
    with pytest.raises(Unsupported, match="first is called but not defined") as error:
        list(weakspot.explore("main.cpp", models=["rc20"]))
    assert "std::basic_" in error.value.message
    assert "name the source that defines it" in (error.value.advice or "")


RACE = """\
#include <pthread.h>
#include <stdatomic.h>
void missing(void);
int data;
atomic_int flag;
static void *writer(void *unused) {
  data = 1;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (atomic_load_explicit(&flag, memory_order_relaxed) && data == 0) missing();
  pthread_join(t, 0);
}
"""


def test_a_race_is_found_that_leads_to_what_is_missing(folder: Path) -> None:
    (folder / "race.c").write_text(RACE)
    (found,) = weakspot.explore("race.c", models=["rc20"])
    assert [violation.kind for violation in found.violations] == ["race"]
    (reason,) = found.incomplete
    assert (reason.kind, reason.limit) == ("truncated", "unsupported")
    assert reason.message.startswith("the function missing is called but not defined")
