"""Thread-local variables that other threads access through their addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program

HANDED = """
static _Thread_local atomic_int own;
static _Atomic(atomic_int *) shared;
static int data;
static void *waits(void *p) {
    atomic_store(&own, 1);
    atomic_store(&shared, &own);
    while (atomic_load_explicit(&own, memory_order_acquire)) {}
    data++;
    return 0;
}
static void *wakes(void *p) {
    atomic_int *other;
    while (!(other = atomic_load(&shared))) {}
    data++;
    atomic_store_explicit(other, 0, memory_order_RELEASE);
    return 0;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, FIRST, 0);
    pthread_create(&t[1], 0, SECOND, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}
"""


@pytest.mark.parametrize("order", [("waits", "wakes"), ("wakes", "waits")])
@pytest.mark.parametrize(("release", "found"), [("release", set()), ("relaxed", {"race"})])
def test_a_thread_waits_at_its_own_variable(
    tmp_path: Path, order: tuple[str, str], release: str, found: set[str]
) -> None:
    text = HANDED.replace("RELEASE", release)
    text = text.replace("FIRST", order[0]).replace("SECOND", order[1])
    answer = explored(program(tmp_path, text), "rc20")
    assert kinds(answer) == found
    assert answer["result"] == ("Violated" if found else "Safe")


SHOWN = """
static _Thread_local struct { long pad; atomic_int turn; } own;
static _Atomic(atomic_int *) shown;
static void *shows(void *p) {
    atomic_store_explicit(&own.turn, 1, memory_order_relaxed);
    atomic_store_explicit(&shown, &own.turn, memory_order_relaxed);
    return 0;
}
static void *looks(void *p) {
    atomic_int *other = atomic_load_explicit(&shown, memory_order_relaxed);
    if (other) assert(atomic_load_explicit(other, memory_order_relaxed) == 1);
    return 0;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, shows, 0);
    pthread_create(&t[1], 0, looks, 0);
    pthread_join(t[1], 0);
    pthread_join(t[0], 0);
    return 0;
}
"""


def test_a_witness_names_the_variable_and_its_thread(tmp_path: Path) -> None:
    found = explored(program(tmp_path, SHOWN), "rc20")["violations"]
    (violation,) = (each for each in found if each["kind"] == "assertion")
    assert violation["witness"] is not None
    named = {event["location"] for event in violation["witness"]["events"]}
    assert named - {""} == {"own@1.turn", "shown"}


ENDED = """
static _Thread_local int own;
static _Atomic(int *) shown;
static atomic_int looked;
static void *shows(void *p) {
    own = 1;
    atomic_store_explicit(&shown, &own, memory_order_release);
    UNTIL
    LEAVE;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, shows, 0);
    BEFORE
    int *other = atomic_load_explicit(&shown, memory_order_acquire);
    if (other) assert(*other == 1);
    atomic_store_explicit(&looked, 1, memory_order_RELEASE);
    AFTER
    return 0;
}
"""
WAITS = "while (!atomic_load_explicit(&looked, memory_order_acquire)) {}"
JOIN = "pthread_join(t, 0);"
AFTER = "use of a thread-local variable after the end of its thread"
UNORDERED = "use not ordered with the end of the thread whose thread-local variable it is"


@pytest.mark.parametrize("leave", ["return 0", "pthread_exit(0)"])
@pytest.mark.parametrize("model", ["sc", "tso", "rc20"])
@pytest.mark.parametrize(
    ("until", "release", "before", "after", "messages"),
    [
        (WAITS, "release", "", JOIN, []),
        (WAITS, "relaxed", "", JOIN, [UNORDERED]),
        ("", "release", "", JOIN, [UNORDERED]),
        ("", "release", JOIN, "", [AFTER]),
    ],
    ids=["waits", "waits relaxed", "does not wait", "is joined first"],
)
def test_a_thread_local_variable_ends_with_its_thread(
    tmp_path: Path,
    leave: str,
    model: str,
    until: str,
    release: str,
    before: str,
    after: str,
    messages: list[str],
) -> None:
    text = ENDED.replace("UNTIL", until).replace("LEAVE", leave).replace("RELEASE", release)
    text = text.replace("BEFORE", before).replace("AFTER", after)
    answer = explored(program(tmp_path, text), model)
    if model != "rc20" and release == "relaxed":
        messages = []  # sc and tso know no unordered accesses but by interleaving
    assert [each["message"] for each in answer["violations"]] == messages
