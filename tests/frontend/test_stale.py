"""An answer of the compiler's cache is that of the text as it is now, whatever the text is in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.generators.source import clang
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import Build
from weakspot.generators.source.frontend import compile_source
from weakspot.system.compilers.clang import newest

pytestmark = pytest.mark.usefixtures("cache_of_its_own")

MAIN = "int main(void) { return N; }\n"
PLAIN = f'#include "n.h"\n{MAIN}'


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_h", ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def flags(*words: str) -> Callable[[Path], Build]:
    return lambda _: Build(flags=words)


def searched(*names: str) -> Callable[[Path], Build]:
    return lambda folder: Build(include=tuple(folder / name for name in names))


ONE, TWO = "#define N 1\n", "#define N 2\n"
GUARDED = "#ifndef G\n#define G\n#define N {}\n#endif\n"

Case = tuple[str, dict[str, str], dict[str, str], Callable[[Path], Build]]

CASES: dict[str, Case] = {
    "an -include": (MAIN, {"n_h": ONE}, {"n_h": TWO}, flags("-include", "n.h")),
    "an -include that is included again": (
        PLAIN,
        {"n_h": GUARDED.format(1)},
        {"n_h": GUARDED.format(2)},
        flags("-include", "n.h"),
    ),
    "-imacros": (MAIN, {"n_h": ONE}, {"n_h": TWO}, flags("-imacros", "n.h")),
    "-isystem": (
        f"#include <n.h>\n{MAIN}",
        {"sys__n_h": ONE},
        {"sys__n_h": TWO},
        lambda folder: Build(flags=("-isystem", str(folder / "sys"))),
    ),
    "an include that a macro names": (
        f'#define WHICH "n.h"\n#include WHICH\n{MAIN}',
        {"n_h": ONE},
        {"n_h": TWO},
        flags(),
    ),
    "a header that appears for __has_include": (
        f'#if __has_include("cfg/o.h")\n#include "cfg/o.h"\n#else\n#define N 1\n#endif\n{MAIN}',
        {"cfg__other_h": ""},
        {"cfg__o_h": TWO},
        flags(),
    ),
    "a header that appears in a subfolder searched before": (
        f"#include <lib/n.h>\n{MAIN}",
        {"ia__lib__other_h": "", "ib__lib__n_h": ONE},
        {"ia__lib__n_h": TWO},
        searched("ia", "ib"),
    ),
    "a response file": (MAIN, {"n_h": "-DN=1"}, {"n_h": "-DN=2"}, flags("@n.h")),
    "a response file in another": (
        MAIN,
        {"n_h": "-DM @o.h", "o_h": "-DN=1"},
        {"o_h": "-DN=2"},
        flags("@n.h"),
    ),
    "#embed": (
        'static const char t[] = {\n#embed "n.h"\n};\nint main(void) { return t[0]; }\n',
        {"n_h": "1"},
        {"n_h": "2"},
        flags(),
    ),
}


def result(path: Path, build: Build) -> int:
    text = compile_source(path, build=build).text
    known = [
        number
        for number in (1, 2)
        if f"ret i32 {number}" in text or f'[1 x i8] c"{number}"' in text  # of #embed
    ]
    assert len(known) == 1, text
    return known[0]


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_that_of_the_new_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    source, before, after, build = CASES[case]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "m.c"
    path.write_text(source)
    write(tmp_path, **before)
    for name in ("ia", "ib"):
        (tmp_path / name).mkdir(exist_ok=True)
    assert result(path, build(tmp_path)) == 1
    assert result(path, build(tmp_path)) == 1
    write(tmp_path, **after)
    assert result(path, build(tmp_path)) == 2


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"])
def test_a_header_that_appears_in_a_folder_of_the_environment_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    path = tmp_path / ("m.cpp" if "PLUS" in variable else "m.c")
    path.write_text(f"#include <n.h>\n{MAIN}".replace("(void)", "()"))
    (tmp_path / "ia").mkdir()
    write(tmp_path, ib__n_h=ONE)
    monkeypatch.setenv(variable, f"{tmp_path / 'ia'}{os.pathsep}{tmp_path / 'ib'}")
    assert result(path, Build()) == 1
    write(tmp_path, ia__n_h=TWO)
    assert result(path, Build()) == 2


def test_a_header_beyond_a_symbolic_link_is_the_links(tmp_path: Path) -> None:
    write(tmp_path, real__n_h=ONE, n_h=ONE, real__deep__other_h="")
    (tmp_path / "link").symlink_to(tmp_path / "real/deep")
    path = tmp_path / "m.c"
    path.write_text(f'#include "link/../n.h"\n{MAIN}')
    assert result(path, Build()) == 1
    write(tmp_path, real__n_h=TWO)
    assert result(path, Build()) == 2


def test_a_file_beyond_a_symbolic_link_has_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "int n; static int f(void) {{ return __atomic_exchange_n(&n, {}, 5); }}\n"
    write(tmp_path, real__n_h=line.format(1), n_h=line.format(2), real__deep__other_h="")
    (tmp_path / "link").symlink_to(tmp_path / "real/deep")
    beside, inside = tmp_path / "m.c", tmp_path / "real/deep/m.c"
    beside.write_text('#include "link/../n.h"\nint main(void) { return f(); }\n')
    inside.write_text('#include "../n.h"\nint main(void) { return f(); }\n')
    monkeypatch.chdir(tmp_path)
    for path in (beside, Path("link/m.c"), tmp_path / "link/m.c"):
        for base in (None, tmp_path):
            ir = compile_source(path, base=base)
            (name,) = (name for name in ir.files if name.endswith("n.h"))
            assert ir.files[name].samefile(tmp_path / "real/n.h")
            assert f'!DIFile(filename: "{name}"' in ir.text


def test_a_changed_compilation_database_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(MAIN)
    for number in (1, 2):
        entry = {"directory": str(tmp_path), "file": "m.c", "command": f"cc -DN={number} -c m.c"}
        (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
        assert result(path, Build()) == number


def test_a_changed_meaning_of_assembly_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text('int main(void) { int n; __asm__("two %1" : "=r"(n) : "r"(0)); return n; }\n')
    texts = []
    for number in (1, 2):
        meaning = Meaning(pattern="two %1", body=f"%0 = {number};")
        texts.append(compile_source(path, build=Build(assembly=(meaning,))).text)
    assert texts[0] != texts[1]


def test_an_installed_clang_sees_a_changed_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = newest(clang.OLDEST)
    if installed is None:
        pytest.skip(f"no clang {clang.OLDEST} or newer is installed (clang or clang-N on PATH)")
    monkeypatch.setenv("WEAKSPOT_CLANG", installed.path)
    path = tmp_path / "m.c"
    path.write_text(PLAIN)
    for number, text in enumerate((ONE, TWO), start=1):
        write(tmp_path, n_h=text)
        assert result(path, Build()) == number


def test_a_column_that_moves_within_its_line_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    body = "int x;\nint main(void) {{ {} x = 1; return 1; }}\n"
    path.write_text(body.format(""))
    first = compile_source(path).text
    path.write_text(body.format("/* moved */"))
    assert compile_source(path).text != first


def test_an_edit_while_clang_runs_is_not_stored_for_the_new_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.c"
    path.write_text(PLAIN)
    write(tmp_path, n_h=ONE)
    run = clang.run

    def edited(*arguments: object) -> tuple[str, list[str]]:
        found = run(*arguments)  # type: ignore[arg-type]
        write(tmp_path, n_h=TWO)
        return found

    monkeypatch.setattr(clang, "run", edited)
    assert compile_source(path).key == ""
    monkeypatch.setattr(clang, "run", run)
    assert result(path, Build()) == 2


def test_a_program_behind_a_wrapper_script_is_in_the_key(tmp_path: Path) -> None:
    program = tmp_path / "clang-19"
    program.touch()
    wrapper = tmp_path / "wrapper"
    # as clang does: -v names the program that it starts
    wrapper.write_text(f"#!/bin/sh\necho ' \"{program}\" -cc1 -E' >&2\n")
    wrapper.chmod(0o755)
    found = clang.Clang(
        commands={"c": [str(wrapper)]}, identity="wrapper", name="wrapper", headers=[]
    )
    (tmp_path / "m.c").write_text(MAIN)

    def read() -> list[str]:
        return list(clang.read_text(found, tmp_path / "m.c", []))

    first = read()
    assert read() == first
    program.write_text("a newer one")
    assert read() != first


def test_options_of_the_environment_are_in_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weakspot.generators.source.frontend import question

    path = tmp_path / "m.c"
    path.write_text("int main(void) { return 1; }\n")
    first = question(path).key
    assert question(path).key == first
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", "+-fwrapv")
    assert question(path).key != first


def test_a_program_in_the_folder_for_temporary_files_is_compiled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weakspot.generators.source.frontend import question

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "program.c"
    path.write_text("int main(void) { return 0; }\n")
    assert question(path).key == question(path).key
