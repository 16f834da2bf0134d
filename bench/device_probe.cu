// SPDX-License-Identifier: BSD-3-Clause
// Measures what an NVIDIA device does at best, as ceilings that generated kernels are held against: copies in its
// memory and in its cache, multiply-adds, products of matrices on its tensor cores, local memory, atomic additions,
// launches and transfers; then it reports which ways of compiling and of recording work the driver has. Every line of
// output is whole as soon as it is there, so that a run that is stopped has reported what came before.
//
//   nvcc -O3 -std=c++17 -arch=native -o device_probe device_probe.cu -lcuda -lnvrtc && ./device_probe
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

namespace {

constexpr int group = 512; ///< items of a group
constexpr int groups_per_unit =
    4; ///< groups of kernels that compute, so that all 64 warps of a multiprocessor are busy
constexpr int warp = 32;

/// Says what failed and goes on: the other figures may still be found.
void check(int code, const char* what) {
  if (code != 0) std::printf("FAILED %s: code %d\n", what, code);
}

/// Milliseconds of the fastest of several runs after a first one.
template <class Work> double milliseconds(Work work, int repetitions = 5) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  work();
  check(cudaDeviceSynchronize(), "a first run");
  float best = 1e30f;
  for (int r = 0; r < repetitions; ++r) {
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float time = 0;
    cudaEventElapsedTime(&time, begin, end);
    best = time < best ? time : best;
  }
  check(cudaGetLastError(), "a timed run");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

__device__ std::size_t first_item() { return blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; }
__device__ std::size_t all_items() { return gridDim.x * std::size_t(blockDim.x); }

__global__ void copy(const double2* a, double2* b, std::size_t n) {
  for (std::size_t i = first_item(); i < n; i += all_items()) b[i] = a[i];
}
__global__ void triad(const double2* a, const double2* c, double2* b, std::size_t n) {
  for (std::size_t i = first_item(); i < n; i += all_items()) {
    const double2 x = a[i], y = c[i];
    b[i] = make_double2(x.x + 3 * y.x, x.y + 3 * y.y);
  }
}
/// Sums that are never found keep the compiler from leaving loads out, here and below.
__global__ void read(const double2* a, double* out, std::size_t n) {
  double sum = 0;
  for (std::size_t i = first_item(); i < n; i += all_items()) sum += a[i].x + a[i].y;
  if (sum == 1e300) *out = sum;
}

template <class T> __global__ void multiply_adds(T* out, int n) {
  T x[8];
  for (int i = 0; i < 8; ++i) x[i] = T(threadIdx.x + i);
  const T a = T(0.999), b = T(1e-3);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 8; ++i) x[i] = x[i] * a + b;
  T sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == T(-1)) *out = sum;
}

/// Products of an 8x4 and a 4x8 matrix, as the first tensor cores for doubles take them. Products that add to the same
/// accumulators wait for each other: `count` of them are under way at a time.
template <int count> __global__ void products_8x8x4(double* out, int n) {
#if __CUDA_ARCH__ >= 800
  double c[count][2] = {};
  const double a = 0.5, b = 0.25;
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(c[i][0]), "+d"(c[i][1])
                   : "d"(a), "d"(b));
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += c[i][0] + c[i][1];
  if (sum == -1) *out = sum;
#endif
}

/// Products of a 16xK and a Kx8 matrix, which came with compute capability 9.0: K = 4, 8 and 16.
template <int depth, int count> __global__ void products_16x8(double* out, int n) {
#if __CUDA_ARCH__ >= 900
  double c[count][4] = {};
  const double a = 0.5, b = 0.25;
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < count; ++i) {
      double* const d = c[i];
      if constexpr (depth == 4)
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(a), "d"(b));
      else if constexpr (depth == 8)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, "
                     "{%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(a), "d"(b));
      else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4,%4,%4,%4,%4,%4,%4}, "
                     "{%5,%5,%5,%5}, {%0,%1,%2,%3};"
                     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                     : "d"(a), "d"(b));
    }
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == -1) *out = sum;
#endif
}

__global__ void shared_loads(double* out, int n) {
  __shared__ double values[1024];
  values[threadIdx.x] = threadIdx.x;
  values[threadIdx.x + group] = 1;
  __syncthreads();
  double sum = 0;
  int j = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < 8; ++i) sum += values[(j + warp * i) & 1023];
    j += 1;
  }
  if (sum == -1) *out = sum;
}

__global__ void atomic_additions(double* y, std::size_t n, std::size_t total, int stride) {
  for (std::size_t i = first_item(); i < total; i += all_items()) atomicAdd(y + (i * stride) % n, 1.0);
}
/// Adds as OpenCL C 1.2 has to, which knows no atomic addition of doubles.
__global__ void exchanged_additions(double* y, std::size_t n, std::size_t total, int stride) {
  for (std::size_t i = first_item(); i < total; i += all_items()) {
    auto* const place = reinterpret_cast<unsigned long long*>(y + (i * stride) % n);
    unsigned long long old = *place, seen;
    do {
      seen = old;
      old = atomicCAS(place, seen,
                      static_cast<unsigned long long>(
                          __double_as_longlong(__longlong_as_double(static_cast<long long>(seen)) + 1.0)));
    } while (old != seen);
  }
}

__global__ void empty() {}

/// Memory that all measurements share.
struct Arrays {
  static constexpr std::size_t length = std::size_t(1) << 27; ///< of double2, 2 GiB: far more than any cache
  double2 *a = nullptr, *b = nullptr, *c = nullptr;
  double* out = nullptr;
};

void measure_memory(const Arrays& m, int units) {
  const std::size_t n = Arrays::length;
  for (const int per_unit : {2, 4, 8, 16, 64}) {
    const double t = milliseconds([&] { copy<<<units * per_unit, group>>>(m.a, m.b, n); });
    std::printf("copy, %d groups of %d per multiprocessor: %.1f GB/s\n", per_unit, group, 2 * 16e-6 * n / t);
  }
  double t = milliseconds([&] { cudaMemcpyAsync(m.b, m.a, n * 16, cudaMemcpyDeviceToDevice); });
  std::printf("copy of the driver: %.1f GB/s\n", 2 * 16e-6 * n / t);
  t = milliseconds([&] { triad<<<units * 8, group>>>(m.a, m.c, m.b, n); });
  std::printf("triad: %.1f GB/s\n", 3 * 16e-6 * n / t);
  t = milliseconds([&] { read<<<units * 8, group>>>(m.a, m.out, n); });
  std::printf("read: %.1f GB/s\n", 16e-6 * n / t);
  for (const std::size_t megabytes : {4, 8, 16, 24, 32, 40, 48}) {
    constexpr int repetitions = 20;
    const std::size_t part = (megabytes << 20) / 32;
    t = milliseconds([&] {
      for (int r = 0; r < repetitions; ++r) copy<<<units * 4, group>>>(m.a, m.b, part);
    });
    std::printf("copy in the cache, %zu MiB read and written: %.1f GB/s\n", megabytes,
                2 * 16e-6 * part * repetitions / t);
  }
}

/// `flops`: of one warp in one round of the loop.
template <class Kernel> void measure_products(const char* name, Kernel kernel, double flops, double* out, int units) {
  constexpr int rounds = 4000, small_group = 128;
  // As many groups as fit: accumulators take registers.
  int per_unit = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, small_group, 0), "counting groups");
  const int warps = per_unit * small_group / warp;
  const double t = milliseconds([&] { kernel<<<units * per_unit, small_group>>>(out, rounds); });
  std::printf("%s, %d warps per multiprocessor: %.2f TFLOP/s\n", name, warps,
              flops * rounds * warps * units / t * 1e-9);
}

void measure_arithmetic(const Arrays& m, int units, int capability) {
  constexpr int rounds = 20000;
  const double items = double(group) * groups_per_unit * units, flops = 2.0 * 8 * rounds * items;
  double t = milliseconds([&] { multiply_adds<double><<<units * groups_per_unit, group>>>(m.out, rounds); });
  std::printf("multiply-adds of doubles: %.2f TFLOP/s\n", flops / t * 1e-9);
  t = milliseconds(
      [&] { multiply_adds<float><<<units * groups_per_unit, group>>>(reinterpret_cast<float*>(m.out), rounds); });
  std::printf("multiply-adds of floats: %.2f TFLOP/s\n", flops / t * 1e-9);
  if (capability >= 80) {
    constexpr double product = 2.0 * 8 * 8 * 4;
    measure_products("products 8x8x4 of doubles, 4 at a time", products_8x8x4<4>, 4 * product, m.out, units);
    measure_products("products 8x8x4 of doubles, 8 at a time", products_8x8x4<8>, 8 * product, m.out, units);
    measure_products("products 8x8x4 of doubles, 16 at a time", products_8x8x4<16>, 16 * product, m.out, units);
  }
  if (capability >= 90) {
    constexpr double product = 2.0 * 16 * 8;
    measure_products("products 16x8x4 of doubles, 4 at a time", products_16x8<4, 4>, 4 * 4 * product, m.out, units);
    measure_products("products 16x8x8 of doubles, 4 at a time", products_16x8<8, 4>, 8 * 4 * product, m.out, units);
    measure_products("products 16x8x16 of doubles, 2 at a time", products_16x8<16, 2>, 16 * 2 * product, m.out, units);
    measure_products("products 16x8x16 of doubles, 4 at a time", products_16x8<16, 4>, 16 * 4 * product, m.out, units);
    measure_products("products 16x8x16 of doubles, 8 at a time", products_16x8<16, 8>, 16 * 8 * product, m.out, units);
  }
  t = milliseconds([&] { shared_loads<<<units * groups_per_unit, group>>>(m.out, rounds); });
  const double bytes = 8.0 * 8 * rounds * items;
  std::printf("loads from shared memory: %.2f TB/s, %.1f bytes per multiprocessor and ns\n", bytes / t * 1e-9,
              bytes / units / t * 1e-6);
}

void measure_atomics(const Arrays& m, int units) {
  const std::size_t total = std::size_t(1) << 27;
  auto* const y = reinterpret_cast<double*>(m.a);
  for (const int stride : {1, 32, 4097})
    for (const std::size_t n : {std::size_t(1) << 20, std::size_t(1) << 25}) {
      const double native = milliseconds([&] { atomic_additions<<<units * 8, group>>>(y, n, total, stride); }, 3);
      const double exchanged = milliseconds([&] { exchanged_additions<<<units * 8, group>>>(y, n, total, stride); }, 3);
      std::printf("atomic additions into %zu doubles, stride %d: %.1f G/s, by compare and exchange %.1f G/s\n", n,
                  stride, total / native * 1e-6, total / exchanged * 1e-6);
    }
}

void measure_host(const Arrays& m) {
  constexpr int launches = 1000;
  constexpr std::size_t bytes = std::size_t(1) << 28;
  double t = milliseconds([&] {
    for (int r = 0; r < launches; ++r) empty<<<1, warp>>>();
  });
  std::printf("launches one after the other: %.2f us each\n", t * 1e3 / launches);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t recorded;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int r = 0; r < launches; ++r) empty<<<1, warp, 0, stream>>>();
  cudaStreamEndCapture(stream, &graph);
  check(cudaGraphInstantiate(&recorded, graph, 0), "recording launches");
  cudaDeviceSynchronize();
  t = milliseconds([&] { cudaGraphLaunch(recorded, 0); });
  std::printf("launches of a recorded graph: %.2f us each\n", t * 1e3 / launches);
  void* host = nullptr;
  check(cudaMallocHost(&host, bytes), "pinned memory");
  const double there = milliseconds([&] { cudaMemcpyAsync(m.a, host, bytes, cudaMemcpyHostToDevice); });
  const double back = milliseconds([&] { cudaMemcpyAsync(host, m.a, bytes, cudaMemcpyDeviceToHost); });
  std::printf("transfers of pinned memory: to the device %.1f GB/s, back %.1f GB/s\n", bytes / there * 1e-6,
              bytes / back * 1e-6);
}

/// A kernel from its text to the device by way of NVRTC and the driver alone.
void try_compiler(int capability) {
  int major = 0, minor = 0;
  check(nvrtcVersion(&major, &minor), "the version of NVRTC");
  const char* const text =
      "extern \"C\" __global__ void f(double* y, const double* x) { y[threadIdx.x] = 2 * x[threadIdx.x]; }";
  nvrtcProgram program;
  check(nvrtcCreateProgram(&program, text, "f.cu", 0, nullptr, nullptr), "reading a program");
  const std::string target = "--gpu-architecture=sm_" + std::to_string(capability);
  const char* const options[] = {target.c_str()};
  const int compiled = nvrtcCompileProgram(program, 1, options);
  std::size_t size = 0;
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> image(size);
  nvrtcGetCUBIN(program, image.data());
  CUmodule module;
  CUfunction function;
  const int loaded = cuModuleLoadData(&module, image.data());
  const int found = loaded == 0 ? cuModuleGetFunction(&function, module, "f") : -1;
  std::printf("NVRTC %d.%d: compiles with code %d, %zu bytes of machine code, loading %d, entry point %d\n", major,
              minor, compiled, size, loaded, found);
}

/// Entry points of the driver that plans for devices ask for, at the version of this compiler or before.
void look_for_entry_points() {
  for (const char* const name : {"cuGraphConditionalHandleCreate", "cuGraphAddNode", "cuStreamBeginCaptureToGraph",
                                 "cuGraphInstantiateWithParams", "cuMemAllocAsync", "cuGetExportTable"}) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult result;
    const int code = cuGetProcAddress(name, &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &result);
    std::printf("%s: %s\n", name, code == 0 && function != nullptr ? "there" : "missing");
  }
}

} // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaDeviceProp device;
  if (const int code = cudaGetDeviceProperties(&device, 0); code != 0) {
    std::printf("there is no CUDA device: code %d\n", code);
    return 1;
  }
  int clock = 0, memory_clock = 0, driver = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, 0);
  cudaDriverGetVersion(&driver);
  const int units = device.multiProcessorCount, capability = 10 * device.major + device.minor;
  std::printf("%s, sm_%d, %d multiprocessors, %zu MiB, L2 %d MiB, shared memory %zu bytes per multiprocessor, %zu of a "
              "group, clock %d MHz, memory %d MHz, "
              "driver %d\n",
              device.name, capability, units, device.totalGlobalMem >> 20, device.l2CacheSize >> 20,
              device.sharedMemPerMultiprocessor, device.sharedMemPerBlockOptin, clock / 1000, memory_clock / 1000,
              driver);
  Arrays m;
  for (auto* const array : {&m.a, &m.b, &m.c}) {
    check(cudaMalloc(array, Arrays::length * sizeof(double2)), "memory");
    check(cudaMemset(*array, 0, Arrays::length * sizeof(double2)), "clearing memory");
  }
  check(cudaMalloc(&m.out, 1 << 20), "memory");
  measure_memory(m, units);
  measure_arithmetic(m, units, capability);
  measure_atomics(m, units);
  measure_host(m);
  try_compiler(capability);
  look_for_entry_points();
  return 0;
}
