"""The weakest memory orders of an object hold for all of its clients up to a size."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import click
import msgspec
import pytest

import weakspot
from weakspot.harness.cli import weakspot as commands
from weakspot.harness.cli.errors import guarded
from weakspot.harness.clients.subject import ClientChoice, Variation
from weakspot.harness.orders.relaxation import Relaxed, findings

PAGE = Path(__file__).parents[2] / "docs" / "linearizability.md"
ROLES = {"producer": ("push",), "consumer": ("pop",)}
RING = ClientChoice("queue", calls=4, threads=2, roles=ROLES, variation=Variation(capacity=2))
AS_QUEUE = ("--as", "queue", "--capacity", "2", "--role", "producer=push", "--role", "consumer=pop")
HEADER = """\
#include <stdatomic.h>
#include <stdbool.h>
struct ring { atomic_uint head, tail; int slots[2]; };
static inline bool ring_push(struct ring *q, int value) {
  unsigned t = q->tail;
  if (t - q->head == 2) return false;
  q->slots[t % 2] = value;
  q->tail = t + 1;
  return true;
}
static inline bool ring_pop(struct ring *q, int *value) {
  unsigned h = q->head;
  if (h == q->tail) return false;
  *value = q->slots[h % 2];
  q->head = h + 1;
  return true;
}
"""


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ring of the page, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (text,) = re.findall(r"`ring.c`:\n\n```c\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    path = tmp_path / "ring.c"
    path.write_text(text)
    return path


def relaxed(calls: int, seconds: float | None = None) -> Relaxed:
    choice = msgspec.structs.replace(RING, calls=calls)
    results = weakspot.relax_object("ring.c", choice, machine_models=(), seconds=seconds)
    (found,) = results
    return found


def by_line(found: Relaxed) -> dict[int, str]:
    best = found.best
    assert best is not None
    return {each.line: order for each, order in zip(found.annotations, best.orders, strict=True)}


@pytest.mark.usefixtures("ring")
def test_a_proposal_holds_for_the_clients_that_fill_the_object() -> None:
    """The check whether the ring is full has to acquire once a slot is used again."""
    found = relaxed(4)
    assert by_line(found) | {8: "", 17: ""} == {
        8: "",
        9: "acq",
        12: "rel",
        17: "",
        18: "acq",
        21: "rel",
    }
    best = found.best
    assert best is not None
    why = dict(zip((each.line for each in found.annotations), best.needs, strict=True))
    assert [need.below for line in (9, 12, 18, 21) for need in why[line]] == ["rlx"] * 4
    assert not {9, 12, 18, 21} & {found.annotations[at].line for at in found.unexercised}


@pytest.mark.usefixtures("ring")
def test_what_no_client_exercises_keeps_its_memory_order() -> None:
    """No slot is used again within three calls: the check is in no proposal to relax it."""
    found = relaxed(3)
    assert by_line(found)[9] == "acq"
    assert by_line(found)[21] == "rel"
    apart = {found.annotations[at].line: each for at, each in found.unexercised.items()}
    assert apart[9].guarantees == ("acquire",)
    assert apart[9].others == ("ring.c:21",)
    assert not any("rlx" in each.message for each in findings(found))


@pytest.mark.usefixtures("ring")
def test_messages_name_the_clients_that_were_checked() -> None:
    found = relaxed(3)
    count = len(found.scenarios)
    assert count > 10
    where = f"all {count} clients of up to 3 calls in 2 threads"
    assert all(f"suffices (checked in {where})" in each.message for each in findings(found))


@pytest.mark.usefixtures("ring")
def test_a_search_that_runs_out_of_time_is_undecided() -> None:
    weakspot.relax_object("ring.c", RING)  # what is compiled is cached
    found = relaxed(4, seconds=0.5)
    assert not found.decided
    assert any("time limit" in note for note in found.notes)


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize("seconds", [0.001, 1.0, 3.0])
def test_a_search_that_ends_before_it_begins_names_what_is_done(
    seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 3 seconds, all that comes before the search may be done on a fast machine."""
    options = (*AS_QUEUE, "--threads", "2", "--client-calls", "6", "--for", f"{seconds}s")
    assert guarded(commands, ("relax", "ring.c", *options)) == 3
    printed = capsys.readouterr()
    text = printed.out + printed.err
    assert "time limit" in text
    assert "in 0 clients" not in text
    assert "-0." not in text, "the time of the limit"
    if "come before the search" in text:
        assert re.search(r"[\d,]+ of the [\d,]+ explorations were done", text)
    if "compiler" in text:
        assert "ring.c" in printed.err


@pytest.mark.usefixtures("ring")
def test_a_limit_that_ends_with_the_clients_leaves_the_answer_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*_: object, **__: object) -> int:
        time.sleep(0.02)
        return 0

    monkeypatch.setattr("weakspot.harness.cli.linearize.check_clients", shown)
    assert guarded(commands, ("relax", "ring.c", *AS_QUEUE, "--for", "0.01s")) == 3
    assert "no weaker memory order was tried" in capsys.readouterr().err


def test_the_change_that_is_applied_is_the_one_that_is_printed(
    ring: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = (*AS_QUEUE, "--client-calls", "3", "--threads", "2", "-m", "rc20")
    before = ring.read_text()
    assert guarded(commands, ("relax", "ring.c", *options, "--diff")) == 1
    patch = capsys.readouterr().out
    added = [line[1:] for line in patch.splitlines() if line.startswith("+ ")]
    assert ring.read_text() == before
    assert guarded(commands, ("relax", "ring.c", *options, "--apply")) == 1
    capsys.readouterr()
    changed = set(ring.read_text().splitlines()) - set(before.splitlines())
    assert changed == set(added)
    assert guarded(commands, ("relax", "ring.c", *options, "--json")) == 0
    whole, *further = map(json.loads, capsys.readouterr().out.splitlines())
    assert (whole["clients"], further) == ({"calls": 3, "threads": 2}, [])


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_object_that_is_not_linearizable_is_reported_as_linearize_does(
    ring: Path, capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    late = ring.read_text().replace(
        "  slot[t % 2] = value;\n  atomic_store(&tail, t + 1);",
        """\
  atomic_store(&tail, t + 1);
  slot[t % 2] = value;""",
    )
    ring.write_text(late)
    printed = []
    for command in ("linearize", "relax"):
        assert guarded(commands, (command, "ring.c", *AS_QUEUE, *form)) == 1
        out = capsys.readouterr().out
        printed.append(re.sub(r'\d+\.\d+ s|"seconds":[^,]*', "", out))
    assert printed[0] == printed[1]
    assert guarded(commands, ("relax", "ring.c", *AS_QUEUE, "--diff")) == 1
    assert capsys.readouterr().out == ""
    assert guarded(commands, ("relax", "ring.c", *AS_QUEUE, "--apply")) == 1
    assert ring.read_text() == late


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ring.c", "--capacity", "2"), "--capacity requires --as"),
        (("ring.c", "ring.c", "--as", "queue"), "--as requires one file"),
        (("ring.c", "--as", "quue"), "did you mean queue?"),
        (("ring.c", "--as", "queue", "--check"), "leave --as out"),
        (("ring.c", "--as", "queue", "-m", "imm"), "which call happens before which"),
        (("none.c", "--as", "queue"), "cannot read none.c"),
        (("ring.h", "--as", "queue"), "weakspot new queue ring.h writes a C or C++ file"),
        (("ring.h", "--as", "queue", "--apply"), "a header, not the operations of an object"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    ring: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    (ring.parent / "ring.h").write_text(HEADER)
    assert guarded(commands, ("relax", *words)) == 2
    assert says in capsys.readouterr().err
    assert {each.name for each in ring.parent.iterdir()} == {"ring.c", "ring.h"}


@pytest.mark.usefixtures("ring")
def test_a_header_is_relaxed_by_the_file_that_new_writes(
    ring: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ring.with_name("ring.h")
    header.write_text(HEADER)
    assert guarded(commands, ("new", "queue", "ring.h", "--calls", "2")) == 1  # two producers
    roles = ("--role", "producer=enqueue", "--role", "consumer=dequeue", "--capacity", "2")
    path = "tests/weakspot/operations/ring.c"
    options = ("--as", "queue", "-I", ".", *roles, "--threads", "2", "--client-calls", "4")
    assert guarded(commands, ("relax", path, *options, "-m", "rc20", "--apply")) == 1
    assert "changed ring.h" in capsys.readouterr().out
    changed = header.read_text()
    assert changed.count("memory_order_acquire") == changed.count("memory_order_release") == 2


def test_the_options_that_choose_clients_are_the_same_for_every_command() -> None:
    def options(name: str) -> dict[str, str | None]:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        return {
            each.opts[0]: each.help for each in command.params if isinstance(each, click.Option)
        }

    of_linearize = options("linearize")
    own = {"--as", "--threads", "--operations", "--role", "--operation", "--capacity"}
    own |= {"--relaxed", "--quasi", "--per-producer", "--spurious", "--blocking", "--empty"}
    for name in ("relax", "mutate"):
        assert {each: options(name)[each] for each in own} == {
            each: of_linearize[each] for each in own
        }


@pytest.mark.usefixtures("ring")
def test_clients_are_explored_under_models_of_machines() -> None:
    """Main calls operations before it creates the threads that it joins, and the reads of these
    calls may be postponed."""
    (found,) = weakspot.relax_object("ring.c", RING)
    assert found.machine_models == ("imm",)
    assert found.notes == ()
