"""What may explain that answers of two records differ: texts, tools, models, machines, options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from weakspot.harness.values.descriptions import describe_machine
from weakspot.harness.values.difference import Difference, DifferenceKind
from weakspot.harness.values.record import Record


def text_differences(before: Record, after: Record) -> Iterator[Difference]:
    """Tests and programs of one name whose texts differ."""
    one, other = _digests(before), _digests(after)
    for name in one:
        if name in other and one[name] != other[name]:
            yield note("text", name, one[name], other[name])


def _digests(record: Record) -> dict[str, str]:
    hashed = {each.test: each.hash for each in record.verdicts if each.hash}
    hashed |= {each.test: each.hash for each in record.histograms if each.hash}
    written = {each.name: each.digest for each in record.entries}
    return {**hashed, **written, **record.manifest.programs}


def setting_differences(before: Record, after: Record) -> Iterator[Difference]:
    """Tools, models, machines and options."""
    one, other = before.manifest, after.manifest
    if not one.started or not other.started:
        return
    yield from _different("weakspot", {"": one.weakspot}, {"": other.weakspot})
    names = {**one.tools, **other.tools}
    tools = ({name: which.tools.get(name) or "absent" for name in names} for which in (one, other))
    yield from _different("tool", *tools)
    digests = ({each.name: each.digest for each in which.models} for which in (one, other))
    yield from _different("model", *digests)
    for name in {**before.machine, **after.machine}:
        if name not in after.machine or name not in before.machine:
            here = ("described" if name in each.machine else "absent" for each in (before, after))
            yield note("setting", f"machine {name}", *here)
    for name, machine in before.machine.items():
        if name in after.machine:
            now = after.machine[name]
            if not machine.is_same(now):
                described = describe_machine(machine), describe_machine(now)
                yield note("setting", f"machine {name} is another one", *described)
            profiles = machine.profile, now.profile
            yield from _different(f"machine {name}", *map(_steady, profiles))
    yield from _different("option", *(msgspec.to_builtins(each.plan) for each in (one, other)))


def _steady(profile: Mapping[str, object]) -> dict[str, object]:
    """What does not change from one measurement to the next."""
    return {name: value for name, value in profile.items() if not isinstance(value, float | list)}


def _different(
    what: str, before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[Difference]:
    for name in before:
        if name in after and before[name] != after[name]:
            subject = f"{what} {name}".strip()
            yield note("setting", subject, _shown(before[name]), _shown(after[name]))


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return str(value)


def note(kind: DifferenceKind, subject: str, before: str, after: str) -> Difference:
    """A difference that changes no answer."""
    return Difference(kind=kind, subject=subject, before=before, after=after, weight="note")
