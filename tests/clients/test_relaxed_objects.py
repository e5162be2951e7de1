"""Queues and stacks that promise less than the order in which their items came."""

from __future__ import annotations

from pathlib import Path

import pytest
from linearizing import OBJECTS, found

from weakspot.errors import BadInput
from weakspot.harness.clients.subject import Variation

PER_PRODUCER = Variation(per_producer=True)
LOCKED = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long items[8];
static int count;
void put(long value) {
  pthread_mutex_lock(&lock);
  items[count++] = value;
  pthread_mutex_unlock(&lock);
}
long take(void) {
  pthread_mutex_lock(&lock);
  long found = -1;
  if (count) {
    int at = AT;
    found = items[at];
    for (--count; at < count; ++at) items[at] = items[at + 1];
  }
  pthread_mutex_unlock(&lock);
  return found;
}
"""
SECOND, SECOND_LAST, LAST = "count > 1", "count > 1 ? count - 2 : 0", "count - 1"


@pytest.mark.parametrize(
    ("kind", "at", "variation", "client"),
    [
        ("queue", SECOND, Variation(), "put(1) put(2) take()"),
        ("queue", SECOND, Variation(relaxed=1), ""),
        ("queue", SECOND, Variation(quasi=1), "put(1) put(2) put(3) take() take()"),
        ("queue", LAST, Variation(relaxed=1), "put(1) put(2) put(3) take()"),
        ("queue", LAST, Variation(relaxed=2), ""),
        ("stack", SECOND_LAST, Variation(), "put(1) put(2) take()"),
        ("stack", SECOND_LAST, Variation(relaxed=1), ""),
    ],
)
def test_which_items_may_leave(
    kind: str, at: str, variation: Variation, client: str, tmp_path: Path
) -> None:
    path = tmp_path / "object.c"
    path.write_text(LOCKED.replace("AT", at))
    meanings = {"put": "push", "take": "pop"} if kind == "stack" else {}
    calls = max(4, client.count("("))
    answer = found(path, kind, variation, calls=calls, meanings=meanings)
    assert (answer.client, answer.result) == (client, "Violated" if client else "Held")


PRODUCERS = OBJECTS / "producers.c"
SEES_ALL = ("TAKEN_ORDER=memory_order_acq_rel", "FIRST_ORDER=memory_order_acquire")


def test_a_queue_that_keeps_order_per_producer_only() -> None:
    strict = found(PRODUCERS, "queue", defines=SEES_ALL)
    assert strict.client == "first put(1); put(2) | take()"
    assert found(PRODUCERS, "queue", PER_PRODUCER, defines=SEES_ALL, calls=4).result == "Held"


def test_a_take_that_passes_over_a_full_list_is_found() -> None:
    """Which items other threads have taken is seen without what they had seen."""
    answer = found(PRODUCERS, "queue", PER_PRODUCER, calls=4)
    assert answer.client == "put(1) take() | put(2) take()"
    may_fail = Variation(per_producer=True, spurious=("take",))
    assert found(PRODUCERS, "queue", may_fail, calls=4).result == "Held"


def test_order_per_producer_is_kept() -> None:
    answer = found(PRODUCERS, "queue", PER_PRODUCER, defines=("NEWEST=1", *SEES_ALL))
    assert answer.client == "put(1) put(2) take()"


@pytest.mark.parametrize(
    ("kind", "variation", "message"),
    [
        ("stack", PER_PRODUCER, "a stack has no variation per_producer"),
        ("counter", Variation(capacity=2), "a counter has no variation capacity"),
        ("queue", Variation(relaxed=1, quasi=1), "relaxed and quasi at once"),
    ],
)
def test_a_variation_without_meaning_is_an_error(
    kind: str, variation: Variation, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "object.c"
    text = "long get(void) { return 0; }" if kind == "counter" else LOCKED.replace("AT", "0")
    path.write_text(text)
    meanings = {"put": "push", "take": "pop"} if kind == "stack" else {}
    with pytest.raises(BadInput, match=message):
        found(path, kind, variation, meanings=meanings)
