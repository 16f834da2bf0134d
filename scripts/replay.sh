#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Shows whether a change leaves the generated kernels as they are: compares their texts with those of another commit.
#
#   scripts/replay.sh [--tests] [--difference] BASE
#
# Compared are tensor programs, loop programs, sources and tables of all examples and test problems, for plans of every mapping
# and contraction, in C and OpenCL (tests/golden/command_replay.cpp, which BASE must have). With --tests: those of all tests that
# every change runs, too. With --difference some of the texts that differ are shown, in canonical form (generated names in the
# order of their use). BASE is built in build/replay; its texts are kept there for the next comparison. Exit code 1: texts differ.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
usage() { sed -n '3,10s/^# \{0,1\}//p' scripts/replay.sh; }
fail() {
  echo "replay.sh: $1" >&2
  exit 2
}

has_tests=no
difference=()
while [ $# -gt 0 ]; do
  case $1 in
  --tests) has_tests=yes ;;
  --difference) difference=(--difference) ;;
  -h | --help)
    usage
    exit
    ;;
  -*) fail "unknown option '$1'; accepted: --tests --difference" ;;
  *) break ;;
  esac
  shift
done
[ $# -eq 1 ] || fail "one commit is compared with: scripts/replay.sh [--tests] [--difference] BASE"
base=$(git rev-parse --verify --quiet "$1^{commit}") || fail "there is no commit '$1'"
git cat-file -e "$base:tests/golden/command_replay.cpp" 2>/dev/null || fail "'$1' is older than tests/golden/command_replay.cpp"

folder=$PWD/build/replay
jobs=${RAFTER_JOBS:-$(nproc)}
mkdir -p "$folder"
modules='kernel|schedule|emit|tune|operator|solve'

# checkout: BASE stands in build/replay/source, a work tree of this repository.
checkout() {
  local source=$folder/source
  if [ "$(git -C "$source" rev-parse --show-toplevel 2>/dev/null)" != "$source" ]; then
    rm -rf "$source"
    git worktree prune
    git worktree add --force --detach "$source" "$base" >/dev/null
  fi
  git -C "$source" checkout --quiet --detach --force "$base"
}

# run_tests BUILD TEXTS SELECTION...: records the texts of these tests. Whether they pass is not asked: the listing of texts may
# have to be renewed.
run_tests() {
  local build=$1 texts=$2
  shift 2
  RAFTER_TEST_RECORD=$texts RAFTER_TEST_RECORD_TEXTS=yes RAFTER_TEST_CACHE=$folder/cache \
    ctest --test-dir "$build" -j "$jobs" --no-tests=error "$@" >"$texts.log" 2>&1 || grep -q '^Total Test time' "$texts.log" ||
    { tail -n 20 "$texts.log" >&2; fail "tests of $build did not run"; }
}

# record SOURCE TEXTS: builds the tests of a source tree, and writes the texts of their kernels into the folder TEXTS.
record() {
  local source=$1 texts=$2 targets=(test_golden_command)
  [ $has_tests = no ] || targets+=(tests_unit tests_property tests_complexity tests_convergence tests_golden)
  rm -rf "$texts"
  (cd "$source" && cmake --preset dev && cmake --build --preset dev -j "$jobs" --target "${targets[@]}") >"$texts.log" 2>&1 ||
    { tail -n 30 "$texts.log" >&2; fail "$source does not build"; }
  run_tests "$source/build-dev" "$texts" -R '^golden/command/'
  [ $has_tests = no ] || run_tests "$source/build-dev" "$texts" -L '^(unit|property|complexity|convergence|golden)$' \
    -LE '^(exhaustive|driver)$' -R "^[a-z]*/($modules)/"
}

name=base
[ $has_tests = no ] || name="base-tests"
if [ "$(cat "$folder/$name.commit" 2>/dev/null)" != "$base" ]; then
  echo "replay.sh: texts of $(git log -1 --format='%h %s' "$base")"
  rm -f "$folder/$name.commit"
  checkout
  record "$folder/source" "$folder/$name"
  echo "$base" >"$folder/$name.commit"
fi
echo "replay.sh: texts of the working tree"
record "$PWD" "$folder/here"
exec /usr/bin/python3 scripts/compare_texts.py "${difference[@]}" "$folder/$name" "$folder/here"
