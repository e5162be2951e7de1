"""What happens inside a library is one line of a witness per call."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded

RING = """
    #include <stdatomic.h>
    static int slot[2];
    static atomic_uint head, tail;
    static int push(int value) {
      unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
      if (t - atomic_load_explicit(&head, memory_order_acquire) == 2) return 0;
      slot[t % 2] = value;
      atomic_store_explicit(&tail, t + 1, memory_order_release);
      return 1;
    }
    static int pop(int *value) {
      unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
      if (h == atomic_load_explicit(&tail, memory_order_acquire)) return 0;
      *value = slot[h % 2];
      atomic_store_explicit(&head, h + 1, memory_order_release);
      return 1;
    }
"""
USER = """
    #include <assert.h>
    #include <pthread.h>
    #include "../library/ring.h"
    static int data;
    static void *producer(void *unused) { push(1); data = 1; return unused; }
    int main(void) {
      int value;
      pthread_t thread;
      pthread_create(&thread, 0, producer, 0);
      if (pop(&value)) assert(data == 1);
      pthread_join(thread, 0);
    }
"""


@pytest.fixture
def shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Prints what a command shows of the execution in which the assertion fails; the ring belongs
    to the project unless it `is_outside`."""

    def printed(
        *arguments: str, is_outside: bool = True, others: dict[str, str] | None = None
    ) -> str:
        files = {"library/ring.h": RING, "project/user.c": USER, **(others or {})}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        root = tmp_path / "project" if is_outside else tmp_path
        (root / "weakspot.toml").write_text("")
        monkeypatch.chdir(tmp_path / "project")
        capsys.readouterr()
        assert guarded(weakspot, arguments) == 1
        out = capsys.readouterr().out
        return out[out.index("WS101") :].split("\n\n")[0]

    return printed


SPINNING = """
    #include <pthread.h>
    #include <stdatomic.h>
    static atomic_int go, count;
    static void *run(void *unused) {
      for (int i = 0; i < 40; i++) {
        atomic_fetch_xor_explicit(&go, 0, memory_order_relaxed);
        if (i == 20) atomic_fetch_xor_explicit(&go, 0, memory_order_acquire);
      }
      return unused;
    }
    int main(void) {
      pthread_t thread;
      pthread_create(&thread, 0, run, 0);
      while (!atomic_load_explicit(&go, memory_order_acquire)) {}
      pthread_join(thread, 0);
    }
"""


def test_rounds_alike_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spin.c").write_text(textwrap.dedent(SPINNING))
    for options, count in (((), 3), (("--unfold",), 41)):
        assert guarded(weakspot, ["check", "spin.c", "--model", "sc", *options]) == 1
        out = capsys.readouterr().out
        assert out.count("update go: 0 → 0") == count
        assert re.findall(r"–\w+  (\d+) more rounds alike", out) == (
            [] if options else ["20", "18"]
        )


COMMANDS = [("check", "user.c", "--model", "rc20"), ("gate", "user.c", "--no-cache")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_call_of_a_library_is_one_line(
    shown: Callable[..., str], command: tuple[str, ...]
) -> None:
    text = shown(*command)
    assert re.search(r"user\.c:11 call pop \(\d events?\)", text)
    assert re.search(r"user\.c:6 call push \(\d events?\)", text)
    assert "ring.h" not in text.partition("main")[2].partition("cycle")[0]
    assert "load data = 0" in text


def test_a_call_in_another_folder_has_a_short_name(shown: Callable[..., str]) -> None:
    facade = """
        #include "../../library/ring.h"
        static int put(int value) { return push(value); }
        static int get(int *value) { return pop(value); }
    """
    user = USER.replace("library/ring.h", "include/facade.h").replace("push(", "put(")
    files = {
        "project/include/facade.h": facade,
        "project/tests/user.c": user.replace("pop(", "get("),
    }
    text = shown("gate", "tests/user.c", "--no-cache", others=files)
    assert re.search(r" facade\.h:3 call push \(\d events?\)", text), text


@pytest.mark.parametrize("command", COMMANDS)
def test_unfold_shows_what_happens_inside_a_library(
    shown: Callable[..., str], command: tuple[str, ...]
) -> None:
    text = shown(*command, "--unfold")
    assert "call p" not in text
    assert "ring.h:9 store tail = 1 (rel)" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_headers_of_the_project_are_not_folded(
    shown: Callable[..., str], command: tuple[str, ...]
) -> None:
    assert "call p" not in shown(*command, is_outside=False)
