#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: bundle.sh BUILD FILE
# Packs the programs of BUILD/bundle (cmake/bundle.cmake) into FILE with the libraries that they need and the examples, for machines
# with glibc of this one's version or newer where nothing is installed. The suffix of FILE says how it is compressed: .tar.xz, .tar.gz, .tar.
set -euo pipefail
export LC_ALL=C # libraries are edited as bytes

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
most_bytes=$((40 << 20)) # many systems refuse larger files to be sent

fail() {
  printf 'bundle.sh: %s\n' "$*" >&2
  exit 3
}

[ $# -eq 2 ] || fail "usage: bundle.sh BUILD FILE"
build=$(readlink -f "$1")
case $2 in
*.tar.xz) pack=(xz -9 -T 0) ;;
*.tar.gz) pack=(gzip -9) ;;
*.tar)
  pack=(cat)
  most_bytes=$((1 << 30))
  ;;
*) fail "the file '$2' ends with none of .tar.xz, .tar.gz, .tar" ;;
esac

# Libraries of glibc belong to the machine, as its loader does.
is_of_glibc() {
  case $1 in
  ld-linux* | linux-vdso* | libc.so* | libm.so* | libmvec.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so* | libutil.so* | libanl.so*) ;;
  *) return 1 ;;
  esac
}

# The names that a program or library and what it needs are linked to, and where they are: "NAME PATH".
libraries_of() {
  local found
  found=$(ldd "$1") || fail "ldd does not read $1"
  ! grep 'not found' <<<"$found" >&2 || fail "libraries of $1 are missing"
  awk '$2 == "=>" && $3 ~ "^/" { print $1, $3 }' <<<"$found"
}

# lead_to FOLDER FILE: a way of its own to other libraries keeps the loader from that of the program, so that this folder is written over it.
# The rest of its place is filled with slashes, which change no path.
lead_to() {
  local own
  own=$(readelf -d "$2" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]$/\2/p')
  if [ -z "$own" ]; then return 0; fi
  [ ${#own} -ge ${#1} ] || fail "the way '$own' of $2 to its libraries has no room for '$1'"
  sed -i "s|$own|$1$(printf '%*s' $((${#own} - ${#1})) '' | tr ' ' /)|" "$2"
}

# add_library NAME PATH
add_library() {
  if is_of_glibc "$1" || [ -e "$bundle/lib/$1" ]; then return 0; fi
  cp -L "$2" "$bundle/lib/$1"
  chmod 755 "$bundle/lib/$1"
  strip --strip-unneeded "$bundle/lib/$1"
  # shellcheck disable=SC2016 # the loader knows what it stands for
  lead_to '$ORIGIN' "$bundle/lib/$1"
  add_licence "$2"
}

# Who passes a library on passes its licence on. A path may be known to dpkg by the name that it had before /lib became /usr/lib.
add_licence() {
  local file package
  command -v dpkg-query >/dev/null || return 0
  file=$(readlink -f "$1")
  package=$(dpkg-query -S "$file" "${file#/usr}" 2>/dev/null | sed -n '1s/:.*//p') || true
  if [ -n "$package" ] && [ -e "/usr/share/doc/$package/copyright" ]; then
    cp -L "/usr/share/doc/$package/copyright" "$bundle/licences/$package"
  fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bundle=$scratch/rafter-bundle
mkdir -p "$bundle"/{bin,lib,bench,licences}
for program in rafter device-tests; do
  cp "$build/bundle/bin/$program" "$bundle/bin/"
done
opened=() # libraries that are opened at run time
if [ -e "$build/librafter_hypre.so" ]; then
  cp "$build/librafter_hypre.so" "$bundle/bin/" # rafter looks for it beside itself
  strip --strip-unneeded "$bundle/bin/librafter_hypre.so"
  # shellcheck disable=SC2016
  lead_to '$ORIGIN/../lib' "$bundle/bin/librafter_hypre.so"
  opened+=("$build/librafter_hypre.so")
fi
if [ -e "$build/bundle/lib/libopencl_times.so" ]; then cp "$build/bundle/lib/libopencl_times.so" "$bundle/lib/"; fi
loader=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk '$1 == "libOpenCL.so.1" && /x86-64|AArch64/ { print $NF; exit }' || true)
[ -n "$loader" ] || fail "libOpenCL.so.1 is missing: ./rafter.sh setup opencl"
add_library libOpenCL.so.1 "$loader"
for file in "$bundle"/bin/{rafter,device-tests} "${opened[@]}"; do
  found=$(libraries_of "$file")
  while read -r name path; do
    add_library "$name" "$path"
  done <<<"$found"
done
cp -r "$root/examples" "$bundle/examples"
cp "$root"/bench/{device.sh,device_probe.cu,compare_reports.py} "$bundle/bench/"
cp "$root/LICENSE" "$bundle/"
cp "$root/docs/devices.md" "$bundle/README.md"

# Complete or absent: an archive that is too large, or that was stopped, has no name.
tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner -cf - rafter-bundle | "${pack[@]}" >"$scratch/archive"
bytes=$(stat -c %s "$scratch/archive")
[ "$bytes" -le $most_bytes ] || fail "the bundle has $bytes bytes, more than $most_bytes"
mkdir -p "$(dirname "$2")"
part=$2.part.$$ # beside the file, since another file system copies
trap 'rm -rf "$scratch" "$part"' EXIT
mv "$scratch/archive" "$part"
mv "$part" "$2"
printf '%s: %d files, %.1f MB, for %s with glibc %s or newer\n' "$2" "$(find "$bundle" -type f | wc -l)" "$(awk -v b="$bytes" 'BEGIN { print b / 1e6 }')" \
  "$(uname -m)" "$(ldd --version | sed -n '1s/.* //p')"
