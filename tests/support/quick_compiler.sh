#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands ahead of gcc in the PATH of tests, under its name (tests/labels.cmake): their kernels run on a few cells, so that
# compiling them takes longer than running them. Clang without optimisation takes a fifth of GCC's time for a long kernel.
# Its driver starts itself anew where it links, too, which is half of the time for a short kernel: the linker is called here.
command -v clang >/dev/null || {
  PATH=$RAFTER_USERS_PATH exec gcc "$@" -O0
}
case " $* " in *" -shared "*) ;; *) exec clang "$@" -O0 ;; esac
library=
last=
for argument; do
  [ "$last" != -o ] || library=$argument
  last=$argument
done
clang -c "$@" -O0 -o "$library.o" && exec ld -shared -o "$library" "$library.o" -lm
