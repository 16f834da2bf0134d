#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs README's two commands in a Debian 12 root that holds nothing but git, with a stop-watch:
# scripts/clean_root_test.sh [-k] [FOLDER] [-- COMMAND...]
# The root is made in FOLDER (default: a new one under /tmp) and removed afterwards unless -k is given; with -k a root that is
# already there is used again. COMMAND is run instead of the two. Needs root and debootstrap. Mirror, apt configuration,
# certificates and proxies are those of the host, so that it works behind a local mirror. The committed state is tested. The last lines
# say what each command took and, of each, its parts as rafter.sh reports them: minutes and seconds, of the clock and of processors.
set -euo pipefail

source=$(dirname "$(dirname "$(readlink -f "$0")")")
# shellcheck source=scripts/progress.sh
. "$source/scripts/progress.sh"
keep=no
if [ "${1:-}" = -k ]; then
  keep=yes
  shift
fi
if [ $# -gt 0 ] && [ "$1" != -- ]; then
  target=$1
  shift
else
  target=$(mktemp -d /tmp/rafter-root.XXXXXX)
fi
[ "${1:-}" != -- ] || shift

[ "$(id -u)" -eq 0 ] || { echo "clean_root_test.sh: must be root (debootstrap, chroot)" >&2; exit 3; }
command -v debootstrap >/dev/null || { echo "clean_root_test.sh: debootstrap is missing (apt-get install debootstrap)" >&2; exit 3; }

cleanup() {
  rm -f "$target.output"
  local name
  for name in dev/pts proc sys; do
    if mountpoint -q "$target/$name"; then umount "$target/$name"; fi
  done
  [ "$keep" = yes ] || rm -rf --one-file-system "$target"
}
trap cleanup EXIT

# The host's first Debian archive, of either form of apt's sources.
mirror() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null |
    awk '$3 == "main" && $1 ~ /debian\/?$/ { print $1; exit }'
}

copy_from_host() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$target$(dirname "$path")"
    rm -rf "${target:?}$path"
    cp -aL "$path" "$target$path"
  done
}

# step NAME COMMAND...: runs the command; what it took is kept for the end, with the parts that its output reports.
times=''
step() {
  local name=$1 begin=$SECONDS processor output=$target.output
  processor=$(processor_time)
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$output"
  times+=$(row "$name" $((SECONDS - begin)) $((($(processor_time) - processor) / 100)))$'\n'
  times+=$(sed -n 's/^rafter.sh: \(.*\) took \([0-9:]*\) (\([0-9:]*\) of processor time)$/\1 \2 \3/p' "$output" |
    while read -r part clock processors; do printf '  %-48s %8s %8s\n' "$part" "$clock" "$processors"; done)$'\n'
  rm -f "$output"
}

# row NAME SECONDS SECONDS
row() { printf '%-50s %8s %8s' "$1" "$(as_clock "$2")" "$(as_clock "$3")"; }

in_root() {
  local variables=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LC_ALL=C.UTF-8) name
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!name:-}" ] || variables+=("$name=${!name}")
  done
  chroot "$target" env -i "${variables[@]}" bash -ec "cd /root/rafter; $*"
}

make_root() {
  local from
  from=$(mirror)
  [ -n "$from" ] || { echo "clean_root_test.sh: the host's apt knows no Debian archive (apt-get update?)" >&2; exit 3; }
  debootstrap --variant=minbase --include=git,ca-certificates bookworm "$target" "$from" >"$target.log" 2>&1 ||
    { tail -n 20 "$target.log" >&2; exit 3; }
  rm -f "$target.log"
}

configure_root() {
  chmod 755 "$target" # as every root is; that of mktemp is closed to the users whom tests and apt become
  copy_from_host /etc/resolv.conf /etc/hosts /etc/ssl/certs /usr/local/share/ca-certificates
  rm -f "$target"/etc/apt/sources.list
  printf 'deb %s bookworm main\n' "$(mirror)" >"$target/etc/apt/sources.list"
  # Proxies, certificates, retries; not the host's hooks, which name programs that a bare root does not have.
  apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|ForceIPv4|Retries|Check-)' >"$target/etc/apt/apt.conf.d/90host" || true
  # /dev is the small static one of debootstrap: nothing of the host is within reach of the removal afterwards.
  mountpoint -q "$target/proc" || mount -t proc proc "$target/proc"
  # The tests open terminals.
  mkdir -p "$target/dev/pts"
  mountpoint -q "$target/dev/pts" || mount -t devpts -o newinstance,ptmxmode=0666 devpts "$target/dev/pts"
  ln -sf pts/ptmx "$target/dev/ptmx"
  # Drivers of OpenCL ask there what the machine has.
  mountpoint -q "$target/sys" || mount -t sysfs -o ro sysfs "$target/sys"
}

if [ ! -x "$target/usr/bin/git" ]; then step "Debian 12 root in $target" make_root; fi
configure_root
rm -rf "$target/root/rafter"
git clone -q "$source" "$target/root/rafter"
if [ $# -gt 0 ]; then
  step "$*" in_root "$*"
else
  step "./rafter.sh demo" in_root "./rafter.sh demo"
  step "./rafter.sh test" in_root "./rafter.sh test"
  step "./rafter.sh demo, nothing to install or build" in_root "./rafter.sh demo"
fi
printf '\n%-50s %8s %8s\n%s' took clock processor "$(sed '/^$/d' <<<"$times")"
echo
