"""LLVM's passes over a linked module: inline, remove what is not called, promote locals, verify.

In: the text of a module, and how large it becomes. Out: the text after the passes. They look at no
clock and cannot be interrupted, so those of a large module run in a process of their own:

    python -m weakspot.generators.source.passes INPUT OUTPUT [--handled]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from weakspot.errors import ToolFailed, quoted
from weakspot.generators.source import panics
from weakspot.generators.source.clang import Clang, scratch_folder, time_is_up
from weakspot.system import process

LITTLE = 15_000
"""Lines of the result up to which the passes take less time than starting a process."""

_MODULE = "weakspot.generators.source.passes"
_REFUSED = 4  # exit code
_PATIENCE = 600.0  # seconds without a time limit


def run(text: str, lines: int, *, handled: bool, clang: Clang, source: Path) -> str:
    """The module after the passes, in a process of their own; `lines` is about how large it
    becomes. Programs that handle exceptions keep what only matters to their handlers.

    Raises ToolFailed if LLVM's verifier refuses the result, and LimitReached.
    """
    with scratch_folder() as folder:
        given, made = folder / "in.ll", folder / "out.ll"
        given.write_text(text, encoding="utf-8", errors="surrogateescape")
        options = ["--handled"] if handled else []
        ended = process.run(
            [sys.executable, "-P", "-m", _MODULE, str(given), str(made), *options],
            seconds=clang.end.at_most(_PATIENCE),
        )
        if ended.timed_out:
            raise time_is_up(str(source), f"its calls were being inlined ({lines:,} lines of IR)")
        if ended.code == _REFUSED:
            raise _refused(ended.err)
        if ended.code != 0:
            raise ToolFailed(
                f"LLVM's passes failed with exit code {ended.code}",
                place=str(source),
                excerpt=quoted(ended.err.splitlines()[-4:]),
                advice="a program of this size may need more memory",
            )
        return made.read_text(encoding="utf-8", errors="surrogateescape")


def _performed(text: str, *, handled: bool) -> str:
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    # a module must not outlive its context, which garbage collection does not know
    context = llvm.create_context()
    with llvm.parse_assembly(text, context=context) as module:
        return apply(llvm, module, builder_of(llvm), handled=handled)


def builder_of(llvm: Any) -> Any:
    """What runs passes."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())


def apply(llvm: Any, module: Any, builder: Any, *, handled: bool) -> str:
    """Run the passes on a module, and return its text. Raises ToolFailed."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    if not handled:
        passes.add_lower_invoke_pass()
    passes.add_sroa_pass()
    passes.run(module, builder)
    try:
        module.verify()
    except RuntimeError as error:
        raise _refused(str(error)) from error
    return panics.without_impossible(llvm, str(module), builder)


def _refused(message: str) -> ToolFailed:
    return ToolFailed(
        "LLVM's verifier refuses the inlined module",
        excerpt=quoted(message.splitlines()[:4]),
        advice="this is a fault of weakspot: please report it with the source file",
    )


def main(given: str, made: str, *options: str) -> int:
    """What the process of its own does; returns its exit code."""
    text = Path(given).read_text(encoding="utf-8", errors="surrogateescape")
    try:
        result = _performed(text, handled="--handled" in options)
    except ToolFailed as error:
        print(error.excerpt, file=sys.stderr)
        return _REFUSED
    Path(made).write_text(result, encoding="utf-8", errors="surrogateescape")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
