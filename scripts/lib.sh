# Shared by scripts/run and scripts/test: a Python environment in .venv with weakspot in it.
#
# `set_up run` installs weakspot, `set_up dev` its development tools too. What is installed is not
# installed again: two stamps in .venv name what was installed, a hash of pyproject.toml for the
# packages and one of the engine's sources for the engine. An interrupted run leaves no stamp, so
# the next one resumes. The engine is compiled while the packages are fetched. So are the tools to
# compare with; `install_tools` waits for them. A script that has something else to do meanwhile
# defines a function of that name; `wait_for_others` waits for it and prints what it printed.

export LC_ALL=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1
clone=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd) || exit 2
venv=$clone/.venv
python=$venv/bin/python
log=$(mktemp "${TMPDIR:-/tmp}/weakspot-install.XXXXXX") ||
  { echo "error: cannot write to ${TMPDIR:-/tmp}; TMPDIR names another folder" >&2 && exit 2; }
tools_log=$log.tools engine_log=$log.engine others_log=$log.others tools= engine= others=
trap 'rm -f "$log" "$log".*; for group in $tools $engine $others; do kill -- "-$group" 2>/dev/null; done' EXIT
OLDEST_PYTHON=11 # of Python 3; as in pyproject.toml

fail() { # message, then lines of advice
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -gt 0 ] && printf 'help: %s\n' "$1" >&2 && shift
  [ $# -gt 0 ] && printf '      %s\n' "$@" >&2
  exit 2
}

say() { printf '[%3d s] %s\n' "$SECONDS" "$*" >&2; }

# in_background LOG COMMAND…: starts it with its output in the log; its process is $!.
in_background() {
  local log=$1
  shift
  set -m # a process group of its own, to be stopped as a whole
  { "$@"; echo $? >"$log.code"; } >"$log" 2>&1 </dev/null 9<&- &
  set +m
}

# code_of LOG PROCESS: waits for it; its exit code. bash forgets that of a process which has ended
# when another one gets its number, as happens while an engine is built for minutes.
code_of() {
  while kill -0 "$2" 2>/dev/null && [ ! -e "$1.code" ]; do sleep 0.1; done
  cat "$1.code" 2>/dev/null || echo 1
}

# What the log's last line says, without the folder of what is compiled; command lines are skipped.
latest() {
  tail -n 9 "$log" | grep -v '^ *Running `' | tail -n 1 | sed 's/ (\/.*//; s/^ *//' | tr -cd '[:print:]'
}

# step WHAT COMMAND…: runs it with its output in the log, and shows progress.
step() {
  local what=$1 child shown=0 begin=$SECONDS
  shift
  say "$what"
  set -m # a process group of its own, to be stopped as a whole
  "$@" >>"$log" 2>&1 </dev/null 9<&- &
  child=$!
  set +m
  # shellcheck disable=SC2064 # this child
  trap "kill -- -$child 2>/dev/null; wait $child; exit 130" INT TERM HUP
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    if [ -t 2 ]; then
      [ $SECONDS -ne $shown ] && shown=$SECONDS &&
        printf '\r[%3d s] … %.60s\033[K' "$SECONDS" "$(latest)" >&2
    elif [ $((SECONDS - begin - shown)) -ge 30 ]; then
      shown=$((SECONDS - begin))
      say "… $(latest | cut -c 1-60)"
    fi
  done
  [ -t 2 ] && printf '\r\033[K' >&2
  trap - INT TERM HUP
  wait "$child"
}

# ------------------------------------------------------------------------- what must be there

at_least() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# A Python that is new enough, in $base_python.
find_python() {
  local candidate version found=()
  for candidate in ${WEAKSPOT_PYTHON:+"$WEAKSPOT_PYTHON"} python3 python3.14 python3.13 python3.12 \
    python3.11 python; do
    command -v "$candidate" >/dev/null || continue
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
      continue
    if at_least "$version" "3.$OLDEST_PYTHON"; then
      base_python=$candidate
      return
    fi
    found+=("$candidate is $version")
  done
  base_python=
  command -v uv >/dev/null && return # uv fetches a Python
  local have=${found[*]+$(IFS=,; echo "${found[*]}")}
  fail "weakspot needs Python 3.$OLDEST_PYTHON or newer${have:+ ($have)}" \
    "install one (Debian 12, Ubuntu 24.04 and newer: apt-get install python3 python3-venv)," \
    "or install uv, which fetches it; WEAKSPOT_PYTHON=/path/to/python names one that is not on PATH"
}

# cargo and rustc that start and are new enough for the engine.
find_rust() {
  local needed proxies version
  if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
    fail "weakspot's engine is written in Rust, and cargo is not on PATH" \
      "install Rust with rustup (https://rustup.rs), or with your system's package manager," \
      "and run this again; if it is installed already, put its bin folder on PATH"
  fi
  if ! version=$(rustc --version 2>&1) || ! cargo --version >/dev/null 2>&1; then
    # rustup's programs look for their toolchains below HOME, which may be another one here
    proxies=$(dirname -- "$(command -v cargo)")
    if [ -z "${RUSTUP_HOME:-}" ] && [ -d "$proxies/../../.rustup/toolchains" ]; then
      RUSTUP_HOME=$(cd -- "$proxies/../../.rustup" && pwd)
      export RUSTUP_HOME
    fi
    version=$(rustc --version 2>&1) && cargo --version >/dev/null 2>&1 ||
      fail "cargo is on PATH but does not start: ${version%%$'\n'*}" \
        "rustup keeps its toolchains in \$HOME/.rustup, and HOME is ${HOME:-not set} now: set" \
        "RUSTUP_HOME to where they are, or run: rustup default stable"
  fi
  version=$(cut -d ' ' -f 2 <<<"$version")
  needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$clone/engine/Cargo.toml")
  at_least "${version%%-*}" "${needed:-0}" ||
    fail "weakspot's engine needs Rust $needed or newer; rustc is $version" \
      "rustup update stable, or install a newer one with rustup (https://rustup.rs)"
  command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ||
    fail "Rust needs a C compiler to link, and there is none on PATH" \
      "install your system's (Debian, Ubuntu: apt-get install gcc libc6-dev)"
}

# ------------------------------------------------------------------------------- installation

# set_up run|dev
set_up() {
  find_python
  find_rust
  start_tools
  { exec 9<"$clone" && flock 9; } 2>/dev/null # two set-ups at once would disturb each other
  make_venv
  start_engine
  if declare -F meanwhile >/dev/null; then start_others; fi
  install_packages "$1"
  install_engine
  exec 9<&-
}

usable_venv() {
  [ -x "$python" ] && [ -f "$venv/bin/pip" ] &&
    grep -qF "$venv/bin/" "$venv/bin/pip" && # otherwise the clone was moved, and nothing in it starts
    at_least "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" \
      "3.$OLDEST_PYTHON"
}

make_venv() {
  usable_venv && return
  if [ -e "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ] && [ -n "$(ls -A "$venv" 2>&1)" ]; then
    fail "$venv is there and is not a Python environment" "move it away and run this again"
  fi
  [ -w "$clone" ] || fail "cannot write to $clone" "make a clone in a folder that is yours"
  if command -v uv >/dev/null; then
    step "creating .venv with uv" uv venv --clear --seed \
      --python "${base_python:-3.$OLDEST_PYTHON}" "$venv" || explain "creating .venv"
  else
    "$base_python" -c 'import ensurepip, venv' 2>/dev/null ||
      fail "$base_python cannot make an environment: ensurepip is missing" \
        "install it (Debian, Ubuntu: apt-get install python3-venv), or install uv"
    step "creating .venv with $("$base_python" --version)" \
      "$base_python" -m venv --clear "$venv" || explain "creating .venv"
  fi
}

# The packages of pyproject.toml, including those that build the engine, so that building it again
# needs no network.
install_packages() { # run|dev
  local stamp=$venv/packages.stamp now wanted
  now="$(sha256sum <"$clone/pyproject.toml" | cut -c 1-32)"
  [ -f "$stamp" ] && grep -qxE "$now (dev|$1)" "$stamp" && return
  [ -f "$stamp" ] && grep -q "dev\$" "$stamp" && set -- dev
  mapfile -t wanted < <(requirements "$1")
  rm -f "$stamp"
  step "installing the Python packages (about 150 MB to fetch, most of it a C compiler)" \
    installer "${wanted[@]}" || explain "installing the Python packages"
  echo "$now $1" >"$stamp"
}

# The requirements in pyproject.toml: to build the engine, to run weakspot too, to develop it too; or
# to build the engine and package it, or its documentation.
requirements() { # build|run|dev|release|docs
  "$python" - "$clone/pyproject.toml" "$1" <<'PYTHON'
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    table = tomllib.load(file)
extras = table["project"]["optional-dependencies"]
wanted = table["build-system"]["requires"]
if sys.argv[2] in ("run", "dev"):
    wanted += table["project"]["dependencies"] + extras["zig"]
if sys.argv[2] in ("dev", "release", "docs"):
    wanted += extras[sys.argv[2]]
if sys.argv[2] == "dev":
    wanted += extras["docs"]
print(*wanted, sep="\n")
PYTHON
}

# Linking the engine takes most of the set-up, on one processor.
start_engine() {
  local stamp=$venv/engine.stamp wanted
  built_from=$(engine_hash)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$built_from" ] &&
    (cd / && "$python" -c 'import weakspot._engine') 2>/dev/null; then
    return
  fi
  rm -f "$stamp"
  if ! [ -f "$venv/packages.stamp" ]; then
    mapfile -t wanted < <(requirements build)
    [ ${#wanted[@]} -gt 0 ] || fail "cannot read $clone/pyproject.toml" "git checkout pyproject.toml"
    step "installing what builds the engine" installer "${wanted[@]}" ||
      explain "installing what builds the engine"
  fi
  # verbose, so that the log has what is being compiled
  PIP_VERBOSE=1 in_background "$engine_log" installer --no-deps --no-build-isolation --editable "$clone"
  engine=$!
}

install_engine() {
  local code
  [ -n "$engine" ] || return 0
  step "building the engine (Rust; a minute or two the first time)" \
    tail --pid="$engine" -s 0.2 -n +1 -f "$engine_log"
  code=$(code_of "$engine_log" "$engine")
  engine=
  [ $code -eq 0 ] || explain "building the engine"
  echo "$built_from" >"$venv/engine.stamp"
}

engine_hash() {
  (cd "$clone" && find pyproject.toml engine/Cargo.* engine/*/Cargo.toml engine/bindings/build.rs \
    engine/*/src weakspot/__init__.py -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum | cut -c 1-32
}

installer() {
  if command -v uv >/dev/null; then
    uv pip install --python "$python" "$@"
  else
    "$python" -m pip install --progress-bar off "$@"
  fi
}

# Prints why a step failed, as far as its output shows.
explain() { # which step
  tail -n 40 "$log" | cut -c 1-300 >&2
  if grep -qiE 'no space left|disk quota' "$log"; then
    fail "the disk is full: $1" "free about 2 GB in $clone and run this again; what is installed is preserved"
  elif grep -qiE 'permission denied' "$log"; then
    fail "files here belong to somebody else: $1" \
      "run this as the owner of $clone, or make a clone of your own"
  elif grep -qiE 'resolv|timed out|connection|network|unreachable|certificate' "$log"; then
    fail "the network does not answer: $1" \
      "check the network and pip's and cargo's settings, and run this again; what is installed is preserved"
  fi
  fail "$1 failed; its last lines are above" \
    "correct what they report and run this again; rm -r $venv starts over"
}

# Downloading and unpacking leaves the processors to the compiler of the engine.
start_tools() {
  in_background "$tools_log" "$clone/scripts/install-tools"
  tools=$!
}

# It gets the time that the rest leaves, and little more: at the lowest priority much of it would be left
# when pytest ends.
start_others() {
  in_background "$others_log" nice_meanwhile
  others=$!
}
nice_meanwhile() { renice -n 5 "$BASHPID" >/dev/null && meanwhile; }

# Prints what it printed; its exit code.
wait_for_others() {
  local code
  code=$(code_of "$others_log" "$others")
  others=
  cat "$others_log"
  return $code
}

# Waits for the tools. Prints nothing if there was nothing to do.
install_tools() {
  local code
  code=$(code_of "$tools_log" "$tools")
  tools=
  sed '/^every tool is there/d' "$tools_log" >&2
  return $code
}
