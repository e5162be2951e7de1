"""The compiler's options: the compilation database, weakspot.toml, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.generators.source.build import Build, options
from weakspot.generators.source.frontend import compile_source

MAIN = "int main(void) { return 0; }\n"


def written(folder: Path, name: str, text: str = MAIN) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def database(folder: Path, *entries: tuple[str, str], name: str = "compile_commands.json") -> Path:
    """A database of sources and the flags in their commands, which are run in `folder`."""
    return written(
        folder,
        name,
        json.dumps(
            [
                {"directory": str(folder), "file": file, "command": f"cc {flags} -c {file} -o x.o"}
                for file, flags in entries
            ]
        ),
    )


def test_the_commands_meaning_is_taken_and_the_rest_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = written(tmp_path, "src/a.c")
    written(tmp_path, "inc/a.h", "")
    flags = (
        "-O3 -g -MD -MF a.d -march=armv8-a -fsanitize=thread -fPIC -flto -Wall -pipe -DNDEBUG "
        "-D_FORTIFY_SOURCE=2 --sysroot /x -L/lib -std=gnu11 -Iinc -isystem inc -DA=1 -UB "
        "-fno-builtin -fno-tree-vectorize -include inc/a.h"
    )
    database(tmp_path, ("src/a.c", flags))
    found = options(source, Build())
    assert found.meaning == (
        *("-std=gnu11", "-DA=1", "-UB", "-include", "../inc/a.h", "-I../inc"),
        *("-isystem", "../inc"),
    )
    assert found.clang == ("-fPIC", "-fno-builtin")
    assert found.notes[0].endswith("it has an entry in compile_commands.json")
    for each in ("-O3", "-MF a.d", "-march=armv8-a", "-fsanitize=thread", "-DNDEBUG", "-flto"):
        assert each in found.notes[1]
    assert compile_source(source).text


def test_a_database_is_found_upwards_in_build_or_where_it_is_named(tmp_path: Path) -> None:
    source = written(tmp_path, "a/b/c.c")
    database(tmp_path, ("a/b/c.c", "-DHERE"), name="build/compile_commands.json")
    assert options(source, Build()).meaning == ("-DHERE",)
    database(tmp_path, ("a/b/c.c", "-DCHANGED"), name="build/compile_commands.json")
    assert options(source, Build()).meaning == ("-DCHANGED",)
    other = tmp_path / "other"
    named = database(other, (str(source), "-DNAMED"))
    for path in (named, other):
        assert options(source, Build(compile_commands=path)).meaning == ("-DNAMED",)
    with pytest.raises(BadInput, match="no such compilation database"):
        options(source, Build(compile_commands=tmp_path / "a"))


def test_a_header_takes_the_flags_of_a_source_that_includes_it(tmp_path: Path) -> None:
    header = written(tmp_path, "include/lib/queue.hpp", "")
    written(tmp_path, "src/other.cpp", "")
    written(tmp_path, "src/user.cpp", '#include "lib/queue.hpp"\n')
    database(tmp_path, ("src/other.cpp", "-DOTHER"), ("src/user.cpp", "-DUSER"))
    found = options(header, Build())
    assert "-DUSER" in found.meaning
    assert "includes it" in found.notes[0]


def test_a_source_without_an_entry_takes_the_flags_of_its_neighbour(tmp_path: Path) -> None:
    source = written(tmp_path, "lib/tests/scenario.cpp")
    for name in ("lib/near.c", "lib/near.cpp", "far/far.cpp"):
        written(tmp_path, name)
    database(tmp_path, ("far/far.cpp", "-DFAR"), ("lib/near.c", "-DC"), ("lib/near.cpp", "-DNEAR"))
    found = options(source, Build())
    assert "-DNEAR" in found.meaning
    assert "its neighbour" in found.notes[0]


def test_the_command_line_holds_before_weakspot_toml_before_the_database(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "a.c",
        '#include "which.h"\n#if __STDC_VERSION__ != 201112L || X != 3 || WHICH != 3\n#error\n'
        f"#endif\n{MAIN}",
    )
    for n in (1, 2, 3):
        written(tmp_path, f"inc{n}/which.h", f"#define WHICH {n}\n")
    database(tmp_path, ("a.c", "-std=c99 -DX=1 -Iinc1"))
    toml = Build(std=("c17",), defines=("X=2",), include=(tmp_path / "inc2",))
    line = Build(std=("c11",), flags=("-UX", "-DX=3"), include=(tmp_path / "inc3",), below=toml)
    assert compile_source(source, build=line).text
    with pytest.raises(BadInput):
        compile_source(source, build=toml)


def test_what_a_standard_removed_is_there_unless_the_build_names_it(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "a.cpp",
        "#include <functional>\n#include <memory>\n#include <type_traits>\n"
        "template <class F> typename std::result_of<F(int)>::type call(F f) { return f(1); }\n"
        "struct Less : std::binary_function<int, int, bool> {};\n"
        "std::shared_ptr<int> shared;\n"
        "int main() { return shared.unique() + call([](int x) { return x; }); }\n",
    )
    assert compile_source(source, build=Build(std=("c++17",))).text
    assert compile_source(source).text
    with pytest.raises(BadInput):
        compile_source(source, build=Build(std=("c++20",)))


def test_response_files_are_read(tmp_path: Path) -> None:
    source = written(tmp_path, "a.c")
    written(tmp_path, "flags.rsp", '-DFROM_A_FILE="1 2"\n')
    database(tmp_path, ("a.c", "@flags.rsp"))
    assert options(source, Build()).meaning == ("-DFROM_A_FILE=1 2",)


@pytest.mark.parametrize("text", [None, '-DA="', "@flags.rsp"])
def test_a_response_file_that_cannot_be_read_is_an_error(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        written(tmp_path, "flags.rsp", text)
    source = written(tmp_path, "a.c")
    with pytest.raises(BadInput, match="response file") as raised:
        options(source, Build(flags=(f"@{tmp_path}/flags.rsp",)))
    assert raised.value.advice


@pytest.mark.parametrize("text", ["[{]", '[{"file": "a.c"}]', '{"a": 1}'])
def test_a_database_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    source = written(tmp_path, "a.c")
    written(tmp_path, "compile_commands.json", text)
    with pytest.raises(BadInput, match="not a compilation database") as caught:
        options(source, Build())
    assert "compile_commands.json" in str(caught.value.place)


def test_a_standard_applies_to_sources_of_its_language(tmp_path: Path) -> None:
    c, cpp = written(tmp_path, "a.c"), written(tmp_path, "a.cpp")
    both = Build(std=("c11", "c++23"))
    assert options(c, both).meaning == ("-std=c11",)
    assert options(cpp, both).meaning == ("-std=c++23",)
    with pytest.raises(BadInput, match=r"c\+\+23 is not a version of that"):
        options(c, Build(std=("c++23",)))
    assert options(c, Build(below=Build(std=("c++23",)))).meaning == ()


@pytest.mark.parametrize("standard", ["c++11", "gnu++17", "c++20", "c++23"])
def test_threads_are_read_under_each_standard(tmp_path: Path, standard: str) -> None:
    source = written(
        tmp_path,
        "a.cpp",
        "#include <thread>\n#include <mutex>\n#include <condition_variable>\nstd::mutex m;\n"
        "int main() { std::thread t([] { std::lock_guard<std::mutex> l(m); }); t.join(); }\n",
    )
    assert "main" in compile_source(source, build=Build(std=(standard,))).text
