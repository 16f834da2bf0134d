# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of one of the two are used in the other
# Forecasts, progress and stop-watch of rafter.sh and of scripts/clean_root_test.sh, which read this file.

# Seconds that a core of the machine where `reference_loop` was measured (Intel Xeon, Sapphire Rapids, both threads of a core busy) takes. A
# file of Rafter costs the headers of other libraries once in each compilation, and its own lines: with GCC 12 twelve files took 9 to 34 s
# together, most of them 9 to 17, and one by itself 1.4 s.
reference_loop=0.034
compilation_seconds=1.5
file_seconds=1.0
package_seconds=0.25 # to unpack and set up one of Debian
megabytes_per_second=8
tests_seconds=1800 # of all that are not exhaustive, kernels cold

# How much slower than the reference a core here is, as far as a loop of bash shows: the best of three. Measured when it is first needed,
# which must not be in a subshell, unless RAFTER_SLOWNESS says it.
slow=${RAFTER_SLOWNESS:-}
measure_slowness() {
  [ -z "$slow" ] || return 0
  local TIMEFORMAT=%U i times=''
  for _ in 1 2 3; do
    times+=$({ time for ((i = 0; i < 20000; i++)); do :; done; } 2>&1)$'\n'
  done
  slow=$(sort -n <<<"$times" | awk -v reference=$reference_loop '$1 > 0 { print $1 / reference; exit }')
  slow=${slow:-1}
}

# in_words SECONDS: "5 minutes"
in_words() {
  local minutes=$((($1 + 30) / 60))
  if (($1 < 20)); then
    echo 'some seconds'
  elif ((minutes == 0)); then
    echo 'half a minute'
  elif ((minutes == 1)); then
    echo '1 minute'
  else
    echo "$minutes minutes"
  fi
}

# as_clock SECONDS: 4:05
as_clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Hundredths of seconds of processor time that the finished children of this shell and it itself took.
processor_time() {
  local fields
  read -ra fields <"/proc/$$/stat"
  echo $((fields[13] + fields[14] + fields[15] + fields[16]))
}

# stage NAME COMMAND...: runs the command, and says what it took where that is more than a second.
stage() {
  local name=$1 begin=$SECONDS processor
  shift
  processor=$(processor_time)
  "$@"
  processor=$((($(processor_time) - processor) / 100))
  ((SECONDS - begin < 2)) || say "$name took $(as_clock $((SECONDS - begin))) ($(as_clock $processor) of processor time)"
}

say() { printf 'rafter.sh: %s\n' "$*"; }

# progress [FORECAST]: takes the output of ninja and ctest. Lines of steps that went well, "[12/66] what" and " 12/66 Test #7: what ... Passed",
# become one line that stays in its place on a terminal, and one line every half minute elsewhere; all else is printed. Time that is left is
# the forecast's, in seconds, until so many steps are done that their rate is known.
progress() {
  local forecast=${1:-} begin=$SECONDS shown=$SECONDS line open=no what finished total text
  while IFS= read -r line; do
    case $line in
    "ninja: Entering directory"* | "ninja: no work to do." | *"Re-checking globbed directories"* | "Internal ctest changing into"*) continue ;;
    esac
    if [[ $line =~ ^" "*Start" "+[0-9]+:" " ]]; then continue; fi
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]" "(.*) ]] || [[ $line =~ ^" "*([0-9]+)/([0-9]+)" "Test" "+"#"[0-9]+:" "([^ ]+)" ".*("   Passed "|"***Skipped") ]]; then
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} what=${BASH_REMATCH[3]}
      text="$finished of $total steps, $(as_clock $((SECONDS - begin)))$(time_left "$finished" "$total" $((SECONDS - begin)) "$forecast")"
      if [ -t 1 ]; then
        what="$text  $what"
        printf '\r\033[K%s' "${what:0:79}"
        open=yes
      elif ((SECONDS - shown >= ${RAFTER_PROGRESS_SECONDS:-30})); then
        say "$text"
        shown=$SECONDS
      fi
      continue
    fi
    if [ $open = yes ]; then printf '\n'; fi
    open=no
    printf '%s\n' "$line"
  done
  if [ $open = yes ]; then printf '\n'; fi
}

# time_left DONE TOTAL ELAPSED FORECAST: ", about 3:20 to go", or nothing where nothing is known yet. Steps at the start may take long (what took
# longest comes first, and what compiles kernels for all): the rate counts as much as is done, the forecast as much as is left.
time_left() {
  local left
  if (($1 >= 4 * jobs && $3 >= 10)); then
    left=$(($3 * ($2 - $1) / $1))
    if [ -n "$4" ]; then left=$(((left * $1 + ($4 > $3 ? $4 - $3 : 0) * ($2 - $1)) / $2)); fi
  elif [ -n "$4" ]; then
    left=$(($4 > $3 ? $4 - $3 : 0))
  else
    return 0
  fi
  if ((left > 0)); then printf ', about %s to go' "$(as_clock $left)"; fi
}
