"""Words in the names of functions, and arguments, that several kinds of object have."""

from __future__ import annotations

from weakspot.harness.clients.kinds import Argument

PUT = r"(?:enqueue|push|emplace|put|send|write|offer|add|insert|produce|publish|append)"
TAKE = r"(?:dequeue|pop|take|recv|receive|read|poll|get|consume|remove|steal)"
FRONT, BACK = r"_?(?:front|head|left|first|top)", r"_?(?:back|tail|right|last|bottom)"
REMOVE = r"(?:remove|erase|delete|extract)"
LOCK, UNLOCK = r"(?:lock|acquire|enter)", r"(?:unlock|release|leave|exit)"
SHARED = "(?:shared|read|reader)"
VALUE: tuple[Argument, ...] = ("value",)
KEY: tuple[Argument, ...] = ("key",)
