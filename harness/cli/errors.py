"""Every error as one screen on stderr, with an exit code that scripts can rely on.

Exit codes: 0 nothing found; 1 findings; 2 bad usage or bad input; 3 inconclusive; 130 when
interrupted. WEAKSPOT_DEBUG=1 shows the traceback of an error too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from weakspot.errors import Interrupted, LimitReached, WeakspotError

NOTHING_FOUND, FINDINGS, BAD, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 130

_SCREEN = 20  # lines of an error that are shown
_LINE = 2000  # characters of a line


def guarded(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Every exception becomes a message."""
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_interrupt_again, hook)
    try:
        return _guarded(command, arguments)
    finally:
        sys.unraisablehook = hook


def _interrupt_again(
    hook: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs
) -> None:
    """Python drops a KeyboardInterrupt in a destructor: raise it again, after that."""
    if lost.exc_type is KeyboardInterrupt:
        main = threading.main_thread().ident
        threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
    else:
        hook(lost)


def _guarded(command: click.Command, arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        try:
            code = _invoked(command, list(sys.argv[1:] if arguments is None else arguments))
        except click.exceptions.Exit as exit:
            code = exit.exit_code
        _flush()
        return code
    except Exception as error:
        return _failed(error)
    except KeyboardInterrupt:
        return _failed(Interrupted("interrupted"))


def _invoked(command: click.Command, arguments: list[str]) -> int:
    """Like click's `main`, which would turn a closed pipe into exit code 1: findings."""
    if "_WEAKSPOT_COMPLETE" in os.environ:  # a shell asks for completions
        command.main(arguments, prog_name="weakspot")
    with command.make_context("weakspot", arguments) as context:
        code = command.invoke(context)
        context.exit(code if isinstance(code, int) else NOTHING_FOUND)


def _failed(error: Exception) -> int:
    if isinstance(error, click.Abort):
        error = Interrupted("interrupted")
    if os.environ.get("WEAKSPOT_DEBUG") and not isinstance(error, click.ClickException):
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        return _reader_gone()
    text, code = _text_and_code(error)
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    if isinstance(error, OSError):
        _forget_output()
    return code


def _text_and_code(error: Exception) -> tuple[str, int]:
    """An error as one screen, and the exit code."""
    match error:
        case Interrupted():
            return _one_screen("\n".join(filter(None, (error.message, error.advice)))), INTERRUPTED
        case WeakspotError():
            if error.place and error.place.startswith(f"{Path.cwd()}{os.sep}"):
                error.place = os.path.relpath(error.place)
            code = INCONCLUSIVE if isinstance(error, LimitReached) else BAD
            return _one_screen(str(error)), code
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), BAD
        case click.UsageError():
            return _usage(error), BAD
        case click.ClickException():
            return f"error: {error.format_message()}", BAD
        case OSError() if error.filename is None and error.errno in (errno.ENOSPC, errno.EFBIG):
            full = WeakspotError(
                "the disk is full",
                place="standard output",
                advice="free some space, or write the output to another disk",
            )
            return str(full), BAD
        case OSError():
            what = f": {error.filename}" if error.filename else ""
            return f"error: {error.strerror or error}{what}", BAD
        case _:
            name = type(error).__name__
            return (
                _one_screen(f"error: internal error: {name}: {error}")
                + "\nhelp: this is a bug in weakspot; WEAKSPOT_DEBUG=1 shows the traceback",
                BAD,
            )


def _usage(error: click.UsageError) -> str:
    context = error.ctx
    asked = context.command_path if context is not None else "weakspot"
    message = error.format_message()
    # click already names what was probably meant; it goes where our errors give advice
    problem, *meant = re.split(r" \(?Did you mean (?:one of: )?", message, maxsplit=1)
    lines = [f"error: {problem[:1].lower()}{problem[1:].rstrip('.')}"]
    if meant:
        lines.append(f"help: did you mean {meant[0].rstrip(')')}")
    lines.append(f"{'      ' if meant else 'help: '}see {asked} --help")
    return "\n".join(lines)


def _one_screen(text: str) -> str:
    lines = text.splitlines()
    if len(lines) > _SCREEN:
        left = len(lines) - _SCREEN
        lines = [*lines[:_SCREEN], f"  … {left} more lines"]
    return "\n".join(line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines)


def _flush() -> None:
    """Flush now, not at the interpreter's end, where a full disk would cause a traceback."""
    sys.stdout.flush()


def _reader_gone() -> int:
    """`weakspot … | head`: the reader needs no more."""
    _forget_output()
    return 128 + 13


def _forget_output() -> None:
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())


@contextlib.contextmanager
def on_interrupt(
    says: str,
    then: Callable[[], object] = lambda: None,
    *,
    is_empty: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """On Ctrl-C inside the block, do `then`; the error `says` what became of the answers so far,
    unless there are none (`is_empty`)."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        then()
        what = "nothing was finished yet" if is_empty() else says
        raise Interrupted(f"interrupted; {what}") from None
