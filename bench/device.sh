#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a machine with an OpenCL device is, whether Rafter is right on it, and how fast: see device.sh --help and docs/devices.md.
# What informs most comes first. Every result is in its file as soon as it is there, each command has a time limit of its own, and a
# run that is stopped has left what came before.
set -u -o pipefail
export LC_ALL=C

usage() {
  cat <<'TEXT'
usage: bench/device.sh [OPTIONS] [FOLDER]

Results go to FOLDER (default ./device-results): log.txt (the course of it, and the machine), probe.txt (ceilings by CUDA), tests.txt, examples.txt
(host beside device), iterations.txt (solves phase by phase), bench.txt, reports.tar.gz (all JSON reports and outputs).

  --bundle PATH    the bundle of ./rafter.sh bundle, packed or unpacked; default: the one that this script is part of, or build/rafter-bundle.tar.xz
  --parts LIST     of system,probe,doctor,machine,tests,examples,iterations,bench (default: all)
  --device NAME    what runs kernels (default: cuda where it works, else opencl)
  --seconds N      after which nothing begins and what runs is ended (default 360)
  --mdofs N        size of benchmarks in million unknowns (default 8)
TEXT
}

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bundle='' parts=system,probe,doctor,machine,tests,examples,iterations,bench deadline=360 mdofs=8 out='' device=''
while [ $# -gt 0 ]; do
  case $1 in
  --bundle | --parts | --device | --seconds | --mdofs)
    [ $# -ge 2 ] || { printf 'device.sh: %s takes a value\n' "$1" >&2 && exit 2; }
    case $1 in
    --bundle) bundle=$2 ;;
    --parts) parts=$2 ;;
    --device) device=$2 ;;
    --seconds) deadline=$2 ;;
    --mdofs) mdofs=$2 ;;
    esac
    shift 2
    ;;
  --help | -h) usage && exit 0 ;;
  -*) usage >&2 && printf "\ndevice.sh: unknown option '%s'\n" "$1" >&2 && exit 2 ;;
  *) out=$1 && shift ;;
  esac
done
known=,system,probe,doctor,machine,tests,examples,iterations,bench,
for part in ${parts//,/ }; do
  [[ $known = *,$part,* ]] || { printf "device.sh: unknown part '%s'; accepted: %s\n" "$part" "$(tr ',' ' ' <<<"$known")" >&2 && exit 2; }
done
[[ $deadline =~ ^[0-9]+$ ]] || { printf "device.sh: --seconds takes a number, found '%s'\n" "$deadline" >&2 && exit 2; }
mkdir -p "${out:=./device-results}" || exit 3
out=$(readlink -f "$out")
log=$out/log.txt
: >"$log" || exit 3
work=$(mktemp -d "${TMPDIR:-/tmp}/rafter-device.XXXXXX")
reports=$work/reports
mkdir -p "$reports"
processors=$(nproc 2>/dev/null || echo 1)
declare -A started=() # processes that are to be ended with this one

say() { printf '[%3d s] %s\n' "$SECONDS" "$*" | tee -a "$log"; }

# Reports as one file, complete at any moment.
pack() {
  tar -C "$work" -czf "$work/reports.tar.gz" reports && cp "$work/reports.tar.gz" "$out/.reports" && mv "$out/.reports" "$out/reports.tar.gz"
}

finish() {
  trap - EXIT INT TERM
  local process
  for process in "${!started[@]}"; do kill "$process" 2>/dev/null; done
  for process in "${!started[@]}"; do wait "$process" 2>/dev/null; done # they write files until they end
  pack
  rm -rf "$work"
}
trap finish EXIT
trap 'say stopped; exit 130' INT TERM

# limited SECONDS COMMAND...: with this limit or until `last`; 124 where it was ended, 125 where it has not begun.
limited() {
  local limit=$1 left=$((last - SECONDS)) process code
  shift
  ((limit < left)) || limit=$left
  ((limit > 0)) || return 125
  timeout -k 2 "$limit" "$@" </dev/null & # in the background, as bash hears signals while it waits
  process=$!
  started[$process]=1
  wait "$process"
  code=$?
  unset "started[$process]"
  return $code
}

# step NAME FILE SECONDS COMMAND...: the output goes to the end of FILE, and how it ended to the log.
step() {
  local name=$1 file=$2 limit=$3 begin=$SECONDS code
  shift 3
  printf '== %s: %s\n' "$name" "$*" >>"$file"
  limited "$limit" "$@" >>"$file" 2>&1
  code=$?
  case $code in
  124 | 137) say "$name: ended at its limit, after $((SECONDS - begin)) s" ;;
  125) say "$name: not begun, time is up" ;;
  *) say "$name: code $code, $((SECONDS - begin)) s" ;;
  esac
  return $code
}

# --- the bundle -------------------------------------------------------------------------------------------------------------------------

find_bundle() {
  local candidate
  for candidate in "$bundle" "$here/.." rafter-bundle "$here/../build/rafter-bundle.tar.xz" rafter-bundle.tar.xz; do
    if [ -x "$candidate/bin/device-tests" ] || [ -f "$candidate" ]; then
      readlink -f "$candidate"
      return
    fi
    [ "$candidate" != "$bundle" ] || [ -z "$bundle" ] || return 1
  done
  return 1
}

if ! bundle=$(find_bundle); then
  say "there is no bundle: ./rafter.sh bundle makes it, and --bundle names it"
  exit 3
fi
if [ -f "$bundle" ]; then # Python unpacks where there is no program for the compression
  tar -C "$work" -xf "$bundle" 2>>"$log" || python3 -m tarfile -e "$bundle" "$work" || {
    say "$bundle cannot be unpacked (a .tar.gz needs no xz: ./rafter.sh bundle FILE.tar.gz)"
    exit 3
  }
  bundle=$work/rafter-bundle
fi
rafter=$bundle/bin/rafter
export XDG_CACHE_HOME=$work/cache CUDA_CACHE_PATH=$work/cuda-cache # so that compilers start cold, and nothing is left here
mkdir -p "$XDG_CACHE_HOME"
say "bundle $bundle, $processors processors"

# --- the driver -------------------------------------------------------------------------------------------------------------------------

# find_library NAME: its path, by the loader's list or from the folders where drivers are put in containers.
find_library() {
  local folder found
  found=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name { print $NF; exit }')
  [ -z "$found" ] || { echo "$found" && return; }
  local -a folders=()
  IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
  for folder in ${folders[@]+"${folders[@]}"} /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/nvidia/lib64 /usr/local/cuda/lib64 /opt/rocm/lib; do
    [ -z "$folder" ] || [ ! -e "$folder/$1" ] || { echo "$folder/$1" && return; }
  done
}

# Containers often have NVIDIA's driver without the file that names it to the OpenCL loader.
name_drivers() {
  local driver vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
  driver=$(find_library libnvidia-opencl.so.1)
  if [ -z "$driver" ] || grep -qs nvidia "$vendors"/*.icd; then return 0; fi
  mkdir -p "$work/vendors"
  cp "$vendors"/*.icd "$work/vendors/" 2>/dev/null
  echo "$driver" >"$work/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$work/vendors
  say "no file of $vendors names NVIDIA's OpenCL: a temporary one names $driver"
}
name_drivers

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

# --- the parts --------------------------------------------------------------------------------------------------------------------------

describe_system() {
  local name
  nvidia-smi || echo "no nvidia-smi"
  nvidia-smi --query-gpu=name,compute_cap,memory.total,clocks.max.sm,clocks.max.mem,clocks.sm,power.limit,pcie.link.gen.max,ecc.mode.current --format=csv
  lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Core|Socket|L[123]|NUMA node\(s\)|Flags)'
  free -m
  df -h "$work" "$out"
  uname -a
  ldd --version | head -n 1
  grep PRETTY_NAME /etc/os-release
  for name in gcc g++ cc clang nvcc cmake python3 xz perf gdb; do printf '%s: %s\n' "$name" "$(command -v "$name" || echo missing)"; done
  gcc --version | head -n 1
  "${nvcc:-nvcc}" --version | tail -n 2
  for name in libcuda.so.1 libnvrtc.so libnvrtc.so.12 libnvrtc.so.13 libnvidia-opencl.so.1 libOpenCL.so.1 libstdc++.so.6; do
    printf '%s: %s\n' "$name" "$(find_library "$name")"
  done
  ls -l /etc/OpenCL/vendors
  env | grep -E '^(CUDA|NVIDIA|OCL|LD_)'
}

part_system() {
  say "system"
  describe_system >>"$log" 2>&1
}

# The probe is compiled while other parts run, since they leave the device alone.
compiler=''
start_probe() {
  [ -n "$nvcc" ] || return 0
  local capability target=native
  capability=$(timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -dc 0-9)
  [ -z "$capability" ] || target=sm_$capability
  timeout 100 "$nvcc" -O3 -std=c++17 -arch="$target" -o "$work/probe" "$bundle/bench/device_probe.cu" -lcuda -lnvrtc </dev/null >"$out/probe.txt" 2>&1 &
  compiler=$!
  started[$compiler]=1
}

part_probe() {
  local code
  if [ -z "$compiler" ]; then
    say "probe: there is no nvcc, so that the ceilings of CUDA are not measured"
    return
  fi
  wait "$compiler"
  code=$?
  unset "started[$compiler]"
  if [ $code = 0 ]; then
    LD_LIBRARY_PATH=$(dirname "$(dirname "$nvcc")")/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} step probe "$out/probe.txt" 40 "$work/probe"
  else
    say "probe: it does not compile, see probe.txt"
  fi
}

part_doctor() { step doctor "$log" 30 "$rafter" doctor; }

# The device that works without a hint: cuda needs its compiler, too.
choose_device() {
  local report
  report=$(timeout 30 "$rafter" doctor 2>&1)
  if grep -qE '^cuda:0 +works' <<<"$report" && grep -qE '^NVRTC +works' <<<"$report"; then echo cuda; else echo opencl; fi
}
[ -n "$device" ] || device=$(choose_device)
say "device: $device"

# Tests in several processes at a time: compilers of drivers take most of it.
part_tests() {
  local shards=$((processors < 4 ? processors : 4)) i processes=() failed=0 limit=$((last - SECONDS)) begin=$SECONDS
  ((limit < 90)) || limit=90
  ((limit > 0)) || limit=1
  for ((i = 0; i < shards; ++i)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout -k 2 $limit "$bundle/bin/device-tests" '--gtest_filter=*OpenCl*:*Cuda*:-*Driver*:*Emulated*' --gtest_brief=1 \
      </dev/null >"$reports/tests.$i.txt" 2>&1 &
    processes+=($!)
    started[$!]=1
  done
  for ((i = 0; i < shards; ++i)); do
    wait "${processes[i]}" || failed=$((failed + 1))
    unset "started[${processes[i]}]"
    tail -n 40 "$reports/tests.$i.txt" >>"$out/tests.txt"
  done
  say "tests: $failed of $shards shards failed, $((SECONDS - begin)) s"
}

# solve SECONDS NAME WHERE PROBLEM ARGUMENTS...: becomes a solve that leaves NAME.WHERE.json and NAME.WHERE.txt among the reports.
solve() {
  local limit=$1 name=$2 where=$3 problem=$4
  shift 4
  mkdir -p "$work/runs/$name.$where" # for what a problem writes
  cd "$work/runs/$name.$where" || exit
  exec timeout -k 2 "$limit" "$rafter" solve "$problem" --json "$reports/examples/$name.$where.json" "$@" </dev/null \
    >"$reports/examples/$name.$where.txt" 2>&1
}

# Settings with which answers agree to their last digits but three: as tight as rounding allows, and a norm of every field to compare.
settings_of() {
  echo "solver.rtol=1e-12"
  if grep -qE '^F *=' "$1" && ! grep -qE '^\[?time' "$1"; then echo "newton.rtol=1e-12"; fi
  grep -q max_iterations "$1" || echo "solver.max_iterations=5000" # small problems would be solved directly without a key of iterations
  sed -nE 's/^\[?fields\.([A-Za-z_0-9]+).*/functionals.norm_of_\1=inner(\1, \1)*dx/p' "$1" | sort -u
}

part_examples() {
  local problem name where runs_on setting arguments running=0 begin=$SECONDS left number=0
  local -a problems=("$bundle"/examples/poisson*.toml) # every shape
  for problem in "$bundle"/examples/*.toml; do [[ $problem = */poisson* ]] || problems+=("$problem"); done
  mkdir -p "$reports/examples"
  for problem in "${problems[@]}"; do
    name=$(basename "$problem" .toml)
    arguments=()
    while read -r setting; do arguments+=(--set "$setting"); done < <(settings_of "$problem")
    for where in device host; do
      runs_on=host
      [ $where = host ] || runs_on=$device
      if ((running >= processors)); then
        wait -n -p ended
        unset "started[$ended]"
        running=$((running - 1))
      fi
      left=$((last - SECONDS))
      ((left > 0)) || break 2
      solve $left "$name" $where "$problem" --device $runs_on --threads 1 "${arguments[@]}" &
      started[$!]=1
      running=$((running + 1))
    done
    number=$((number + 1))
  done
  for ((; running > 0; --running)); do
    wait -n -p ended
    unset "started[$ended]"
  done
  say "examples: $number of ${#problems[@]} begun, $((SECONDS - begin)) s"
  last=$deadline # what has ended is compared
  if command -v python3 >/dev/null; then
    step "comparison of examples" "$out/examples.txt" 30 python3 "$bundle/bench/compare_reports.py" "$reports/examples"
    tail -n 1 "$out/examples.txt" | tee -a "$log"
  else
    say "examples: there is no python3 here; elsewhere, bench/compare_reports.py compares what reports.tar.gz holds"
  fi
}

# Solves measure the ceilings where nobody has, and the examples would do so side by side.
part_machine() {
  step machine "$out/bench.txt" 60 "$rafter" machine --device "$device"
  limited 10 "$rafter" machine --device "$device" --json >"$reports/machine.json" 2>>"$log"
  step "machine, host" "$out/bench.txt" 30 "$rafter" machine
}

# Where the time of an iteration goes. The first solve compiles what the others find in the cache; then a layer of the OpenCL loader records
# what the driver was asked to do, first as it is and then with a wait after each command, so that times are those of the device.
part_iterations() {
  local cells name file=$out/iterations.txt times=$bundle/lib/libopencl_times.so
  mkdir -p "$reports/iterations"
  local -x XDG_CACHE_HOME=$work/cold CUDA_CACHE_PATH=$work/cold-cuda
  mkdir -p "$XDG_CACHE_HOME"
  if [ -d "$work/cache/rafter" ]; then # figures of the machine alone: what they take is none of the solve's
    mkdir -m 700 "$XDG_CACHE_HOME/rafter"
    cp "$work"/cache/rafter/*.json "$XDG_CACHE_HOME/rafter/" 2>/dev/null
  fi
  iterate() { # NAME CELLS ENVIRONMENT...
    name=$1 cells=$2
    shift 2
    step "iterations, $name" "$file" 40 env "$@" "$rafter" solve "$bundle/examples/poisson.toml" --device "$device" --verbose --threads "$processors" \
      --set solver.method=cg --set solver.rtol=1e-8 --set "mesh.box.cells=[$cells, $cells, $cells]" --json "$reports/iterations/$name.json"
  }
  iterate "5e3-first" 4
  iterate "5e3-again" 4
  iterate "1e5-first" 12
  iterate "1e5-again" 12
  iterate "1e6" 25
  # Here nobody looks at each iteration, so that several are queued at a time.
  step "iterations queued" "$file" 40 "$rafter" bench hosfem --device "$device" --equations poisson --kernels baseline --degrees 4 --mdofs 0.005,0.1,1 \
    --rounds 2 --iterations 64 --machine kept --threads "$processors" --json "$reports/iterations/queued.json"
  [[ -e $times && $device = opencl* ]] || return 0
  for cells in 4 12 25; do
    iterate "times-$cells-cells" $cells OPENCL_LAYERS="$times" OPENCL_TIMES="$reports/iterations/times-$cells.txt"
    iterate "waits-$cells-cells" $cells OPENCL_LAYERS="$times" OPENCL_TIMES="$reports/iterations/waits-$cells.txt" OPENCL_TIMES_WAITS=1
    for name in times waits; do
      printf '== calls of OpenCL, %s, %s cells per edge\n' $name "$cells" >>"$file"
      sed '/^$/,$d' "$reports/iterations/$name-$cells.txt" >>"$file" 2>/dev/null
    done
  done
}

# measure NAME SUITE ARGUMENTS...
measure() {
  local name=$1
  shift
  step "bench $name" "$out/bench.txt" 40 "$rafter" bench "$@" --device "$device" --machine kept --threads "$processors" --json "$reports/bench-$name.json"
  pack
}

part_bench() {
  local pair geometry degree
  for pair in cartesian:4 deformed:4 deformed:7 deformed:2 cartesian:7 cartesian:2 tetrahedra:4 tetrahedra:2 prisms:4 prisms:2; do
    geometry=${pair%:*} degree=${pair#*:}
    measure "$geometry-$degree" bp --cases bp1,bp3,bp5 --geometry "$geometry" --degrees "$degree" --mdofs "$mdofs" --rounds 3 --sample-seconds 0.05 \
      --applications 0
  done
  measure poisson-solve poisson-solve --geometry hexahedra,tetrahedra --degrees 4 --mdofs "$(awk -v n="$mdofs" 'BEGIN { print n / 8 }')" --rounds 2
  measure axlocal axlocal --equations poisson,helmholtz --degrees 7 --mdofs "$mdofs" --rounds 3 --sample-seconds 0.05
  measure elasticity bp --cases elasticity --geometry cartesian,deformed --degrees 2,4 --mdofs "$mdofs" --rounds 3 --sample-seconds 0.05 --applications 0
}

[[ ,$parts, != *,probe,* ]] || start_probe
for part in system doctor probe machine tests examples iterations bench; do
  case $part in # what the machine is and whether Rafter is right there has half of the time at most
  iterations | bench) last=$deadline ;;
  *) last=$((deadline / 2)) ;;
  esac
  if [[ ,$parts, == *,$part,* ]]; then
    "part_$part"
    pack
  fi
done
say "done; results in $out"
