"""scripts/install-tools, on a made-up Debian: no network, no package of the real one.

`machine` is a folder of programs that stand in for apt and dpkg. Its packages hold shell
scripts that answer as the real tools do, and its C library's loader starts them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tarfile
import time
from io import BytesIO
from pathlib import Path

import pytest
from ended import Ended, execute

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "install-tools"
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(
    BASH is None or shutil.which("sha256sum") is None, reason="needs bash and coreutils"
)

PARTS = {
    "herdtools7": ["herdtools7", "libc6", "libgmp10"],
    "cbmc": ["cbmc", "libc6", "libstdc++6", "libgcc-s1", "minisat", "zlib1g"],
}

PROGRAMS = {
    "herd7": """case "$*" in *-version*) echo "7.99, Rev: x"; exit ;; esac
echo "Observation SB Sometimes 1 3"
case "$*" in *"-set-libdir "*usr/share/herdtools7/herd*) ;; *) exit 1 ;; esac""",
    "litmus7": """case "$*" in *-version*) echo "7.99, Rev: x"; exit ;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && folder=$2; shift; done
echo : >"$folder/comp.sh"; echo 'echo "Observation SB Never 0 9"' >"$folder/run.sh" """,
    "diy7": """case "$*" in *-version*) echo "7.99, Rev: x" ;; *) echo SB.litmus >@all ;; esac""",
    "diyone7": """case "$*" in *-version*) echo "7.99, Rev: x" ;; *) echo "exists (x)" ;; esac""",
    "mcompare7": """echo "SB|Allow| ==" """,
    "cbmc": """case "$*" in *--version*) echo "6.99.0 (x)" ;; *) exit 10 ;; esac""",
}

LOADER = """#!/bin/sh
while :; do case $1 in --argv0 | --library-path) shift 2 ;; *) break ;; esac; done
exec "$@"
"""

APT_GET = """#!/bin/sh
echo "apt-get $*" >>"$MACHINE/calls"
sources=$(sed -n 's/^Dir::Etc::sourcelist "\\(.*\\)";/\\1/p' "$2")
grep -q 'signed-by=.*keyring.gpg' "$sources" || exit 9
for word; do last=$word; done
case $FAILS in
  network) echo "E: Could not resolve 'mirror.invalid'"; exit 100 ;;
  signature) echo "E: not available: NO_PUBKEY 0123456789ABCDEF"; exit 100 ;;
  absence) echo "E: The repository does not have a Release file."; exit 100 ;;
  disk) echo "E: Write error - write (28: No space left on device)"; exit 100 ;;
esac
[ "$last" = update ] && exit
while [ "$1" != download ]; do shift; done
shift
for part; do
  [ -f "${part}_1.0_fake.deb" ] || cp "$MACHINE/debs/${part}_1.0_fake.deb" .
  [ "$FAILS" = garbled ] && echo x >>"${part}_1.0_fake.deb"
done
exit 0
"""

APT_CACHE = """#!/bin/sh
while [ "$1" != --no-all-versions ]; do shift; done
shift
for part; do cat "$MACHINE/debs/$part.stanza"; done
"""

APT_CONFIG = """#!/bin/sh
echo "sourcelist='$MACHINE/sources.list' sourceparts='$MACHINE/sources.list.d/'"
"""

DPKG_DEB = """#!/bin/sh
echo "dpkg-deb $*" >>"$MACHINE/calls"
[ -n "$SLOW" ] && { touch "$MACHINE/unpacking"; sleep "$SLOW"; }
exec tar -x -f "$2" -C "$3"
"""


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def package(path: Path, programs: dict[str, str]) -> None:
    """A package file of `programs`, by their paths in it."""
    with tarfile.open(path, "w") as archive:
        for name, text in programs.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            member.mode = 0o755
            archive.addfile(member, BytesIO(text.encode()))
    part = path.name.split("_")[0]
    (path.parent / f"{part}.stanza").write_text(
        f"Package: {part}\nVersion: 1.0\nArchitecture: fake\n"
        f"SHA256: {hashlib.sha256(path.read_bytes()).hexdigest()}\n\n"
    )


class Machine:
    """A made-up machine, and install-tools run on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.prefix = root / "own tools"
        self.calls = root / "calls"
        self.calls.touch()
        for name, text in {
            "apt-get": APT_GET,
            "apt-cache": APT_CACHE,
            "apt-config": APT_CONFIG,
            "dpkg-deb": DPKG_DEB,
            "df": "#!/bin/sh\necho header\necho x 0 0 ${FREE:-99999999} 0 /\n",
        }.items():
            write_program(root / "bin" / name, text)
        (root / "debs").mkdir()
        (root / "keyring.gpg").touch()
        (root / "sources.list.d").mkdir()
        (root / "sources.list.d" / "a.sources").write_text(
            "# comment\nTypes: deb deb-src\nURIs: file:///nowhere/debian\n"
            f"Suites: stable\n stable-updates\nComponents: main\nSigned-By: {root}/keyring.gpg\n"
        )
        for name, parts in PARTS.items():
            for part in parts:
                contents = {"usr/share/doc/x": ""}
                if part == "libc6":
                    contents = {"usr/lib/fake/ld-linux-fake.so.2": LOADER}
                elif part == name:
                    contents = {
                        f"usr/bin/{program}": f"#!/bin/sh\n{text}\n"
                        for program, text in PROGRAMS.items()
                        if (program == "cbmc") == (name == "cbmc")
                    }
                package(root / "debs" / f"{part}_1.0_fake.deb", contents)

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": f"{self.root / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "MACHINE": str(self.root),
            "WEAKSPOT_TOOLS": str(self.prefix),
            "FAILS": "",
            "SLOW": "",
            **more,
        }

    def run(self, *arguments: str, script: Path = SCRIPT, **more: str) -> Ended:
        environment = {k: v for k, v in self.environment(**more).items() if v != "unset"}
        return execute(str(BASH), str(script), *arguments, env=environment, timeout=60)

    def count(self, what: str) -> int:
        return sum(what in line for line in self.calls.read_text().splitlines())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_installs_and_tests_every_tool(machine: Machine) -> None:
    printed = machine.run().printed(0)
    for tool in PROGRAMS:
        assert (machine.prefix / "bin" / tool).is_file()
        assert tool in printed
    assert not (machine.prefix / ".work").exists(), "downloads are left behind"
    stamp = (machine.prefix / "tested.tsv").read_text()
    assert "herdtools7 1.0" in stamp
    assert "6.99.0" in stamp


def test_reads_one_line_package_sources_too(machine: Machine) -> None:
    (machine.root / "sources.list.d" / "a.sources").unlink()
    assert "no package source" in machine.run().err
    (machine.root / "sources.list").write_text(
        "deb-src file:///nowhere/debian stable main\n"
        "deb file:///elsewhere other main\n"
        f"deb [ arch=fake signed-by={machine.root}/keyring.gpg ] file:///nowhere/debian stable "
        "contrib main # comment\n"
    )
    machine.run().printed(0)


def test_second_run_is_quick_and_starts_nothing(machine: Machine) -> None:
    assert machine.run().code == 0
    before = machine.calls.read_text()
    start = time.monotonic()
    result = machine.run()
    assert time.monotonic() - start < 1
    assert result.code == 0
    assert len(result.out.splitlines()) == 1
    assert machine.calls.read_text() == before


def test_force_fetches_again(machine: Machine) -> None:
    assert machine.run().code == 0
    (machine.prefix / "opt" / "cbmc" / "usr" / "bin" / "cbmc").write_text("broken")
    assert machine.run("--check").code == 2
    assert machine.run("--force").code == 0
    assert machine.run("--check").code == 0


def test_check_changes_nothing(machine: Machine) -> None:
    assert "missing" in machine.run("--check").reported(2)
    assert not machine.prefix.exists()
    assert machine.calls.read_text() == ""


@pytest.mark.parametrize("name", PARTS)
def test_killed_while_unpacking_leaves_nothing_half_done(machine: Machine, name: str) -> None:
    if name == "cbmc":
        assert machine.run().code == 0
        shutil.rmtree(machine.prefix / "opt" / "cbmc")
    process = subprocess.Popen(
        [str(BASH), str(SCRIPT)],
        env=machine.environment(SLOW="30"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not (machine.root / "unpacking").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert not (machine.prefix / "opt" / name).exists()

    lists_read = machine.count("update")
    machine.run().printed(0)
    other = 0 if name == "cbmc" else 1
    assert machine.count("update") == lists_read + other, "the list is read again"
    assert not list((machine.prefix / "opt").glob(".*"))


def test_interrupt_stops_at_once_and_is_reported(machine: Machine) -> None:
    process = subprocess.Popen(
        [str(BASH), str(SCRIPT)],
        env=machine.environment(SLOW="30"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not (machine.root / "unpacking").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.terminate()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 143
    assert "run it again" in err


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        ("network", "cannot be reached"),
        ("signature", "signature cannot be verified"),
        ("absence", "no release that install-tools may use"),
        ("disk", "disk is full"),
    ],
)
def test_failure_fits_one_screen_and_advises(machine: Machine, fails: str, words: str) -> None:
    result = machine.run(FAILS=fails)
    assert result.code == 2
    assert words in result.err
    assert "help:" in result.err
    assert len((result.out + result.err).splitlines()) + 1 <= 24
    assert not list((machine.prefix / "opt").iterdir())
    assert machine.run().code == 0, "it does not resume once the cause is gone"


def test_package_with_a_wrong_checksum_is_never_unpacked(machine: Machine) -> None:
    assert "checksum" in machine.run(FAILS="garbled").reported(2)
    assert machine.count("dpkg-deb") == 0
    assert machine.run().code == 0


def test_garbled_remains_of_an_interrupted_download_are_fetched_again(machine: Machine) -> None:
    debs = machine.prefix / ".work" / "herdtools7" / "debs"
    debs.mkdir(parents=True)
    (debs / "libc6_1.0_fake.deb").write_text("half a file")
    assert machine.run().code == 0


def test_too_little_space_is_reported_before_anything_is_fetched(machine: Machine) -> None:
    errors = machine.run(FREE="20000").reported(2)
    assert "needs" in errors
    assert "MB" in errors
    assert machine.calls.read_text() == ""


def test_prefix_may_be_moved_and_started_through_links(machine: Machine) -> None:
    assert machine.run().code == 0
    moved = machine.root / "elsewhere"
    machine.prefix.rename(moved)
    machine.prefix = moved
    assert len(machine.run().out.splitlines()) == 1, "a move needs no second test"
    link = machine.root / "a link"
    link.symlink_to(moved / "bin" / "herd7")
    for command, folder in (
        ([str(link)], machine.root),
        (["./herd7"], moved / "bin"),
        (["bin/herd7"], moved),
        (["sh", "herd7"], moved / "bin"),
    ):
        done = execute(*command, cwd=folder).printed(0)
        assert "Sometimes" in done


def test_tools_on_path_are_used_as_they_are(machine: Machine) -> None:
    for name, text in PROGRAMS.items():
        text = text.replace("*) exit 1 ;;", "*) ;;")  # only the wrapper names the library
        write_program(machine.root / "bin" / name, f"#!/bin/sh\n{text}\n")
    clone = machine.root / "clone"
    script = clone / "scripts" / "install-tools"
    script.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, script)
    machine.run(script=script, WEAKSPOT_TOOLS="unset").printed(0)
    assert machine.calls.read_text() == ""
    assert not (clone / ".tools" / "bin").exists()
    assert len(machine.run(script=script, WEAKSPOT_TOOLS="unset").out.splitlines()) == 1

    write_program(machine.root / "bin" / "cbmc", "#!/bin/sh\necho broken\nexit 6\n")
    errors = machine.run(script=script, WEAKSPOT_TOOLS="unset").reported(2)
    assert "cbmc" in errors
    assert "does not pass its test" in errors


def test_system_without_apt_gets_advice(machine: Machine) -> None:
    bare = machine.root / "bare"
    bare.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            if program.name not in {"apt-get", "dpkg-deb"} and not (bare / program.name).exists():
                (bare / program.name).symlink_to(program)
    errors = machine.run(PATH=str(bare)).reported(2)
    assert "no apt-get" in errors
    assert "opam install herdtools7" in errors


def test_two_runs_at_once_do_not_disturb_each_other(machine: Machine) -> None:
    processes = [
        subprocess.Popen(
            [str(BASH), str(SCRIPT)],
            env=machine.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, out
    assert machine.run("--check").code == 0


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--check", "--force"]])
def test_wrong_arguments_are_refused(machine: Machine, arguments: list[str]) -> None:
    assert machine.run(*arguments).reported(2).startswith("error: ")


def test_help_lists_every_option(machine: Machine) -> None:
    printed = machine.run("--help").printed(0)
    for option in ("--check", "--force", "--with-emulation", "WEAKSPOT_TOOLS"):
        assert option in printed


def test_emulation_names_the_packages_that_are_missing(machine: Machine) -> None:
    result = machine.run("--check", "--with-emulation")
    assert "qemu-user" in result.out
    assert "gcc-aarch64-linux-gnu" in result.out


def test_script_names_no_host() -> None:
    text = SCRIPT.read_text()
    assert "http://" not in text
    assert "https://" not in text
