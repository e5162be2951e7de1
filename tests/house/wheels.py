"""What a wheel's extension module needs, read from its file; and what an installed weakspot has to
do where nothing else is."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import msgspec
from elftools.elf.elffile import ELFFile
from ended import execute

ROOT = Path(__file__).resolve().parents[2]
SB = """\
C SB
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int r0 = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r0=0 /\\ 1:r0=0)
"""


class Extension(msgspec.Struct, frozen=True):
    """The machine that it is for, the libraries that it loads, the newest glibc that it asks for,
    and the symbols that Python has to provide."""

    machine: str
    libraries: frozenset[str]
    glibc: tuple[int, ...]
    python: frozenset[str]


def section(elf: ELFFile, name: str) -> Any:
    """A section that every extension module has, in the class of its type."""
    return elf.get_section_by_name(name)


def extension(wheel: Path) -> Extension:
    """The engine in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".so")]
        elf = ELFFile(io.BytesIO(archive.read(name)))
        versions = [
            each.name.removeprefix("GLIBC_")
            for _, needed in section(elf, ".gnu.version_r").iter_versions()
            for each in needed
            if each.name.startswith("GLIBC_")
        ]
        undefined = {
            each.name
            for each in section(elf, ".dynsym").iter_symbols()
            if each["st_shndx"] == "SHN_UNDEF"
        }
        return Extension(
            machine=elf["e_machine"],
            libraries=frozenset(
                each.needed
                for each in section(elf, ".dynamic").iter_tags()
                if each.entry.d_tag == "DT_NEEDED"
            ),
            glibc=max(tuple(int(part) for part in each.split(".")) for each in versions),
            python=frozenset(each for each in undefined if each.startswith(("Py", "_Py"))),
        )


def try_in_empty_home(weakspot: Path, home: Path) -> None:
    """Decides a litmus test, explains a finding and explores the program of the README, with an
    empty home and nothing on PATH but the environment of `weakspot`."""
    (program,) = re.findall(r"```c\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (home / "SB.litmus").write_text(SB)
    (home / "queue.c").write_text(program)

    def run(*arguments: str) -> tuple[int, str]:
        done = execute(
            weakspot,
            *arguments,
            cwd=home,
            env={"HOME": str(home), "PATH": str(weakspot.parent), "LC_ALL": "C.UTF-8"},
        )
        return done.code, done.out + done.err

    code, shown = run("check", "SB.litmus", "--model", "sc,rc20")
    assert code == 0, shown
    assert "Sometimes" in shown
    code, shown = run("explain", "WS101")
    assert code == 0, shown
    assert "WS101 assertion violated" in shown
    code, shown = run("gate", "queue.c")
    assert code == 1, shown
    assert "needs at least release under rc20" in shown
