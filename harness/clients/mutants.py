"""The clients that notice what no scenario notices.

In: a file with operations, what they do in sequence, and a change of a program (orders.mutants).
Out: the smallest client that violates something with that change, which can be written as a
scenario.
"""

from __future__ import annotations

from pathlib import Path

from weakspot.errors import BadInput
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.clients.clients import Client
from weakspot.harness.clients.search import Search, compiled, write_scenario
from weakspot.harness.clients.subject import Subject
from weakspot.harness.corpus.models import Model
from weakspot.harness.orders.mutants import Change, changes
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.linearizability import Size


class Clients:
    """The clients of an object, for changes of its source. The operations, as they are, violate
    nothing with any of them: what they violate would say nothing of a change."""

    def __init__(
        self, subject: Subject, program: Program, size: Size, bounds: Bounds, progress: Progress
    ) -> None:
        self._subject, self._program, self._size = subject, program, size
        self._bounds, self._progress = bounds, progress
        self._changes = list(changes([("clients", program)]))
        self._right: set[str] = set()
        self.noticing: dict[str, Client] = {}

    def of(self, change: Change, model: Model) -> str:
        """The client that notices a change, in words; empty if none does within the bounds, or if
        no operation contains what is changed. Raises BadInput if the object is wrong as it is."""
        changed = [each.programs[0][1] for each in self._changes if each.is_like(change)]
        if not changed:
            return ""
        if model.name not in self._right:
            found = self._search(self._program, model)
            if found.client is not None:
                raise BadInput(
                    f"{self._subject.source.path} does not behave as specified: a client has the "
                    f"violation `{found.found().violations[0].kind}` without any change",
                    advice="weakspot linearize shows the client; repair the object first",
                )
            self._right.add(model.name)
        client = self._search(changed[0], model).found_client
        if client is None:
            return ""
        written = client.text(self._subject.signatures)
        self.noticing[written] = client
        return written

    def _search(self, program: Program, model: Model) -> Search:
        search = Search(
            self._subject, program, model, self._size, self._bounds, progress=self._progress
        )
        search.run()
        return search

    def write(self, file: Path) -> None:
        """Write a program in which main chooses one of the clients that were found. Raises BadInput
        for a file that cannot be written."""
        write_scenario(self._subject, list(self.noticing.values()), self._size.threads, file)


def clients_of(
    subject: Subject, size: Size, bounds: Bounds, build: Build = NO_OPTIONS, *, progress: Progress
) -> Clients:
    """The clients of an object of at most this size, each search for `bounds.seconds`. Raises
    BadInput, Unsupported, MissingTool or ToolFailed."""
    with compiled(subject, size, build) as program:
        return Clients(subject, program, size, bounds, progress)
