"""Registries: the implementations of one kind (checkers, runners, machine kinds…) by name.

In: a package whose modules each declare one implementation as a module-level constant, and the
entry points of other distributions. Out: the implementations. To add one is to add one file:
nothing else names it. Modules are imported when they are asked for, not before.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from weakspot.errors import BadInput, ToolFailed

if TYPE_CHECKING:
    from weakspot.system.tools import Requirement


class Entry(Protocol):
    """What every implementation has: the name that users give, and its rank in lists, of which
    the lowest is the default."""

    @property
    def name(self) -> str: ...

    @property
    def rank(self) -> int: ...


class ToolEntry(Entry, Protocol):
    """An implementation that needs tools, which `weakspot doctor` lists."""

    @property
    def requires(self) -> tuple[Requirement, ...]: ...


T = TypeVar("T", bound=Entry)


class Registry(Generic[T]):
    """The implementations of one `kind`, in the order of their ranks, those of other
    distributions last.

    Each module of `package` defines `constant` as its one implementation, and has that one's name,
    except for the modules `others`, which several implementations or other packages use. An
    installed distribution declares one by an entry point of the group `weakspot.KINDs` that leads
    to the object. `add` declares one for this process.
    """

    def __init__(
        self, kind: str, package: str, constant: str, *, others: tuple[str, ...] = ()
    ) -> None:
        self.kind, self.package, self.constant, self.others = kind, package, constant, others
        self._added: dict[str, T] = {}

    @property
    def group(self) -> str:
        """The group of entry points for this kind."""
        return f"weakspot.{self.kind.replace(' ', '_')}s"

    def __iter__(self) -> Iterator[T]:
        found = {each.name: each for each in (*self._own, *self._added.values())}
        yield from sorted(found.values(), key=lambda each: (each.rank, each.name))
        # looked for only when they are reached: the search is slow
        outside = {each.name: each for each in self._outside if each.name not in found}
        yield from sorted(outside.values(), key=lambda each: (each.rank, each.name))

    def names(self) -> tuple[str, ...]:
        """The names, the default first."""
        return tuple(each.name for each in self)

    @property
    def default(self) -> T:
        """The implementation to use where none is named."""
        return next(iter(self))

    def get(self, name: str) -> T:
        """The implementation of that name. Raises BadInput for a name that none has."""
        found = self.find(name)
        if found is None:
            known = ", ".join(self.names())
            raise BadInput(f"unknown {self.kind} {name!r}", advice=f"known: {known}")
        return found

    def find(self, name: str) -> T | None:
        """The implementation of that name, or None. Imports one module where that is enough."""
        if name in self._added:
            return self._added[name]
        if name in self._modules:
            return self._declared(name)
        return next((each for each in self if each.name == name), None)

    def add(self, entry: T) -> None:
        """Declare an implementation for this process; one of the same name is replaced."""
        self._added[entry.name] = entry

    def remove(self, name: str) -> None:
        """Take back what `add` declared."""
        del self._added[name]

    @cached_property
    def _modules(self) -> tuple[str, ...]:
        package = importlib.import_module(self.package)
        found = (each.name for each in pkgutil.iter_modules(package.__path__))
        return tuple(name for name in found if name not in self.others)

    @cached_property
    def _own(self) -> tuple[T, ...]:
        return tuple(map(self._declared, self._modules))

    def _declared(self, module: str) -> T:
        found: T = getattr(importlib.import_module(f"{self.package}.{module}"), self.constant)
        assert found.name == module, f"{self.package}.{module} declares {found.name}"
        return found

    @cached_property
    def _outside(self) -> tuple[T, ...]:
        from importlib.metadata import entry_points  # slow to import

        found = []
        for point in entry_points(group=self.group):
            try:
                found.append(point.load())
            except Exception as error:  # somebody else's code fails with whatever it likes
                raise ToolFailed(
                    f"the {self.kind} {point.name} of {point.value} cannot be loaded: {error}",
                    advice="repair or uninstall the package that declares it",
                ) from error
        return tuple(found)
