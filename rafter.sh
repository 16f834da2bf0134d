#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Set-up and everyday commands of Rafter: installs what is missing, builds, and runs. See ./rafter.sh help.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$root/build

# All processors, as far as the memory goes: a compiler may take 1 GB.
default_jobs() {
  local memory processors
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  processors=$(nproc)
  echo $((memory < 1 ? 1 : memory < processors ? memory : processors))
}
jobs=${RAFTER_JOBS:-$(default_jobs)}

usage() {
  cat <<'TEXT'
usage: ./rafter.sh COMMAND [ARGUMENTS]

  demo                 install what is missing, build, solve the two-material beam; writes beam.vtkhdf and beam.json here
  test [--all] [ARGS]  install what is missing, build everything, run the tests; --all adds the exhaustive ones; ARGS go to ctest
  build                install what is missing and build the command, build/rafter
  setup                install what is missing for all of these, nothing more
  bench [ARGS]         build and run `rafter bench ARGS`
  help                 this text (also --help)

Environment: RAFTER_JOBS (parallel jobs; default: by processors and memory), RAFTER_INSTALL=0 (never install packages),
RAFTER_NEEDS_OPENCL=0 and RAFTER_NEEDS_HYPRE=0 (tests of OpenCL and hypre are skipped where they are missing; otherwise they fail).
Packages are those of scripts/packages.txt; installing them needs root or sudo. Everything else stays in build/.
TEXT
}

fail() {
  printf 'rafter.sh: %s\n' "$*" >&2
  exit 3
}

# The packages of the named groups of scripts/packages.txt.
packages_of() {
  awk -v groups=" $* " '/^\[/ { group = substr($0, 2, length($0) - 2); next }
                        /^[^#]/ && index(groups, " " group " ") { print $1 }' "$root/scripts/packages.txt"
}

missing_packages() {
  local wanted installed
  wanted=$(packages_of "$@")
  # shellcheck disable=SC2086 # one argument per package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | awk '$2 == "installed" { print $1 }') || true
  comm -23 <(sort -u <<<"$wanted") <(sort -u <<<"$installed")
}

# How to become root: nothing to add for root itself, sudo where it can work without hanging on a question nobody sees.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    echo "rafter.sh: not a Debian system; expecting the equivalents of the packages in scripts/packages.txt" >&2
    return
  fi
  local missing
  missing=$(missing_packages "$@" | xargs)
  [ -n "$missing" ] || return 0
  local by_hand="install them yourself: apt-get install $missing"
  [ "${RAFTER_INSTALL:-1}" != 0 ] || fail "packages are missing and RAFTER_INSTALL=0; $by_hand"
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || fail "packages are missing, and this is neither root nor is there sudo; $by_hand"
  echo "rafter.sh: installing $missing"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086 # one argument per package
  # An update may fail for an archive that nothing here comes from.
  if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "could not install the missing packages (is there a network, and are you allowed to?); $by_hand"
  fi
  rm -f "$log"
}

cached() { grep -qs "^$1:[A-Z]*=$2\$" "$build/CMakeCache.txt"; }

# Configures where needed. Tests are configured only once they are asked for: they need more packages than the demo.
configure() {
  local tests=$1
  if [ -f "$build/build.ninja" ] && { [ "$tests" = OFF ] || cached RAFTER_TESTS ON; }; then return 0; fi
  local log=$build/configure.log
  mkdir -p "$build"
  if ! (cd "$root" && cmake --preset release -DRAFTER_TESTS="$tests") >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "CMake could not configure the build; the whole log is $log"
  fi
}

# Ninja's lines without those it prints when there is nothing to do; on a terminal the progress stays on one line.
progress() {
  local line open=no
  while IFS= read -r line; do
    case $line in
    "ninja: Entering directory"* | "ninja: no work to do." | *"Re-checking globbed directories"*) continue ;;
    esac
    if [ -t 1 ] && [[ $line =~ ^\[[0-9]+/[0-9]+\] ]]; then
      printf '\r\033[K%s' "${line:0:79}"
      open=yes
      continue
    fi
    if [ $open = yes ]; then printf '\n'; fi
    open=no
    printf '%s\n' "$line"
  done
  if [ $open = yes ]; then printf '\n'; fi
}

# Builds the given targets; says nothing when everything is up to date.
compile() { ninja -C "$build" -j "$jobs" "$@" | progress || fail "the build failed"; }

build_command() {
  install_missing build
  configure OFF
  compile rafter_command
}

demo() {
  [ $# -eq 0 ] || fail "demo takes no arguments, found '$*' (see ./rafter.sh help)"
  build_command
  "$build/rafter" solve "$root/examples/beam.toml" --json beam.json
}

run_tests() {
  local selection=(-LE exhaustive)
  if [ "${1:-}" = --all ]; then
    selection=()
    shift
  fi
  install_missing build test
  configure ON
  compile
  # The packages of the tests bring an OpenCL device and hypre, so that tests of them fail where there are none.
  export RAFTER_NEEDS_OPENCL=${RAFTER_NEEDS_OPENCL:-1} RAFTER_NEEDS_HYPRE=${RAFTER_NEEDS_HYPRE:-1}
  # At least two tests at a time: many wait for a compiler or a disk.
  ctest --test-dir "$build" -j "$((jobs > 2 ? jobs : 2))" --output-on-failure --no-tests=error "${selection[@]}" "$@"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
demo) demo "$@" ;;
test) run_tests "$@" ;;
build) build_command ;;
setup) install_missing build test ;;
bench)
  build_command
  exec "$build/rafter" bench "$@"
  ;;
help | --help | -h) usage ;;
*)
  usage >&2
  printf '\n' >&2
  printf "rafter.sh: unknown command '%s'; accepted: demo, test, build, setup, bench, help\n" "$command" >&2
  exit 2
  ;;
esac
