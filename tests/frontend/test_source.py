"""The front end keeps every operation, nothing of the machine, and its errors name the place."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ended import execute

import weakspot
from weakspot.errors import BadInput, MissingTool, ToolFailed, Unsupported
from weakspot.generators.source import clang, file_names, frontend
from weakspot.generators.source.build import Build
from weakspot.generators.source.frontend import Ir, compile_source
from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.system import cache
from weakspot.system.compilers import zig

HEADER = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n"


@pytest.fixture(autouse=True)
def _cache_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("WEAKSPOT_CLANG", raising=False)


def compiled(folder: Path, body: str, **options: Any) -> Ir:
    path = folder / "program.c"
    path.write_text(HEADER + body)
    return compile_source(path, **options)


def function(ir: Ir, name: str) -> str:
    """The body of one function of the module."""
    found = re.search(rf"^define [^\n]*@{name}\(.*?^}}$", ir.text, re.MULTILINE | re.DOTALL)
    assert found, f"no function {name} in\n{ir.text}"
    return found[0]


def test_memory_orders_reach_the_ir(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        atomic_int x;
        int main(void) {
          int r = atomic_load_explicit(&x, memory_order_acquire);
          atomic_store_explicit(&x, r, memory_order_relaxed);
          atomic_store(&x, 2);
          atomic_fetch_add_explicit(&x, 1, memory_order_acq_rel);
          atomic_thread_fence(memory_order_seq_cst);
          atomic_signal_fence(memory_order_release);
          atomic_compare_exchange_weak_explicit(&x, &r, 3, memory_order_release,
                                                memory_order_relaxed);
        }
        """,
    )
    main = function(ir, "main")
    assert "load atomic i32, ptr @x acquire" in main
    assert "ptr @x monotonic" in main
    assert "ptr @x seq_cst" in main
    assert "atomicrmw add ptr @x, i32 1 acq_rel" in main
    assert "fence seq_cst" in main
    assert 'fence syncscope("singlethread") release' in main
    assert re.search(r"cmpxchg weak ptr @x, .* release monotonic", main)


@pytest.mark.parametrize("expression", ["r ^ r", "r * 0", "0 * r", "r & 0", "r - r", "r % 1"])
def test_false_dependencies_survive(tmp_path: Path, expression: str) -> None:
    ir = compiled(
        tmp_path,
        f"""
        atomic_int x;
        int a[2];
        static inline int zero(int r) {{ return {expression}; }}
        int main(void) {{
          int r = atomic_load_explicit(&x, memory_order_relaxed);
          a[zero(r)] = 1;
        }}
        """,
    )
    assert re.search(r"= (xor|mul|and|sub|srem) (nsw )?i32 (0, )?%\d+", function(ir, "main"))


def test_arithmetic_with_constants_keeps_its_meaning(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        unsigned x;
        static unsigned inner(unsigned v) { return (v << 3) - 7 < 4294967295u ? 5 - v : v / 9; }
        static unsigned outer(unsigned v) { return inner(v) + 7; }
        int main(void) { x = outer(x); }
        """,
    )
    main = function(ir, "main")
    for part in ("shl i32 %0, 3", "sub i32 %shl", "i32 5, %0", "udiv i32 %0, 9", ", -1"):
        assert part in main
    assert "alloca" not in main


def test_plain_and_volatile_loads_of_unused_values_survive(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        "int p; volatile int v; int main(void) { int a = p; int b = v; (void)a; (void)b; }",
    )
    main = function(ir, "main")
    assert "load i32, ptr @p" in main
    assert "load volatile i32, ptr @v" in main


def test_locals_live_in_registers(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path, "atomic_int x; int main(void) { int r = x; r = r + 1; x = r; return r; }"
    )
    assert "alloca" not in function(ir, "main")


def test_asserts_survive(tmp_path: Path) -> None:
    ir = compiled(tmp_path, "int x; int main(void) { assert(x == 0); }")
    assert "@__assert_fail" in function(ir, "main")
    assert 'c"x == 0\\00"' in ir.text


def test_a_definition_of_ndebug_that_removes_all_assertions_is_reported(tmp_path: Path) -> None:
    (tmp_path / "release.h").write_text("#pragma once\n#define NDEBUG\n")
    path = tmp_path / "program.c"

    def notes(before: str) -> tuple[str, ...]:
        path.write_text(f"{before}\n{HEADER}atomic_int x;\nint main(void) {{ assert(!x); }}\n")
        (found,) = weakspot.explore(path, models=["sc"])
        return found.notes

    assert not notes("")
    assert not notes('#include "release.h"\n#undef NDEBUG')
    (note,) = notes('#include "release.h"')
    assert "release.h:2: NDEBUG is defined here" in note


def test_operations_are_inlined_and_keep_their_call_chain(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        static atomic_int x;
        static inline void inner(int v) { atomic_store_explicit(&x, v, memory_order_release); }
        void outer(int v) { inner(v); inner(v + 1); }
        __attribute__((noinline)) static void *thread(void *unused) { outer(1); return unused; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, 0, thread, 0);
          outer(5);
          return pthread_join(t, 0);
        }
        """,
    )
    defined = re.findall(r"^define .*?@(\w+)\(", ir.text, re.MULTILINE)
    assert sorted(defined) == ["main", "thread"]
    for name in defined:
        assert function(ir, name).count("store atomic") == 2
    assert ir.text.count("inlinedAt:") >= 4


def test_inline_functions_that_are_not_static_are_inlined_too(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        atomic_int x;
        inline int here(void) { return atomic_load_explicit(&x, memory_order_acquire); }
        inline int there(void) { return atomic_load_explicit(&x, memory_order_relaxed); }
        extern inline int there(void);
        int main(void) { return here() + there(); }
        """,
    )
    assert function(ir, "main").count("load atomic") == 2


def test_recursive_functions_stay_calls(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        atomic_int x;
        int odd(int n);
        int even(int n) { return n == 0 ? 1 : odd(n - 1); }
        int odd(int n) { return n == 0 ? 0 : even(n - 1); }
        int down(int n) { return n == 0 ? x : down(n - 1); }
        int main(void) { return even(4) + down(3); }
        """,
    )
    assert {"even", "odd", "down"} <= set(re.findall(r"^define .*?@(\w+)\(", ir.text, re.M))


def test_functions_called_through_pointers_stay(tmp_path: Path) -> None:
    ir = compiled(
        tmp_path,
        """
        atomic_int x;
        static int get(void) { return x; }
        int (*pick)(void) = get;
        int main(void) { return pick(); }
        """,
    )
    assert "load atomic" in function(ir, "get")


def test_a_source_can_know_that_it_is_read_by_weakspot(tmp_path: Path) -> None:
    ir = compiled(tmp_path, "#if WEAKSPOT\nint seen;\n#endif\nint main(void) { return seen; }")
    assert "@seen" in ir.text


def test_defines_and_include_folders_are_used(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "order.h").write_text("#define ORDER memory_order_acquire\n")
    ir = compiled(
        tmp_path,
        "#include <order.h>\natomic_int x;\n"
        "int main(void) { return atomic_load_explicit(&x, ORDER) + ADD; }",
        build=Build(defines=("ADD=40+2", "EMPTY"), include=(tmp_path / "include",)),
    )
    assert "load atomic i32, ptr @x acquire" in ir.text
    assert "add nsw i32 %0, 40" in ir.text
    assert ir.files["include/order.h"].samefile(tmp_path / "include" / "order.h")


def test_headers_beside_the_source_are_found_with_either_include(tmp_path: Path) -> None:
    (tmp_path / "one.h").write_text("static inline int one(void) { return 1; }\n")
    (tmp_path / "two.h").write_text("static inline int two(void) { return 2; }\n")
    ir = compiled(
        tmp_path, '#include "one.h"\n#include <two.h>\nint main(void) { return one() + two(); }'
    )
    assert set(ir.files) == {"one.h", "two.h", "program.c"}


def test_the_text_does_not_depend_on_where_the_source_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = '#include "q.h"\nint main(void) { assert(get()); }'
    header = HEADER + "static atomic_int x;\nstatic inline int get(void) { assert(1); return x; }\n"
    texts = set()
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        folder.mkdir(parents=True)
        (folder / "q.h").write_text(header)
        texts.add(compiled(folder, body).text)
    monkeypatch.chdir(tmp_path / "a")
    texts.add(compile_source(Path("program.c")).text)
    assert len(texts) == 1
    text = texts.pop()
    assert str(tmp_path) not in text
    assert sys.prefix not in text
    assert 'filename: "q.h"' in text
    assert 'filename: "<stdatomic.h>"' in text


def test_the_compiler_is_named_with_its_version(tmp_path: Path) -> None:
    ir = compiled(tmp_path, "int main(void) { return 0; }")
    assert re.fullmatch(r"clang \d+\.\d+\.\d+ \(ziglang [\w.]+\)", ir.compiler)


def test_a_second_look_comes_from_the_cache_and_a_changed_header_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "n.h").write_text("#define N 1\n")
    body = '#include "n.h"\nint main(void) { return N; }'
    first = compiled(tmp_path, body)
    (tmp_path / "n.h").write_text("#define N 2\n")
    changed = compiled(tmp_path, body)
    assert "ret i32 1" in first.text
    assert "ret i32 2" in changed.text
    monkeypatch.setattr(clang, "run", None)
    assert compiled(tmp_path, body) == changed


@pytest.mark.parametrize("module", [frontend, clang, file_names, cache])
def test_a_changed_front_end_does_not_use_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> None:
    (tmp_path / "program").mkdir()
    compiled(tmp_path / "program", "int main(void) { return 0; }")
    other = tmp_path / "changed.py"
    other.write_text(f"{Path(str(module.__file__)).read_text()}# changed\n")
    monkeypatch.setattr(module, "__file__", str(other))
    monkeypatch.setattr(clang, "run", None)
    with pytest.raises(TypeError, match="not callable"):
        compiled(tmp_path / "program", "int main(void) { return 0; }")


def test_a_source_that_is_as_it_was_before_the_last_change_is_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compiled(tmp_path, "int main(void) { return 0; }")
    other = compiled(tmp_path, "int main(void) { return 1; }")
    monkeypatch.setattr(clang, "run", None)
    assert compiled(tmp_path, "int main(void) { return 0; }") == first != other
    assert compiled(tmp_path, "int main(void) { return 1; }") == other


def test_a_broken_cache_entry_is_no_error(tmp_path: Path) -> None:
    first = compiled(tmp_path, "int main(void) { return 0; }")
    for entry in Path(os.environ["XDG_CACHE_HOME"]).rglob("*.json"):
        entry.write_bytes(b"{")
    assert compiled(tmp_path, "int main(void) { return 0; }") == first


def test_works_without_a_home(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    script = (
        "from pathlib import Path\n"
        "from weakspot.generators.source.frontend import compile_source\n"
        "print(compile_source(Path('p.c')).compiler)"
    )
    for home in ({}, {"HOME": ""}, {"HOME": "/proc/nowhere"}):
        done = execute(
            sys.executable, "-c", script, cwd=tmp_path, env={"TMPDIR": str(tmp_path), **home}
        ).printed(0)
        assert done.startswith("clang ")


# --- errors: each names the place and says what to do -----------------------------------------


def test_c_that_does_not_compile_shows_clangs_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bad.c").write_text("int main(void) {\n  int x = foo;\n  return y;\n}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as caught:
        compile_source(Path("src/bad.c"))
    error = caught.value
    assert error.message == "use of undeclared identifier 'foo'"
    assert error.place == "src/bad.c:2:11"
    assert error.excerpt == "   |\n 2 |   int x = foo;\n   |           ^^^"
    assert error.advice == "1 more error in this file"


def test_what_the_c_library_declares_with_gnu_source_comes_with_advice(tmp_path: Path) -> None:
    body = (
        '#include <pthread.h>\nint main(void) { return pthread_setname_np(pthread_self(), "m"); }'
    )
    with pytest.raises(BadInput, match="undeclared function 'pthread_setname_np'") as caught:
        compiled(tmp_path, body)
    assert "-D_GNU_SOURCE" in (caught.value.advice or "")


def test_what_needs_a_newer_version_of_cxx_comes_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "program.cpp"
    path.write_text("struct A { int f(this A) { return 0; } };\nint main() { return A().f(); }\n")
    with pytest.raises(BadInput, match="incompatible with C") as caught:
        read_program(path)
    assert "--std c++23" in (caught.value.advice or "")


def test_an_error_in_a_header_is_placed_in_the_header(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("\nint f(void) { return }\n")
    with pytest.raises(BadInput) as caught:
        compiled(tmp_path, '#include "h.h"\nint main(void) { return f(); }')
    assert caught.value.place == f"{tmp_path}/h.h:2:22"


def test_a_missing_header_comes_with_advice(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'gone\.h' file not found") as caught:
        compiled(tmp_path, '#include "gone.h"\nint main(void) { return 0; }')
    assert "-I DIR" in (caught.value.advice or "")


def test_a_header_that_a_build_makes_comes_with_advice(tmp_path: Path) -> None:
    for folder in ("include", "src"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "config.h.in").write_text("#undef SIZE\n")
    (tmp_path / "include" / "ring.h").write_text('#include "config.h"\n')
    include = Build(include=(tmp_path / "include",))
    with pytest.raises(BadInput, match=r"'config\.h' file not found") as caught:
        compiled(tmp_path, "#include <ring.h>\nint main(void) { return 0; }", build=include)
    assert re.search(
        r"build makes it of \S*src/config\.h\.in: configure", caught.value.advice or ""
    )
    (tmp_path / "src" / "config.h.in").unlink()
    with pytest.raises(BadInput, match=r"'config\.h' file not found") as caught:
        compiled(tmp_path, "#include <ring.h>\nint main(void) { return 0; }", build=include)
    assert "the library's build makes it: configure" in (caught.value.advice or "")


def test_headers_of_a_compiler_behind_a_link_are_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = zig.folder()
    assert package is not None
    (tmp_path / "packages").symlink_to(package.parent)
    linked = ModuleType("ziglang")
    linked.__file__ = str(tmp_path / "packages" / "ziglang" / "__init__.py")
    monkeypatch.setitem(sys.modules, "ziglang", linked)
    ir = compiled(tmp_path, "#include <assert.h>\nint main(void) { assert(1 < 2); }")
    assert set(ir.files) == {"program.c"}


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        (
            ("windows/impl/os.h", "unix/impl/os.h", "linux/impl/os.h"),
            r"holds it: -I \S*linux or -I \S*unix or -I \S*windows$",
        ),
        (("builds/cmake/os.h.in",), r"build makes it of \S*builds/cmake/os\.h\.in: configure"),
        (("Makefile",), r"build makes it, as \S*Makefile says: configure"),
        (
            ("windows/impl/os.h", "configure.ac"),
            r"build makes it, as \S*configure\.ac says: configure",
        ),
        (("windows/impl/os.h",), r"holds it: -I \S*windows$"),
    ],
)
def test_a_header_that_is_elsewhere_in_the_library_comes_with_advice(
    tmp_path: Path, files: tuple[str, ...], advice: str
) -> None:
    for name in ("LICENSE", "lib/core/include/ring.h", *files):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('#include "impl/os.h"\n')
    include = Build(include=(tmp_path / "lib/core/include",))
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "README").write_text("")
    for header in ("ring.h", "impl/os.h"):
        with pytest.raises(BadInput, match=r"'impl/os\.h' file not found") as caught:
            compiled(
                tmp_path / "driver", f"#include <{header}>\nint main(void) {{}}", build=include
            )
        assert re.search(advice, caught.value.advice or ""), caught.value.advice


def test_a_header_of_a_submodule_that_is_not_checked_out_comes_with_advice(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text('[submodule "hazard"]\n\tpath = deps/hazard\n')
    (tmp_path / "README").write_text("")
    (tmp_path / "Makefile").write_text("ring.o: ring.c deps/hazard/pointer.h\n")
    (tmp_path / "deps/hazard").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"'hazard/pointer\.h' file not found") as caught:
        compiled(tmp_path, '#include "hazard/pointer.h"\nint main(void) { return 0; }')
    assert re.search(
        r"deps/hazard is empty: git submodule update --init", caught.value.advice or ""
    )


def test_a_header_of_cxx_in_a_c_program_comes_with_advice(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'atomic' file not found") as caught:
        compiled(tmp_path, "#include <atomic>\nint main(void) { return 0; }")
    assert "-x c++" in (caught.value.advice or "")


@pytest.mark.parametrize("name", ["gone.c", "folder.c", "notes.txt", "queue.hpp"])
def test_a_path_that_is_no_source_is_bad_input(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.c").mkdir()
    (tmp_path / "queue.hpp").write_text("")
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(BadInput) as caught:
        compile_source(tmp_path / name)
    assert caught.value.advice


@pytest.mark.parametrize("define", ["-DX", "", "1X=2", "X\n=1", "X Y"])
def test_a_define_that_is_no_macro_is_bad_input(tmp_path: Path, define: str) -> None:
    with pytest.raises(BadInput, match="macro"):
        compiled(tmp_path, "int main(void) { return 0; }", build=Build(defines=(define,)))


def test_a_missing_include_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such include folder"):
        compiled(
            tmp_path, "int main(void) { return 0; }", build=Build(include=(tmp_path / "gone",))
        )


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEAKSPOT_CLANG", "clang-that-is-not-there")
    with pytest.raises(MissingTool, match="clang-that-is-not-there"):
        compiled(tmp_path, "int main(void) { return 0; }")


@pytest.fixture
def clangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes programs that state to be clang of these versions the only ones on PATH; ziglang is not
    installed."""
    monkeypatch.setitem(sys.modules, "ziglang", None)

    def made(*versions: int) -> None:
        for version in versions:
            program = tmp_path / "bin" / f"clang-{version}"
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\necho Debian clang version {version}.1.7 1\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    return made


def test_without_ziglang_the_newest_clang_is_used(
    tmp_path: Path, clangs: Callable[..., None]
) -> None:
    clangs(9, 15, 19, 16)
    assert clang.find().name == str(tmp_path / "bin" / "clang-19")


def test_files_beside_a_clang_of_ones_own_are_not_the_systems(
    tmp_path: Path, clangs: Callable[..., None]
) -> None:
    clangs(19)
    found = clang.find()
    assert found.system_name(str(tmp_path / "queue.c")) is None
    assert found.system_name(str(tmp_path / "lib/clang/19/include/stdatomic.h")) == "<stdatomic.h>"


def test_clang_without_its_libcxx_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "clang"
    own.write_text(
        "#!/bin/sh\necho \"p.cpp:1:10: fatal error: 'thread' file not found\" >&2; exit 1\n"
    )
    own.chmod(0o755)
    (tmp_path / "p.cpp").write_text("#include <thread>\nint main() {}\n")
    monkeypatch.setenv("WEAKSPOT_CLANG", str(own))
    with pytest.raises(BadInput, match="'thread' file not found") as caught:
        compile_source(tmp_path / "p.cpp")
    assert "libc++ 22: pip install ziglang" in (caught.value.advice or "")


@pytest.mark.parametrize("versions", [(), (14,)])
def test_without_a_clang_the_advice_names_the_package_to_install(
    tmp_path: Path, clangs: Callable[..., None], versions: tuple[int, ...]
) -> None:
    clangs(*versions)
    with pytest.raises(MissingTool) as caught:
        compiled(tmp_path, "int main(void) { return 0; }")
    assert "pip install ziglang" in (caught.value.advice or "")


def test_a_compiler_that_is_no_clang_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false = shutil.which("false")
    if false is None:
        pytest.skip("no program named false on this machine")
    monkeypatch.setenv("WEAKSPOT_CLANG", false)
    with pytest.raises(ToolFailed, match="exit status 1"):
        compiled(tmp_path, "int main(void) { return 0; }")


def test_a_compiler_that_does_not_end_is_stopped_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60 &\necho $! > started\nwait\n")
    slow.chmod(0o755)
    monkeypatch.setattr(clang, "COMPILE_SECONDS", 0.5)
    monkeypatch.setenv("WEAKSPOT_CLANG", str(slow))
    with pytest.raises(ToolFailed, match="did not finish"):
        compiled(tmp_path, "int main(void) { return 0; }")
    child = int((tmp_path / "started").read_text())
    end = time.monotonic() + 10
    while runs(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not runs(child)


def runs(process: int) -> bool:
    """Whether a process has not been stopped yet: a signal takes its time."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_clang_of_the_system_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("no clang is installed on this machine")
    monkeypatch.setenv("WEAKSPOT_CLANG", clang)
    ir = compiled(tmp_path, "atomic_int x; int main(void) { assert(x); }")
    assert "load atomic i32, ptr @x seq_cst" in ir.text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('int main(void) {\n  __asm__ goto("jmp %l0" : : : : out);\nout:\n  return 0;\n}\n', 2),
        ("int main(void) {\n  return __builtin_setjmp((void *[5]){0});\n}\n", 2),
    ],
)
def test_what_is_not_supported_is_placed_in_the_source(
    tmp_path: Path, text: str, line: int
) -> None:
    path = tmp_path / "program.c"
    path.write_text(text)
    with pytest.raises(Unsupported) as error:
        asked(read_program(path), models.resolve("rc11"), Bounds())
    assert (error.value.place or "").startswith(f"{path}:{line}")
    assert "of the IR" not in error.value.message


def test_an_object_that_malloc_makes_through_a_pointer_is_named_without_a_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        HEADER + "#include <stdlib.h>\nstatic void *(*make)(size_t) = malloc;\n"
        "static void *write(void *place) { *(int *)place = 1; return place; }\n"
        "int main(void) {\n  int *place = make(sizeof *place);\n  pthread_t thread;\n"
        "  pthread_create(&thread, 0, write, place);"
        "\n  *place = 2;\n  pthread_join(thread, 0);\n}\n"
    )
    (found,) = weakspot.explore(path, models=["rc20"], machine_models=())
    (violation,) = found.violations
    assert "data-race on heap between" in violation.message
