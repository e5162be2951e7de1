"""The beginnings and ends of objects, of synchronisation objects, of threads and of the process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explored_programs import explored, kinds, program, violated

from weakspot._engine import Program
from weakspot.harness.values.bounds import Part

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

MODELS = ("sc", "tso", "rc11", "rc20")


def messages(found: ExplorationDict) -> list[str]:
    return [violation["message"] for violation in found["violations"]]


def loading(order: str) -> str:
    return f"atomic_load_explicit(&published, memory_order_{order})"


def storing(order: str) -> str:
    return f"atomic_store_explicit(&published, node, memory_order_{order})"


# --- allocations --------------------------------------------------------------------------------

NODE = """
struct node { atomic_int count; struct node *next; };
struct node *_Atomic published;
void *publish(void *p) {
    struct node *node = calloc(1, sizeof *node);
    PUBLISH;
    return 0;
}
void *use(void *p) {
    struct node *node = READ;
    if (node) USE;
    return 0;
}
"""
USES = {
    "an update": "atomic_fetch_add(&node->count, 1)",
    "a read": "assert(LOAD(node->count) < 2)",
    "a plain read": "assert(!node->next)",
    "a free": "free(node)",
}


def node(folder: Path, use: str, store: str, load: str) -> Program:
    text = NODE.replace("PUBLISH", storing(store)).replace("READ", loading(load))
    return program(folder, text.replace("USE", use), "publish", "use")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("store", "load", "ordered"),
    [("release", "acquire", True), ("relaxed", "acquire", False), ("release", "relaxed", False)],
)
def test_the_allocation_of_a_published_object_happens_before_its_use(
    tmp_path: Path, use: str, store: str, load: str, *, ordered: bool
) -> None:
    """A regression test of GenMC's kind: a node is published by a store that is not a release."""
    published = node(tmp_path, USES[use], store, load)
    for model in ("rc11", "rc20"):
        found = explored(published, model)
        expected = [] if ordered else ["use not ordered with the allocation"]
        assert messages(found) == expected, model
        assert kinds(found) == ({"memory"} if not ordered else set())
    for model in ("sc", "tso"):  # these order what a thread does by what others read of it
        assert explored(published, model)["result"] == "Safe"


def test_an_object_that_main_allocates_before_it_starts_the_threads_is_theirs(
    tmp_path: Path,
) -> None:
    text = """
    atomic_int *box;
    void *use(void *p) { atomic_fetch_add(box, 1); return 0; }
    int main(void) {
        pthread_t a, b;
        box = calloc(1, sizeof *box);
        pthread_create(&a, 0, use, 0);
        pthread_create(&b, 0, use, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        free(box);
    }
    """
    assert explored(program(tmp_path, text), "rc20")["result"] == "Safe"


def test_a_local_variable_that_is_published_too_early_is_reported_likewise(tmp_path: Path) -> None:
    text = """
    atomic_int *_Atomic published;
    atomic_int done;
    void *one(void *p) {
        atomic_int mine;
        atomic_store_explicit(&published, &mine, ORDER);
        while (!atomic_load_explicit(&done, memory_order_acquire)) { }
        return 0;
    }
    void *two(void *p) {
        atomic_int *its = atomic_load_explicit(&published, memory_order_acquire);
        if (its) STORE(*its, 1);
        atomic_store_explicit(&done, 1, memory_order_release);
        return 0;
    }
    """
    early = program(tmp_path, text.replace("ORDER", "memory_order_relaxed"), "one", "two")
    assert messages(explored(early, "rc20")) == ["use not ordered with the allocation"]
    right = program(tmp_path, text.replace("ORDER", "memory_order_release"), "one", "two")
    assert explored(right, "rc20")["result"] == "Safe"


def test_uninitialised_memory_is_reported_once(tmp_path: Path) -> None:
    text = NODE.replace("calloc(1, sizeof *node)", "malloc(sizeof *node)")
    text = text.replace("PUBLISH", "STORE(node->count, 0); " + storing("relaxed"))
    text = text.replace("READ", loading("acquire")).replace("USE", USES["a read"])
    assert kinds(explored(program(tmp_path, text, "publish", "use"), "rc20")) == {"uninitialised"}


# --- synchronisation objects ----------------------------------------------------------------------

MUTEX = """
pthread_mutex_t m;
void *use(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t t;
    pthread_mutex_init(&m, 0);
    pthread_create(&t, 0, use, 0);
    MEANWHILE
    pthread_join(t, 0);
    AFTER
}
"""
DESTROY = "pthread_mutex_destroy(&m);"
INIT = "pthread_mutex_init(&m, 0);"
LOCK = "pthread_mutex_lock(&m);"
UNLOCK = "pthread_mutex_unlock(&m);"
ZERO = "m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;"


def mutex(folder: Path, meanwhile: str = "", after: str = "") -> Program:
    return program(folder, MUTEX.replace("MEANWHILE", meanwhile).replace("AFTER", after))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("after", "message"),
    [
        (DESTROY, ""),
        (DESTROY + INIT + LOCK, ""),
        (DESTROY + DESTROY, "destruction of a destroyed mutex"),
        (DESTROY + LOCK, "lock of a destroyed mutex"),
        (DESTROY + "pthread_mutex_trylock(&m);", "lock of a destroyed mutex"),
        (LOCK + DESTROY, "destruction of a mutex that is held"),
        (INIT, "initialisation of a mutex that is initialised"),
        (LOCK + INIT, "initialisation of a mutex that is initialised"),
        (ZERO + LOCK + UNLOCK + INIT + LOCK, ""),
        (ZERO + LOCK + INIT, "initialisation of a mutex that is held"),
    ],
)
def test_a_mutex_is_destroyed_and_initialised_once_when_it_is_free(
    tmp_path: Path, model: str, after: str, message: str
) -> None:
    for part in (Part(), Part(reference=True)):
        found = explored(mutex(tmp_path, after=after), model, part=part)
        assert messages(found) == ([message] if message else [])
        assert kinds(found) == ({"lock"} if message else set())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (DESTROY, "destruction of a mutex that is held"),
        (INIT, "initialisation of a mutex that is initialised"),
    ],
)
def test_a_mutex_that_another_thread_may_hold_is_neither_destroyed_nor_initialised(
    tmp_path: Path, model: str, call: str, message: str
) -> None:
    found = explored(mutex(tmp_path, meanwhile=call), model)
    assert kinds(found) == {"lock"}
    assert message in messages(found)


def test_destroying_a_mutex_needs_the_order_that_its_last_use_is_before(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    atomic_int done;
    void *one(void *p) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        atomic_store_explicit(&done, 1, ORDER);
        return 0;
    }
    void *two(void *p) {
        if (atomic_load_explicit(&done, memory_order_acquire)) pthread_mutex_destroy(&m);
        return 0;
    }
    """
    weak = program(tmp_path, text.replace("ORDER", "memory_order_relaxed"), "one", "two")
    assert explored(weak, "sc")["result"] == "Safe"
    (found,) = explored(weak, "rc20")["violations"]
    assert found["kind"] == "lock"
    assert found["message"] == "destruction of a mutex that is held"  # as this thread may see it
    right = program(tmp_path, text.replace("ORDER", "memory_order_release"), "one", "two")
    assert explored(right, "rc20")["result"] == "Safe"


CONDITION = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c;
int ready;
void *wait(void *p) {
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_cond_init(&c, 0);
    pthread_create(&t, 0, wait, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    CALLS
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
}
"""
WAKE = "pthread_cond_broadcast(&c);"
END = "pthread_cond_destroy(&c);"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (WAKE + END, ""),  # POSIX, pthread_cond_destroy, example: no thread is blocked any more
        (END, "destruction of a condition variable for which a thread waits"),
        ("pthread_cond_init(&c, 0);" + WAKE, "initialisation of a condition variable"),
        (WAKE + END + WAKE, "use of a destroyed condition variable"),
        (WAKE + END + END, "destruction of a destroyed condition variable"),
    ],
)
def test_a_condition_variable_is_destroyed_when_nobody_waits(
    tmp_path: Path, model: str, calls: str, message: str
) -> None:
    found = explored(program(tmp_path, CONDITION.replace("CALLS", calls)), model)
    assert kinds(found) == ({"lock"} if message else set())
    assert all(each.startswith(message) for each in messages(found))


BARRIER = """
pthread_barrier_t b;
void *one(void *p) { FIRST return 0; }
void *two(void *p) { SECOND return 0; }
int main(void) {
    pthread_t t, u;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
"""
MEET = "pthread_barrier_wait(&b);"
LAST = "if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) pthread_barrier_destroy(&b);"


@pytest.mark.parametrize("model", MODELS)
def test_a_barrier_is_destroyed_when_nobody_waits(tmp_path: Path, model: str) -> None:
    def under(first: str, second: str) -> list[str]:
        text = BARRIER.replace("FIRST", first).replace("SECOND", second)
        return messages(explored(program(tmp_path, text), model))

    assert under(LAST, LAST) == []
    assert set(under(MEET, "pthread_barrier_destroy(&b);" + MEET)) == {
        "destruction of a barrier at which a thread waits",
        "use of a destroyed barrier",
    }
    again = "pthread_barrier_init(&b, 0, 2);"
    twice = "initialisation of a barrier that is initialised"
    assert twice in under(MEET, again + MEET)
    assert under(MEET, MEET + again) == [twice]


def test_a_barrier_is_initialised_again_in_an_execution_of_weak_memory(tmp_path: Path) -> None:
    text = """
    pthread_barrier_t b;
    atomic_int x, y;
    void *one(void *p) { STORE(x, 1); atomic_store_explicit(&y, 1, ORDER); return 0; }
    void *two(void *p) {
        if (atomic_load_explicit(&y, memory_order_acquire) && !LOAD(x))
            pthread_barrier_init(&b, 0, 17);
        return 0;
    }
    int main(void) {
        pthread_t t, u;
        pthread_barrier_init(&b, 0, 42);
        pthread_create(&t, 0, one, 0);
        pthread_create(&u, 0, two, 0);
        pthread_join(t, 0);
        pthread_join(u, 0);
    }
    """
    weak = program(tmp_path, text.replace("ORDER", "memory_order_relaxed"))
    for part in (Part(), Part(reference=True)):
        assert explored(weak, "sc", part=part)["result"] == "Safe"
        violated(explored(weak, "rc20", part=part), "lock", "barrier that is initialised")
    right = program(tmp_path, text.replace("ORDER", "memory_order_release"))
    assert explored(right, "rc20")["result"] == "Safe"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BARRIER.replace("FIRST", MEET).replace("SECOND", "INIT" + MEET),
            "initialisation of a barrier that is initialised",
        ),
        (
            MUTEX.replace(UNLOCK, "STORE(locked, 1); LOAD(locked); " + UNLOCK)
            .replace("MEANWHILE", "if (LOAD(locked)) pthread_mutex_init(&m, 0);")
            .replace("AFTER", "")
            .replace("pthread_mutex_t m;", "pthread_mutex_t m; atomic_int locked;"),
            "initialisation of a mutex that is initialised",
        ),
    ],
    ids=["barrier", "mutex"],
)
def test_interleavings_show_that_an_object_in_use_is_initialised(
    tmp_path: Path, text: str, message: str
) -> None:
    traced = program(tmp_path, text.replace("INIT", "pthread_barrier_init(&b, 0, 2);")).trace()
    assert message in [run["message"] for run in traced["runs"]]


# --- joining and detaching threads ----------------------------------------------------------------

THREAD = """
atomic_int detached;
pthread_t t;
void *one(void *p) { BY_ITSELF return 0; }
void *two(void *p) { BY_ANOTHER return 0; }
int main(void) {
    pthread_t u;
    pthread_attr_t a;
    int state;
    pthread_attr_init(&a);
    pthread_attr_getdetachstate(&a, &state);
    if (state != PTHREAD_CREATE_JOINABLE) return 1;
    ATTRIBUTE
    pthread_create(&t, &a, one, 0);
    pthread_create(&u, 0, two, 0);
    BY_MAIN
    pthread_join(u, 0);
}
"""
JOIN, DETACH = "pthread_join(t, 0);", "pthread_detach(t);"
BY_ITSELF = {"BY_ITSELF": "pthread_detach(pthread_self());"}
BY_ATTRIBUTE = {"ATTRIBUTE": "pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"BY_MAIN": JOIN}, ""),
        ({"BY_MAIN": DETACH}, ""),
        (BY_ITSELF, ""),
        (BY_ATTRIBUTE, ""),
        ({"BY_MAIN": DETACH + JOIN}, "join of a detached thread"),
        ({"BY_MAIN": JOIN + DETACH}, "detachment of a joined thread"),
        ({"BY_MAIN": DETACH + DETACH}, "thread detached twice"),
        ({"BY_MAIN": JOIN + JOIN}, "thread joined twice"),
        ({"BY_MAIN": JOIN, "BY_ANOTHER": DETACH}, "join of a detached thread"),
        ({"BY_MAIN": DETACH, "BY_ANOTHER": DETACH}, "thread detached twice"),
        (BY_ITSELF | {"BY_MAIN": JOIN}, "join of a detached thread"),
        (BY_ATTRIBUTE | {"BY_MAIN": JOIN}, "join of a detached thread"),
        (BY_ATTRIBUTE | {"BY_MAIN": DETACH}, "thread detached twice"),
        (BY_ATTRIBUTE | {"BY_ANOTHER": JOIN}, "join of a detached thread"),
    ],
)
def test_a_thread_is_joined_or_detached_once(
    tmp_path: Path, model: str, where: dict[str, str], message: str
) -> None:
    text = THREAD
    for place in ("BY_MAIN", "BY_ANOTHER", "BY_ITSELF", "ATTRIBUTE"):
        text = text.replace(place, where.get(place, ""))
    thread = program(tmp_path, text)
    found = [each for each in explored(thread, model)["violations"] if each["kind"] != "unjoined"]
    assert {(each["kind"], each["message"]) for each in found} == (
        {("lock", message)} if message else set()
    )
    if message:
        assert message in [run["message"] for run in thread.trace()["runs"]]


# --- threads and the process ----------------------------------------------------------------------

UNJOINED = """
atomic_int go, done, gone;
void *one(void *p) { while (!LOAD(go)) { } STORE(done, 1); LAST return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    BODY
}
"""


def unjoined(folder: Path, body: str, last: str = "") -> ExplorationDict:
    text = UNJOINED.replace("BODY", body).replace("LAST", last)
    return explored(program(folder, text), "rc20")


@pytest.mark.parametrize(
    ("body", "warned"),
    [
        ("STORE(go, 1); return 0;", True),
        ("STORE(go, 1); exit(0);", True),
        ("STORE(go, 1); pthread_detach(t); return 0;", True),
        ("STORE(go, 1); pthread_join(t, 0); return 0;", False),
        ("STORE(go, 1); pthread_exit(0);", False),
        ("STORE(go, 1); pthread_detach(t); while (!LOAD(done)) { } return 0;", False),
    ],
)
def test_main_waits_for_its_threads(tmp_path: Path, body: str, *, warned: bool) -> None:
    found = unjoined(tmp_path, body)
    assert (found["result"], found["violations"]) == ("Safe", [])
    assert [each["kind"] for each in found["warnings"]] == (["unjoined"] if warned else [])


@pytest.mark.parametrize(
    ("body", "warned"), [("return 0;", True), ("pthread_exit(0);", False), ("exit(0);", True)]
)
def test_a_thread_that_main_leaves_behind_is_explored_to_its_end(
    tmp_path: Path, body: str, *, warned: bool
) -> None:
    hangs = unjoined(tmp_path, body)
    assert (hangs["result"], kinds(hangs)) == ("Violated", {"hang"})
    assert bool(hangs["warnings"]) is warned
    fails = unjoined(tmp_path, "STORE(go, 1); " + body, last="assert(0);")
    assert kinds(fails) == {"assertion"}


def test_a_thread_that_another_one_joins_is_over_with_it(tmp_path: Path) -> None:
    text = """
    void *inner(void *p) { return 0; }
    void *outer(void *p) {
        pthread_t t;
        pthread_create(&t, 0, inner, 0);
        JOIN
        return 0;
    }
    """
    joined = program(tmp_path, text.replace("JOIN", "pthread_join(t, 0);"), "outer")
    assert explored(joined, "rc20")["warnings"] == []
    left = program(tmp_path, text.replace("JOIN", ""), "outer")
    assert len(explored(left, "rc20")["warnings"]) == 1


def test_the_number_of_threads_is_counted(tmp_path: Path) -> None:
    assert explored(program(tmp_path, "int main(void) { return 0; }"), "rc20")["threads"] == 0
    started = program(tmp_path, MUTEX.replace("MEANWHILE", "").replace("AFTER", ""))
    assert explored(started, "rc20")["threads"] == 1
