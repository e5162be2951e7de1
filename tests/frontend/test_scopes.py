"""The local variables of a block end in reverse order of their declarations, between the calls of
their destructors, as C++ says; temporary objects end with their expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import kinds

PROGRAM = """\
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>
static std::atomic<int> x{{0}};
static void in_a_function() {{ {function} }}
int main() {{ {main} }}
"""

ENDED = {
    "before the thread that is declared before it": "std::jthread t; int v = 1; "
    "t = std::jthread([&v] { x.store(v); });",
    "before the thread of an outer block": "std::jthread t; { int v = 1; "
    "t = std::jthread([&v] { x.store(v); }); }",
    "before the threads of a vector": "std::vector<std::jthread> all; int v = 1; "
    "all.emplace_back([&v] { x.store(v); });",
    "in a round of a loop": "std::vector<std::jthread> all; for (int n = 0; n < 1; n++) { "
    "int v = n; all.emplace_back([&v] { x.store(v); }); }",
}
ALIVE = {
    "after the thread that is declared after it": "int v = 1; "
    "std::jthread t([&v] { x.store(v); });",
    "after the threads of a vector": "int v = 1; std::vector<std::jthread> all; "
    "all.emplace_back([&v] { x.store(v); });",
    "joined in its block": "std::thread t; { int v = 1; t = std::thread([&v] { x.store(v); }); "
    "t.join(); }",
    "a temporary object that a reference extends": "const int &v = int(3); "
    "std::jthread t([&v] { x.store(v); });",
    "left by return": "int v = 1; std::jthread t([&v] { x.store(v); }); "
    "if (x.load()) return RESULT; int w = 2; std::jthread u([&w] { x.store(w); });",
}


def programs(body: str) -> dict[str, str]:
    """In `main`, and in a function that it calls."""
    return {
        "main": PROGRAM.format(main=body.replace("RESULT", "0"), function=""),
        "function": PROGRAM.format(main="in_a_function();", function=body.replace("RESULT", "")),
    }


@pytest.mark.parametrize("where", ["main", "function"])
@pytest.mark.parametrize("how", ENDED)
def test_a_thread_uses_a_variable_that_has_ended(tmp_path: Path, how: str, where: str) -> None:
    assert kinds(tmp_path / "it.cpp", programs(ENDED[how])[where]) == "memory"


@pytest.mark.parametrize("where", ["main", "function"])
@pytest.mark.parametrize("how", ALIVE)
def test_a_thread_uses_a_variable_that_is_alive(tmp_path: Path, how: str, where: str) -> None:
    assert kinds(tmp_path / "it.cpp", programs(ALIVE[how])[where]) == "Safe"


def test_the_local_variables_of_main_live_until_the_process_ends(tmp_path: Path) -> None:
    text = """
    #include <pthread.h>
    #include <stdatomic.h>
    static void *use(void *p) { atomic_store((atomic_int *)p, 1); return 0; }
    int main(void) {
        atomic_int x;
        pthread_t t;
        atomic_init(&x, 0);
        pthread_create(&t, 0, use, &x);
        return 0;
    }
    """
    assert kinds(tmp_path / "it.c", text) == "Safe"


@pytest.mark.parametrize("tag", ["", '[[gnu::abi_tag("tag")]]'])
@pytest.mark.parametrize("local", [False, True])
def test_a_destructor_that_is_not_inlined_uses_its_object(
    tmp_path: Path, tag: str, local: bool
) -> None:
    nested = (
        f"struct Nested {{ int n; {tag} ~Nested() {{ if (n) Nested{{n - 1}}; x.store(n); }} }};"
    )
    outside, inside = ("", nested) if local else (nested, "")
    text = f"""
    #include <atomic>
    static std::atomic<int> x{{0}};
    {outside}
    int main() {{
        {inside}
        {{
            Nested object{{1}};
            x.store(2);
        }}
        return x.load() - 1;
    }}
    """
    assert kinds(tmp_path / "it.cpp", text) == "Safe"
