// SPDX-License-Identifier: BSD-3-Clause
// A library with the functions of NVIDIA's run-time compiler that Rafter takes, which compiles CUDA C++ for the
// processor: together with the emulated driver it runs kernels of CUDA devices where there is no such device. The code
// of a program is a shared library with a function run_NAME(arguments) for each kernel NAME, which runs one item, and
// global variables: threadIdx, blockIdx, the function that is a barrier, and whether there are any. Its log reports one
// register and no memory for each kernel.
//
// EMULATED_CUDA_COMPILER names the C++ compiler (default: that of the build). EMULATED_CUDA_BROKEN=1 lets every
// compilation fail.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include <unistd.h>

namespace {

struct Program {
  std::string source, log, code;
};

/// Words of CUDA C++ as those of C++. A group runs its items one after the other, each on a stack of its own where
/// there are barriers; emulated_barrier() is the driver's.
const char* const prelude = R"(
#include <math.h>
#include <utility>
struct Index { unsigned x, y, z; };
extern "C" { Index threadIdx, blockIdx; void (*emulated_barrier)(); }
#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __launch_bounds__(...)
static inline void __syncthreads() { emulated_barrier(); }
template <class T> static inline T atomicAdd(T* p, T value) { T before = *p; *p += value; return before; }
template <class... P, unsigned long... i>
static inline void emulated_call(void (*f)(P...), void** a, std::index_sequence<i...>) { f(*static_cast<P*>(a[i])...); }
template <class... P> static inline void emulated_run(void (*f)(P...), void** a) {
  emulated_call(f, a, std::index_sequence_for<P...>());
}
)";

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void build(Program& program) {
  const char* broken = std::getenv("EMULATED_CUDA_BROKEN");
  if (broken != nullptr && std::strcmp(broken, "1") == 0) {
    program.log = "kernel.cu(1): error: this compiler is broken\n";
    return;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "emulated-cuda-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return;
  const std::string source = folder + "/kernel.cpp", library = folder + "/kernel.so", log = folder + "/log";
  std::string text = std::string(prelude) + "#line 1 \"kernel.cu\"\n" + program.source + "\n";
  const bool has_barriers = program.source.find("__syncthreads") != std::string::npos;
  text += "extern \"C\" { int emulated_has_barriers = " + std::string(has_barriers ? "1" : "0") + "; }\n";
  const std::regex kernel("__global__ .*(entry_[A-Za-z_0-9]+)\\(");
  for (std::sregex_iterator found(program.source.begin(), program.source.end(), kernel), end; found != end; ++found) {
    const auto name = (*found)[1].str();
    text += "extern \"C\" void run_" + name + "(void** a) { emulated_run(" + name + ", a); }\n";
    program.log += "ptxas info    : Compiling entry function '" + name + "' for 'emulated'\n" +
                   "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n" +
                   "ptxas info    : Used 1 registers\n";
  }
  std::ofstream(source) << text;
  const char* compiler = std::getenv("EMULATED_CUDA_COMPILER");
  const std::string command = std::string(compiler == nullptr ? EMULATED_CUDA_CXX : compiler) +
                              " -std=c++17 -O1 -w -fPIC -shared -o " + library + " " + source + " 2> " + log;
  if (std::system(command.c_str()) == 0)
    program.code = text_of(library);
  else
    program.log = text_of(log);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
}

Program& of(void* program) { return *static_cast<Program*>(program); }

int give(const std::string& text, char* to, bool has_end) {
  std::memcpy(to, text.c_str(), text.size() + (has_end ? 1 : 0));
  return 0;
}

} // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return 0;
}
int nvrtcGetSupportedArchs(int* list) {
  list[0] = 75;
  list[1] = 80;
  list[2] = 90;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
  *program = new Program{source, "", ""};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  build(of(program));
  constexpr int does_not_compile = 6;
  return of(program).code.empty() ? does_not_compile : 0;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = of(program).log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* to) { return give(of(program).log, to, true); }
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = of(program).code.size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* to) { return give(of(program).code, to, false); }
int nvrtcGetPTXSize(void*, std::size_t* size) {
  *size = 0;
  return 0;
}
int nvrtcGetPTX(void*, char*) { return 0; }

// The same functions under the names of HIP.
#define UNDER_NAME(name, of, ...) int name(__VA_ARGS__) __attribute__((alias(#of)));
UNDER_NAME(hiprtcVersion, nvrtcVersion, int*, int*)
UNDER_NAME(hiprtcCreateProgram, nvrtcCreateProgram, void**, const char*, const char*, int, const char* const*,
           const char* const*)
UNDER_NAME(hiprtcDestroyProgram, nvrtcDestroyProgram, void**)
UNDER_NAME(hiprtcCompileProgram, nvrtcCompileProgram, void*, int, const char* const*)
UNDER_NAME(hiprtcGetProgramLogSize, nvrtcGetProgramLogSize, void*, std::size_t*)
UNDER_NAME(hiprtcGetProgramLog, nvrtcGetProgramLog, void*, char*)
UNDER_NAME(hiprtcGetCodeSize, nvrtcGetCUBINSize, void*, std::size_t*)
UNDER_NAME(hiprtcGetCode, nvrtcGetCUBIN, void*, char*)

} // extern "C"
