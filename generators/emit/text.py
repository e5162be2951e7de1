"""A Test as a litmus test in C, the text that herd7, litmus7, klitmus7 and people read."""

from __future__ import annotations

from collections.abc import Sequence

from weakspot.generators.emit import c11, kernel
from weakspot.generators.litmus import Body


def litmus_text(name: str, cycle: str, body: Body, metadata: Sequence[tuple[str, str]] = ()) -> str:
    """The litmus source of a Test: of C11, or of the Linux kernel.

    herd7 takes the expected value of C11's compare-exchange through a pointer parameter only, so
    each one has a location of its own (`e0`, `e1`, …) that holds it. A guarded access becomes an
    `if`.
    """
    if body.kernel:
        threads = [kernel.thread(number, body) for number in range(len(body.threads))]
        init = " ".join(kernel.initial(body))
        atoms = [f"{each.left}={kernel.value(each, body)}" for each in body.atoms]
    else:
        expected: dict[str, int] = {}
        threads = [
            c11.thread(number, statements, body.plain, expected)
            for number, statements in enumerate(body.threads)
        ]
        init = " ".join(f"[{loc}]={value};" for loc, value in (body.init | expected).items())
        atoms = [str(each) for each in body.atoms]
    lines = [
        f"C {name}",
        f'"{cycle}"',
        *(f"{key}={value}" for key, value in metadata),
        "",
        f"{{ {init} }}" if init else "{}",
        "",
        *threads,
        "exists (" + " /\\ ".join(atoms) + ")",
    ]
    return "\n".join(lines) + "\n"
