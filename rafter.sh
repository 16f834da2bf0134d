#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Set-up and everyday commands of Rafter: installs what is missing, builds, and runs. See ./rafter.sh help.
set -euo pipefail
export LC_ALL=C.UTF-8 # messages of other programs are read

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
# shellcheck source=scripts/progress.sh
. "$root/scripts/progress.sh"

usage() {
  cat <<'TEXT'
usage: ./rafter.sh COMMAND [ARGUMENTS]

  demo                 install what is missing, build, solve the two-material beam; writes beam.vtkhdf and beam.json here
  test [--all] [ARGS]  install what is missing, build everything, run the tests; --all adds the exhaustive ones; ARGS go to ctest
  build                install what is missing and build the command, build/rafter
  setup [GROUP...]     install the packages that are missing of these groups, or of all: build, opencl (a device that is the processor), test
  bench [ARGS]         build and run `rafter bench ARGS`
  bundle [FILE]        build and pack the command, tests of devices, their libraries and the examples for machines where nothing is
                       installed (docs/devices.md); FILE ends with .tar.xz, .tar.gz or .tar; default build/rafter-bundle.tar.xz
  wheel [FOLDER]       build a wheel of the package for Python, with the libraries that it links to, for machines of this glibc or a newer
                       one that have a C compiler; default build/wheels
  help                 this text (also --help)

Environment: RAFTER_JOBS (parallel jobs; default: by processors and memory), RAFTER_INSTALL=0 (never install packages),
RAFTER_NEEDS_OPENCL=0 and RAFTER_NEEDS_HYPRE=0 (tests of OpenCL and hypre are skipped where they are missing; otherwise they fail),
RAFTER_NEEDS_PYTHON=0 (tests leave the package for Python out, whose requirements pip fetches to build/python-env),
RAFTER_PYTHON3 (the interpreter that it is built and tested with; default: /usr/bin/python3),
RAFTER_OTHER_PYTHONS (interpreters of other versions that it is tested with, too; default: none).
Packages are those of scripts/packages.txt; installing them needs root or sudo. Everything else stays in build/.
TEXT
}

fail() {
  printf 'rafter.sh: %s\n' "$*" >&2
  exit 3
}

# The packages of the named groups of scripts/packages.txt.
packages_of() {
  awk -v groups=" $* " '/^\[/ { group = substr($1, 2, length($1) - 2); next }
                        /^[^#]/ && index(groups, " " group " ") { print $1 }' "$root/scripts/packages.txt"
}

all_groups() { sed -n 's/^\[\([a-z]*\)\].*/\1/p' "$root/scripts/packages.txt" | xargs; }

missing_packages() {
  local wanted installed
  command -v dpkg-query >/dev/null || return 0
  wanted=$(packages_of "$@")
  # shellcheck disable=SC2086 # one argument per package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | awk '$2 == "installed" { print $1 }') || true
  comm -23 <(sort -u <<<"$wanted") <(sort -u <<<"$installed")
}

# missing_of GROUP...: "packages megabytes" that have to be fetched, with all that they need, if each package has the same share of its
# group's, which scripts/packages.txt states: apt knows better, but not before its lists are there.
missing_of() {
  local group total=0 packages=0 missing wanted all here
  for group in "$@"; do
    missing=$(missing_packages "$group" | wc -w)
    wanted=$(packages_of "$group" | wc -w)
    read -r all here < <(sed -n "s/^\\[$group\\] \\([0-9]*\\) packages, \\([0-9]*\\) MB.*/\\1 \\2/p" "$root/scripts/packages.txt")
    packages=$((packages + all * missing / wanted))
    total=$((total + here * missing / wanted))
  done
  echo "$packages $total"
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
  stage "installing" fetch_and_install "$missing" "$by_hand"
}

# fetch_and_install PACKAGES BY_HAND
fetch_and_install() {
  local missing=$1 by_hand=$2 log planned number
  log=$(mktemp)
  # An update may fail for an archive that nothing here comes from.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >"$log" 2>&1 || true
  # shellcheck disable=SC2086 # one argument per package
  planned=$(apt-get -y --print-uris install --no-install-recommends $missing 2>/dev/null) || true
  number=$(grep -c "^'" <<<"$planned") || true
  say "installing $missing: with what they need $number packages, $(sed -n 's/^Need to get \(.*\) of archives.*/\1/p' <<<"$planned") to download"
  # shellcheck disable=SC2086
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing 2>&1 |
    tee -a "$log" | numbered "$number" | progress; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "could not install the missing packages (is there a network, and are you allowed to?); $by_hand"
  fi
  rm -f "$log"
}

# numbered PACKAGES: of the output of apt-get, what is fetched, unpacked and set up, as "[step/steps] what".
numbered() {
  local line step=0
  while IFS= read -r line; do
    case $line in
    Get:* | "Unpacking "* | "Setting up "*)
      step=$((step + 1))
      printf '[%d/%d] %s\n' $step $((step > 3 * $1 ? step : 3 * $1)) "$line"
      ;;
    esac
  done
}

if [ "${RAFTER_NEEDS_PYTHON:-1}" = 0 ]; then python_package=OFF; else python_package=ON; fi
cached() { grep -qs "^$1:[A-Z]*=$2\$" "$build/CMakeCache.txt"; }

# Tests are configured only once they are asked for: they need more packages than the demo. hypre is looked for until it is found.
# What is fetched for Python is that of the present requirements. petsc4py is that of Debian, which is not where Python looks.
petsc4py=$(printf '%s:' /usr/lib/petscdir/*/*-real/lib/python3/dist-packages)
requirements() { cat "$root"/python/requirements{,-more}.txt && echo "# ${RAFTER_OTHER_PYTHONS:-} $petsc4py"; }
has_environment() { [ "$python_package" = OFF ] || cmp -s <(requirements) "$build/python-env/requirements.txt"; }
is_configured() {
  [ -f "$build/build.ninja" ] && { [ "$1" = OFF ] || { cached RAFTER_TESTS ON && cached RAFTER_PYTHON_PACKAGE "$python_package" && has_environment; }; } &&
    ! cached HYPRE_LIBRARY HYPRE_LIBRARY-NOTFOUND
}

# environment INTERPRETER FOLDER REQUIREMENTS...
environment() {
  local interpreter=$1 folder=$2 files=()
  shift 2
  for file in "$@"; do files+=(-r "$root/python/$file"); done
  "$interpreter" -m venv --clear "$folder" && "$folder/bin/pip" install -q "${files[@]}"
}

# The environment of the first interpreter, those of others with what forms need, and other versions of UFL beside.
fetch_for_python() {
  local folder=$build/python-env version other
  environment "${RAFTER_PYTHON3:-/usr/bin/python3}" "$folder" requirements.txt requirements-more.txt || return
  for version in 2025.2.1:0.10.0 2026.1.0:0.11.0; do
    "$folder/bin/pip" install -q --no-deps --upgrade --target "$build/python-ufl-${version%:*}" \
      fenics-ufl=="${version%:*}" fenics-basix=="${version#*:}" || return
  done
  rm -rf "$folder"-*
  for other in ${RAFTER_OTHER_PYTHONS:-}; do
    version=$("$other" -c 'import sys; print("%d.%d" % sys.version_info[:2])') && environment "$other" "$folder-$version" requirements.txt || return
  done
  fetch_for_petsc
}

# petsc4py of Debian is for NumPy of Debian: an environment that sees both, where they are and for this interpreter.
fetch_for_petsc() {
  local interpreter=${RAFTER_PYTHON3:-/usr/bin/python3} folder=$build/python-petsc
  rm -rf "$folder"
  PYTHONPATH=$petsc4py "$interpreter" -c 'from petsc4py import PETSc' 2>/dev/null || return 0
  # shellcheck disable=SC2046 # one argument per package
  "$interpreter" -m venv --clear "$folder" --system-site-packages &&
    "$folder/bin/pip" install -q $(grep -E '^(fenics-ufl|nanobind-backend|pytest)=' "$root/python/requirements.txt")
}

# What the package for Python is built and tested with, in folders of the build; prints its interpreter.
environment_of_python() {
  local folder=$build/python-env log=$build/python-env.log
  if ! has_environment; then
    say "fetching what the package for Python is tested with, to $folder" >&2
    fetch_for_python >"$log" 2>&1 || {
      tail -n 15 "$log" >&2
      fail "pip could not fetch what the package for Python is tested with (RAFTER_NEEDS_PYTHON=0 leaves it out); the whole log is $log"
    }
    requirements >"$folder/requirements.txt"
  fi
  echo "$folder/bin/python"
}

configure() {
  local tests=$1 log=$build/configure.log
  if is_configured "$tests"; then return 0; fi
  local with_python=()
  if [ "$tests" = OFF ] && cached RAFTER_TESTS ON; then tests=ON; fi
  mkdir -p "$build"
  if [ "$tests" = ON ]; then
    with_python=(-DRAFTER_PYTHON_PACKAGE="$python_package")
    [ "$python_package" = OFF ] || with_python+=(-DPython_EXECUTABLE="$(environment_of_python)")
  fi
  if ! (cd "$root" && cmake --preset release -DRAFTER_TESTS="$tests" "${with_python[@]}") >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "CMake could not configure the build; the whole log is $log"
  fi
}

# work_of TESTS TARGETS...: "compilations files" that are out of date; of a build that is not there, about.
work_of() {
  local tests=$1 object files=0 compilations=0 unities=()
  shift
  if ! is_configured OFF || ! command -v ninja >/dev/null; then
    local folders=("$root"/{rafter,apps,bench})
    [ "$tests" = OFF ] || folders+=("$root/tests")
    files=$(find "${folders[@]}" -name '*.cpp' | wc -l)
    echo "$((files / 10 + 1)) $files"
    return
  fi
  if ! is_configured "$tests"; then # what the demo built is there
    local tests_files
    tests_files=$(find "$root/tests" -name '*.cpp' | wc -l)
    read -r compilations files < <(work_of OFF rafter_command)
    echo "$((compilations + tests_files / 10 + 1)) $((files + tests_files))"
    return
  fi
  ninja -C "$build" build.ninja >/dev/null 2>&1 || true # it may be out of date itself
  ln -sf build.ninja "$build/plan.ninja" # under its own name ninja would say no more than that CMake looks for new files
  while IFS= read -r object; do
    compilations=$((compilations + 1))
    if [ -f "$build/$object" ]; then unities+=("$build/$object"); else files=$((files + 1)); fi
  done < <(ninja -C "$build" -f plan.ninja -n "$@" | sed -n 's/.*Building CXX object \(.*\)\.o$/\1/p')
  # A file that CMake makes of several includes them.
  ((${#unities[@]} == 0)) || files=$((files + $(cat "${unities[@]}" | grep -c '^#include')))
  echo "$compilations $files"
}

# seconds_of COMPILATIONS FILES
seconds_of() {
  awk -v n="$1" -v files="$2" -v unit="$compilation_seconds" -v each="$file_seconds" -v slow="$slow" -v jobs="$jobs" \
    'BEGIN { printf "%d", (n * unit + files * each) * slow / (n < jobs ? n + (n == 0) : jobs) }'
}

processors() { if ((jobs == 1)); then echo "1 processor"; else echo "$jobs processors"; fi; }

# announce WHAT SECONDS GROUPS TESTS TARGETS...: the first line, what will be done and about how long that takes; WHAT comes last and takes
# SECONDS on one processor of the machine of reference, or nobody knows how long where that is empty.
announce() {
  local what=$1 last=$2 groups=$3 tests=$4 packages megabytes compilations files seconds text=''
  shift 4
  # shellcheck disable=SC2086 # one argument per group
  read -r packages megabytes < <(missing_of $groups)
  read -r compilations files < <(work_of "$tests" "$@")
  [ "${RAFTER_INSTALL:-1}" != 0 ] || packages=0 # it will be refused
  ((packages == 0)) || text="installs about $packages packages ($megabytes MB), "
  ((files == 0)) || text+="compiles $files files on $(processors), "
  [ -n "$text$what" ] || return 0
  text+=$what
  measure_slowness
  seconds=$(awk -v packages="$packages" -v mb="$megabytes" -v each="$package_seconds" -v rate="$megabytes_per_second" -v slow="$slow" \
    -v compile="$(seconds_of "$compilations" "$files")" -v last="${last:-0}" -v jobs="$jobs" \
    'BEGIN { printf "%d", packages * each * slow + (packages > 0) * mb / rate + compile + last * slow / jobs }')
  if [ -n "$last" ]; then
    text="${text%, }; about $(in_words "$seconds")"
  elif ((packages + files > 0)); then
    text+="; about $(in_words "$seconds") before that"
  fi
  say "$text"
}

# compile TESTS TARGETS...: says nothing when everything is up to date.
compile() {
  local tests=$1 compilations files seconds
  shift
  read -r compilations files < <(work_of "$tests" "$@")
  measure_slowness
  seconds=$(seconds_of "$compilations" "$files")
  ((files == 0)) || say "compiling $files files in $compilations steps on $(processors), about $(in_words "$seconds")"
  stage compiling run_ninja "$seconds" "$@"
}

run_ninja() {
  local seconds=$1
  shift
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$jobs" "$@" | progress "$seconds" || fail "the build failed"
}

# build_for TESTS GROUPS TARGETS...: what is missing is installed, what is out of date is built.
build_for() {
  local tests=$1 groups=$2
  shift 2
  # shellcheck disable=SC2086 # one argument per group
  install_missing $groups
  configure "$tests"
  compile "$tests" "$@"
}

# build_command LAST SECONDS: announces it with what comes afterwards.
build_command() {
  announce "$1" "$2" build OFF rafter_command
  build_for OFF build rafter_command
}

demo() {
  [ $# -eq 0 ] || fail "demo takes no arguments, found '$*' (see ./rafter.sh help)"
  build_command "solves a beam of two materials" 30
  stage solving "$build/rafter" solve "$root/examples/beam.toml" --json beam.json
}

# Of the machine of reference: what the tests took here the last time, which ctest keeps, or elsewhere where only some have run.
seconds_of_tests() {
  if ! [ -f "$build/Testing/Temporary/CTestCostData.txt" ]; then
    echo "$tests_seconds"
    return
  fi
  awk -v first="$tests_seconds" -v slow="$slow" '/^---/ { exit } $2 > 0 { sum += $3 / slow } END { print int((sum > 0.3 * first) ? sum : first) }' \
    "$build/Testing/Temporary/CTestCostData.txt"
}

run_tests() {
  local selection=(-LE exhaustive) what="runs the tests"
  if [ "${1:-}" = --all ]; then
    selection=()
    what="runs all tests, which takes hours"
    shift
  fi
  [ $# -eq 0 ] || what="runs the tests that '$*' selects"
  # At least two tests at a time: many wait for a compiler or a disk.
  local seconds='' at_a_time=$((jobs > 2 ? jobs : 2))
  measure_slowness
  [ "$what" != "runs the tests" ] || seconds=$(seconds_of_tests)
  announce "$what" "$seconds" "build opencl test" ON
  build_for ON "build opencl test"
  # The packages of the tests bring an OpenCL device and hypre, so that tests of them fail where there are none.
  export RAFTER_NEEDS_OPENCL=${RAFTER_NEEDS_OPENCL:-1} RAFTER_NEEDS_HYPRE=${RAFTER_NEEDS_HYPRE:-1}
  stage testing run_ctest "$at_a_time" "$(awk -v s="${seconds:-0}" -v slow="$slow" -v n=$at_a_time 'BEGIN { printf "%d", s * slow / n }')" \
    "${selection[@]}" "$@"
}

# run_ctest AT_A_TIME FORECAST ARGUMENTS...
run_ctest() {
  local at_a_time=$1 forecast=$2
  shift 2
  [ "$forecast" -gt 0 ] || forecast=''
  ctest --test-dir "$build" -j "$at_a_time" --output-on-failure --no-tests=error "$@" | progress "$forecast"
}

bundle() {
  [ $# -le 1 ] || fail "bundle takes the name of a file, found '$*' (see ./rafter.sh help)"
  local file=${1:-$build/rafter-bundle.tar.xz}
  case $file in
  *.tar.xz | *.tar.gz | *.tar) ;;
  *) fail "bundle writes .tar.xz, .tar.gz or .tar, found '$file'" ;;
  esac
  cached RAFTER_PYTHON_PACKAGE ON || python_package=OFF # a bundle is without it
  announce "packs a bundle" 60 "build opencl test" ON bundle
  build_for ON "build opencl test" bundle
  stage packing "$root/scripts/bundle.sh" "$build" "$file"
}

wheel() {
  [ $# -le 1 ] || fail "wheel takes the name of a folder, found '$*' (see ./rafter.sh help)"
  [ "$python_package" = ON ] || fail "wheel needs the package for Python, which RAFTER_NEEDS_PYTHON=0 leaves out"
  announce "packs a wheel" 60 "build opencl test" ON _core
  build_for ON "build opencl test" _core
  stage packing pack_wheel "$(realpath -m "${1:-$build/wheels}")"
}

# pack_wheel FOLDER: what is built is packed, and the libraries that the module links to with it.
pack_wheel() {
  local programs=$build/python-env/bin plain=$build/plain-wheel log=$build/wheel.log
  rm -rf "$plain"
  if ! {
    "$programs/pip" wheel -q --no-deps --no-build-isolation -w "$plain" --config-settings=build-dir="$build" \
      --config-settings=cmake.define.RAFTER_TESTS=ON "$root" &&
      PATH=$programs:$PATH "$programs/auditwheel" repair -w "$1" "$plain"/*.whl
  } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    fail "the wheel could not be packed; the whole log is $log"
  fi
  say "packed $(sed -n 's/^Fixed-up wheel written to //p' "$log")"
}

setup() {
  local group known
  known=$(all_groups)
  for group in "$@"; do
    [[ " $known " == *" $group "* ]] || fail "setup takes groups of packages, found '$group'; accepted: ${known// /, }"
  done
  # shellcheck disable=SC2086 # one argument per group
  if [ $# -gt 0 ]; then install_missing "$@"; else install_missing $known; fi
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
demo) demo "$@" ;;
test) run_tests "$@" ;;
build) build_command '' 0 ;;
setup) setup "$@" ;;
bundle) bundle "$@" ;;
wheel) wheel "$@" ;;
bench)
  build_command 'runs the benchmark' ''
  exec "$build/rafter" bench "$@"
  ;;
help | --help | -h) usage ;;
*)
  usage >&2
  printf '\n' >&2
  printf "rafter.sh: unknown command '%s'; accepted: demo, test, build, setup, bench, bundle, wheel, help\n" "$command" >&2
  exit 2
  ;;
esac
