"""Which clients there are: all of them up to a size, none twice."""

from __future__ import annotations

import itertools

import pytest

from weakspot.harness.clients.clients import Client, Signature, clients

QUEUE = (Signature("put", ("value",)), Signature("take", ()))
SET = (Signature("insert", ("key",)), Signature("contains", ("key",)))
ONE_PRODUCER = (Signature("put", ("value",), "producer"), Signature("take", ()))
REGISTER = (Signature("read", ()), Signature("cas", ("known", "value")))


def texts(operations: tuple[Signature, ...], calls: int, threads: int = 2) -> list[str]:
    return [each.text(operations) for each in clients(operations, calls=calls, threads=threads)]


def test_two_calls_in_two_threads() -> None:
    assert texts(QUEUE, 2) == [
        "put(1) put(2)",
        "put(1) take()",
        "take() put(1)",
        "take() take()",
        "put(1) | put(2)",
        "put(1) | take()",
        "take() | take()",
    ]


def test_main_calls_before_and_after() -> None:
    found = texts(QUEUE, 4)
    assert "first put(1); put(2) | take(); then take()" in found
    assert "put(1) | put(2); then take() take()" in found


def test_keys_are_equal_or_not() -> None:
    found = [each for each in texts(SET, 2) if "|" in each]
    assert found == [
        "insert(1) | insert(1)",
        "insert(1) | insert(2)",
        "insert(1) | contains(1)",
        "insert(1) | contains(2)",
        "contains(1) | contains(1)",
        "contains(1) | contains(2)",
    ]


def test_what_is_expected_is_the_initial_value_or_one_that_is_written() -> None:
    assert "cas(0, 1) | cas(1, 2)" in texts(REGISTER, 2)
    assert not any("cas(3" in each for each in texts(REGISTER, 2))


def test_a_role_is_one_thread() -> None:
    found = texts(ONE_PRODUCER, 3, threads=3)
    assert "put(1) | take() take()" in found
    assert "take() | put(1) put(2)" in found
    for client in clients(ONE_PRODUCER, calls=3, threads=3):
        producers = [each for each in client.threads if any(call.operation == 0 for call in each)]
        assert len(producers) <= 1


@pytest.mark.parametrize("operations", [QUEUE, SET, REGISTER])
@pytest.mark.parametrize("calls", [2, 3, 4])
def test_each_client_is_there_once_up_to_symmetry(
    operations: tuple[Signature, ...], calls: int
) -> None:
    found = list(clients(operations, calls=calls, threads=3))
    assert all(each.size == calls for each in found)

    def least(client: Client) -> object:
        """The same for clients that differ in the numbers of threads and values only."""
        return min(
            tuple(renamed(operations, client, order))
            for order in itertools.permutations(client.threads)
        )

    assert len({least(each) for each in found}) == len(found)


def renamed(
    operations: tuple[Signature, ...], client: Client, threads: tuple[object, ...]
) -> list[object]:
    """The calls with these threads, values and keys numbered as they come."""
    numbers: dict[tuple[str, int], int] = {}
    lines: list[object] = []
    for calls in (client.before, *threads, client.after):
        line = []
        for call in calls:  # type: ignore[attr-defined]
            given = []
            for kind, number in zip(
                operations[call.operation].arguments, call.arguments, strict=True
            ):
                named = ("key" if kind == "key" else "value", number)
                given.append(0 if number == 0 else numbers.setdefault(named, len(numbers) + 1))
            line.append((call.operation, tuple(given)))
        lines.append(tuple(line))
    return lines
