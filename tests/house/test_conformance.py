"""scripts/conformance compares weakspot's answers with those that a peer publishes."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from ended import execute

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "conformance"

SB = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int a, b;

void *one(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_ORDER);
  a = atomic_load_explicit(&y, memory_order_ORDER);
  return unused;
}

void *other(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_ORDER);
  b = atomic_load_explicit(&x, memory_order_ORDER);
  return unused;
}

int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, one, 0);
  pthread_create(&u, 0, other, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
#ifdef CHECKED
  assert(a || b);
#endif
  return 0;
}
"""

LITMUS = """\
AArch64 SB
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 MOV W0,#1   | MOV W0,#1   ;
 STR W0,[X1] | STR W0,[X1] ;
 LDR W2,[X3] | LDR W2,[X3] ;
exists (0:X2=0 /\\ 1:X2=0)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def conformance(peer: str, folder: Path) -> tuple[int, list[dict[str, str]], str]:
    """The exit code, the answers, and what is printed."""
    answers = folder / "answers.jsonl"
    done = execute(sys.executable, SCRIPT, peer, folder, "--json", answers, cwd=ROOT)
    rows = answers.read_text().splitlines() if answers.exists() else [done.err]
    return done.code, [json.loads(row) for row in rows], done.out


def kinds(rows: list[dict[str, str]]) -> dict[str, str]:
    return {f"{row['test']} {row['model']}": row["kind"] for row in rows}


@pytest.mark.usefixtures("cache")
def test_executions_and_violations_are_compared_with_those_of_genmc(tmp_path: Path) -> None:
    relaxed = SB.replace("ORDER", "relaxed")
    write(
        tmp_path,
        {
            "tests/correct/litmus/SB/variants/sb0.c": relaxed,
            "tests/correct/litmus/SB/expected.rc11.mo.in": "4\n",
            "tests/correct/litmus/SB/expected.sc.mo.in": "4\n",
            "tests/wrong/safety/SB/variants/sb0.c": f"#define CHECKED\n{relaxed}",
        },
    )
    code, rows, printed = conformance("genmc", tmp_path)
    assert kinds(rows) == {
        "litmus/SB/sb0 sc": "different",
        "litmus/SB/sb0 rc20": "equal",
        "safety/SB/sb0 rc20": "equal",
        "safety/SB/sb0 imm": "equal",
    }
    assert "different: litmus/SB/sb0 under sc: expected 4, weakspot: 3" in printed
    assert code == 1


@pytest.mark.usefixtures("cache")
def test_a_test_that_is_not_read_is_not_equal(tmp_path: Path) -> None:
    unread = LITMUS.replace("LDR W2,[X3]", "NONE W2,[X3]")
    write(
        tmp_path,
        {
            "herd/tests/instructions/AArch64/A01.litmus": LITMUS,
            "herd/tests/instructions/AArch64/A01.litmus.expected": "Test SB Allowed\nOk\n",
            "herd/tests/instructions/AArch64/A02.litmus": unread,
            "herd/tests/instructions/AArch64/A02.litmus.expected": "Test SB Allowed\nOk\n",
        },
    )
    code, rows, printed = conformance("herdtools7", tmp_path)
    assert kinds(rows) == {"AArch64/A01 aarch64": "equal", "AArch64/A02 aarch64": "unread"}
    assert "unread: AArch64/A02 under aarch64: expected Ok, weakspot: unread" in printed
    assert code == 1


PASSES = """\
#include <pthread.h>
#include <stdatomic.h>

atomic_int data, flag;

void *writes(void *unused) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&flag, 1, memory_order_release);
  atomic_store_explicit(&flag, 2, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writes, 0);
  int seen = atomic_load_explicit(&flag, memory_order_acquire);
  int read = atomic_load_explicit(&data, memory_order_relaxed);
  pthread_join(t, 0);
  return seen + read;
}
"""

EXPLAINED = """\
[[different]]
tests = ["passes"]
answer = "4"
because = "release sequences"
under = "UNDER"
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("model", "explains"), [("genmc-imm.cat", True), ("imm.cat", False)])
def test_an_explanation_by_a_model_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, explains: bool
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    answers = importlib.import_module("peers.answers")
    expectations = importlib.import_module("peers.expectations")
    cats = {"genmc-imm.cat": ROOT / "scripts" / "peers", "imm.cat": ROOT / "models"}
    write(tmp_path, {"passes.c": PASSES, "peer.toml": EXPLAINED.replace("UNDER", model)})
    (tmp_path / model).symlink_to(cats[model] / model)
    explanations = answers.Explanations(tmp_path / "peer.toml")
    expected = expectations.Expectation("", "passes", tmp_path / "passes.c", "imm", "5")
    because = "release sequences" if explains else ""
    assert explanations.of(expected, "4", 20) == because
    assert explanations.unused == ([] if explains else ["release sequences"])


def test_a_folder_that_is_no_checkout_is_an_error(tmp_path: Path) -> None:
    errors = execute(sys.executable, SCRIPT, "nidhugg", tmp_path).reported(2)
    assert errors.startswith("error: not a checkout of nidhugg: no folder tests/litmus in ")
