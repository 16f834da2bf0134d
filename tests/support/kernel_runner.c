// SPDX-License-Identifier: BSD-3-Clause
// This program runs kernels of shared libraries on buffers in a file, for tests/support/target_device.hpp. It is
// compiled for the processor under test.
//   kernel_runner ARENA TASKS
// ARENA holds all buffers. Every line of TASKS is one task: library, entry point, first and last batch (not included),
// number of buffers, and per buffer its position in the file. If anything is missing, the exit code is 1.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

typedef void (*entry_point)(void* const* arguments, long begin, long end);

static void require(int condition, const char* what, const char* detail)
{
  if (condition) return;
  fprintf(stderr, "kernel_runner: %s: %s\n", what, detail);
  exit(1);
}

static char* map_file(const char* path)
{
  struct stat status;
  const int file = open(path, O_RDWR);
  require(file >= 0 && fstat(file, &status) == 0, "cannot open", path);
  char* memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(memory != MAP_FAILED, "cannot map", path);
  return memory;
}

int main(int argc, char** argv)
{
  enum { most_arguments = 256 };
  static char library[4096], name[4096];
  require(argc == 3, "usage", "kernel_runner ARENA TASKS");
  char* arena = map_file(argv[1]);
  FILE* tasks = fopen(argv[2], "r");
  require(tasks != NULL, "cannot open", argv[2]);
  long begin, end, count;
  while (fscanf(tasks, "%4095s %4095s %ld %ld %ld", library, name, &begin, &end, &count) == 5) {
    void* arguments[most_arguments];
    require(count >= 0 && count <= most_arguments, "too many buffers", name);
    for (long i = 0; i < count; ++i) {
      long position;
      require(fscanf(tasks, "%ld", &position) == 1, "a position is missing", name);
      arguments[i] = arena + position;
    }
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    require(handle != NULL, "cannot load", handle == NULL ? dlerror() : "");
    const entry_point entry = (entry_point)dlsym(handle, name);
    require(entry != NULL, "no entry point", name);
    entry(arguments, begin, end);
  }
  require(feof(tasks), "broken task", name);
  return 0;
}
