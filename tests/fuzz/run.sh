#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one libFuzzer target on its seeds: tests/fuzz/run.sh BUILD_FOLDER TARGET [LIBFUZZER OPTIONS AND FOLDERS...]
# Seeds are the files of seeds/TARGET and, where there are any, the samples that other tests use. An input that breaks the
# target is left in BUILD_FOLDER/tests/fuzz/, and `BUILD_FOLDER/tests/fuzz/fuzz_TARGET FILE` runs it alone.
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '3,5s/^# //p' "$0" >&2
  exit 2
fi
build=$1 target=$2
shift 2
here=$(dirname "$(readlink -f "$0")")
source=$(dirname "$(dirname "$here")")

# Inputs are as long as seeds need, and short enough for thousands of inputs per second.
samples=()
case $target in
mesh_readers)
  max_length=8000
  samples=("$source"/tests/data/meshes/*.m*sh "$source"/examples/meshes/*.m*sh)
  ;;
problem_file)
  max_length=4000
  samples=("$source"/tests/problems/*.toml "$source"/examples/*.toml)
  ;;
form_text) max_length=600 ;;
plan_text) max_length=200 ;;
*) max_length=4000 ;;
esac

seeds=("$here/seeds/$target"/*)
# Longer samples would be cut, which tests only how files end.
for sample in "${samples[@]}"; do
  [ "$(stat -c %s "$sample")" -gt $max_length ] || seeds+=("$sample")
done
options=(-max_len=$max_length -len_control=0 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1)
[ ! -f "$here/dictionaries/$target" ] || options+=("-dict=$here/dictionaries/$target")
exec "$build/tests/fuzz/fuzz_$target" "${options[@]}" "-artifact_prefix=$build/tests/fuzz/" \
  "-seed_inputs=$(IFS=,; echo "${seeds[*]}")" "$@"
