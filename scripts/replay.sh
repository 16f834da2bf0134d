#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Shows whether a change leaves the generated kernels as they are: compares their texts with those of another commit.
#
#   scripts/replay.sh [--tests] [--difference] BASE
#
# Compared are tensor programs, loop programs and sources of all examples and test problems, for plans of every mapping and in
# every language (tests/golden/command_replay.cpp). With --tests: those of all tests that every change runs, too. With
# --difference the first texts that differ are shown, in canonical form (generated names in the order of their use). BASE is
# built in build/replay; its texts are kept there for the next comparison. Exit code 1: texts differ.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
usage() {
  sed -n '3,10s/^# \{0,1\}//p' "$0"
  exit "${1:-2}"
}

has_tests=no
difference=()
while [ $# -gt 0 ]; do
  case $1 in
  --tests) has_tests=yes ;;
  --difference) difference=(--difference) ;;
  -h | --help) usage 0 ;;
  -*) usage ;;
  *) break ;;
  esac
  shift
done
[ $# -eq 1 ] || usage
base=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "replay.sh: there is no commit '$1'" >&2; exit 2; }

folder=$PWD/build/replay
jobs=${RAFTER_JOBS:-$(nproc)}
mkdir -p "$folder"
modules='kernel|schedule|emit|tune|operator|solve'

# record SOURCE TEXTS: builds the tests of a source tree, and writes the texts of their kernels into the folder TEXTS.
record() {
  local source=$1 texts=$2 build=$1/build-dev targets=(test_golden_command) variables
  if [ $has_tests = yes ]; then
    targets+=(tests_unit tests_property tests_complexity tests_convergence tests_golden)
  fi
  (cd "$source" && cmake --preset dev >/dev/null && cmake --build --preset dev -j "$jobs" --target "${targets[@]}" | tail -n 1)
  rm -rf "$texts"
  variables=(RAFTER_TEST_RECORD="$texts" RAFTER_TEST_RECORD_TEXTS=1 RAFTER_TEST_CACHE="$folder/cache")
  # Whether tests pass is not asked here: the listing of texts may have to be renewed.
  env "${variables[@]}" ctest --test-dir "$build" -j "$jobs" -R '^golden/command/' >"$texts.log" || true
  if [ $has_tests = yes ]; then
    env "${variables[@]}" ctest --test-dir "$build" -j "$jobs" -L '^(unit|property|complexity|convergence|golden)$' \
      -LE '^(exhaustive|driver)$' -R "^[a-z]*/($modules)/" >>"$texts.log" || true
  fi
  [ -n "$(ls "$texts"/*.list 2>/dev/null)" ] || { echo "replay.sh: no test of $source recorded texts, see $texts.log" >&2; exit 1; }
}

name=base
[ $has_tests = no ] || name=base-tests
if [ "$(cat "$folder/$name.commit" 2>/dev/null)" != "$base" ]; then
  echo "replay.sh: texts of $(git log -1 --format='%h %s' "$base")"
  [ -d "$folder/source" ] || git worktree add --force --detach "$folder/source" "$base" >/dev/null 2>&1
  git -C "$folder/source" checkout --quiet --detach "$base"
  record "$folder/source" "$folder/$name"
  echo "$base" >"$folder/$name.commit"
fi
echo "replay.sh: texts of the working tree"
record "$PWD" "$folder/here"
exec /usr/bin/python3 scripts/compare_texts.py "${difference[@]}" "$folder/$name" "$folder/here"
