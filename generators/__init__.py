"""Source to litmus tests: compile, trace, access patterns, critical cycles, text."""

from weakspot.generators.cycles.tests import merge
from weakspot.generators.pipeline import Generated, generate

__all__ = ["Generated", "generate", "merge"]
