// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/probe_kernels.hpp>

#include <fmt/format.h>

namespace rafter::machine {
namespace {

/// Text of `update` for every accumulator, such as "acc{0} = acc{0} * a + b" with its number in place of {0}.
std::string chains(const char* update) {
  std::string text;
  for (int i = 0; i < num_chains; ++i) text += fmt::format(fmt::runtime(update), i);
  return text;
}

/// Types of a kernel: vectors `type` of numbers `scalar`.
struct Vectors {
  const char *type, *scalar;
};

std::string arithmetic_kernel(const char* name, int bits, const char* update,
                              const Vectors& vectors = {"V", "double"}) {
  return fmt::format("void {name}_{bits}(void* const* arguments, int64_t begin, int64_t end) {{\n"
                     "  const double* parameters = arguments[0];\n"
                     "  const {type} a = ({scalar})parameters[0] + ({type}){{0}}, b = ({scalar})parameters[1] + "
                     "({type}){{0}};\n"
                     "  const int64_t repeats = (int64_t)parameters[2];\n"
                     "  {type} {declared};\n"
                     "  for (int64_t r = 0; r < repeats; ++r) {{\n"
                     "#pragma GCC unroll 1\n"
                     "    for (int i = 0; i < {length}; ++i) {{ {updates} }}\n"
                     "  }}\n"
                     "  const {type} sum = {sum};\n"
                     "  ((double*)arguments[1])[{stride} * begin] = *(const {scalar}*)&sum;\n"
                     "}}\n",
                     fmt::arg("name", name), fmt::arg("bits", bits), fmt::arg("type", vectors.type),
                     fmt::arg("scalar", vectors.scalar),
                     fmt::arg("declared",
                              [] {
                                std::string text;
                                for (int i = 0; i < num_chains; ++i)
                                  text += fmt::format("{}acc{} = a + {}", i > 0 ? ", " : "", i, i);
                                return text;
                              }()),
                     fmt::arg("length", chain_length), fmt::arg("updates", chains(update)),
                     fmt::arg("sum",
                              [] {
                                std::string text = "acc0";
                                for (int i = 1; i < num_chains; ++i) text += fmt::format(" + acc{}", i);
                                return text;
                              }()),
                     fmt::arg("stride", result_stride));
}

/// The loops take eight registers per step; empty assembly keeps the compiler from replacing them by library calls. The
/// headers of intrinsics would take most of the time to compile them.
constexpr const char* bandwidth_text = R"(
#include <stdint.h>
#if defined(__AVX512F__)
enum { lanes = 8 };
#define STREAM(p, v) __builtin_ia32_movntpd512((double*)(p), v)
#elif defined(__AVX__)
enum { lanes = 4 };
#define STREAM(p, v) __builtin_ia32_movntpd256((double*)(p), v)
#elif defined(__SSE2__)
enum { lanes = 2 };
#define STREAM(p, v) __builtin_ia32_movntpd((double*)(p), v)
#else
enum { lanes = 2 };
#define STREAM(p, v) (*(p) = (v))
#endif
#if defined(__clang__)
#undef STREAM
#define STREAM(p, v) __builtin_nontemporal_store(v, p)
#endif
typedef double V __attribute__((vector_size(lanes * 8)));
#define EIGHT(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)

struct Part { V* block; int64_t size, repeats; };
static struct Part part(void* const* arguments, int64_t task) {
  const double* parameters = arguments[1];
  const int64_t size = (int64_t)parameters[0];
  return (struct Part){(V*)((double*)arguments[0] + task * size), size / lanes, (int64_t)parameters[1]};
}

void read_block(void* const* arguments, int64_t begin, int64_t end) {
  const struct Part p = part(arguments, begin);
  V s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int64_t r = 0; r < p.repeats; ++r)
    for (int64_t i = 0; i < p.size; i += 8) {
      __asm__ volatile("" ::: "memory");
#define STEP(k) s##k += p.block[i + k];
      EIGHT(STEP)
#undef STEP
    }
  const V sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  ((double*)arguments[2])[RESULT_STRIDE * begin] = *(const double*)&sum;
}

#define WRITING_KERNEL(name, parts, STEP)                              \
void name(void* const* arguments, int64_t begin, int64_t end) {        \
  const struct Part p = part(arguments, begin);                        \
  const int64_t n = p.size / parts;                                    \
  V *x = p.block, *y = x + n, *z = y + n;                              \
  const V a = 0.5 + (V){0};                                            \
  for (int64_t r = 0; r < p.repeats; ++r)                              \
    for (int64_t i = 0; i < n; i += 8) {                               \
      __asm__ volatile("" ::: "memory");                               \
      EIGHT(STEP)                                                      \
    }                                                                  \
  ((double*)arguments[2])[RESULT_STRIDE * begin] = *(const double*)x;  \
}
#define TRIAD(k) x[i + k] = y[i + k] + a * z[i + k];
#define COPY(k) x[i + k] = y[i + k];
#define STREAMING(k) STREAM(x + i + k, y[i + k]);
WRITING_KERNEL(triad, 3, TRIAD)
WRITING_KERNEL(copy, 2, COPY)
WRITING_KERNEL(streaming_copy, 2, STREAMING)
)";

/// Places are scattered over a table of 16 KiB by a linear congruential generator. Four sums hide the latency of
/// adding.
constexpr const char* gather_text = R"(
#include <stdint.h>
enum { table_size = 2048 };
#if defined(__AVX512F__)
enum { lanes = 8 };
typedef int I __attribute__((vector_size(32), aligned(4), may_alias));
#elif defined(__AVX2__)
enum { lanes = 4 };
typedef int I __attribute__((vector_size(16), aligned(4), may_alias));
#else
enum { lanes = 2 };
#endif
typedef double V __attribute__((vector_size(lanes * 8)));
#if defined(__AVX512F__)
static inline V vector(const double* p, const int* i) { return (V)__builtin_ia32_gathersiv8df((V){0}, p, *(const I*)i, -1, 8); }
static inline V scalar(const double* p, const int* i) { return (V){p[i[0]], p[i[1]], p[i[2]], p[i[3]], p[i[4]], p[i[5]], p[i[6]], p[i[7]]}; }
#elif defined(__AVX2__)
#if defined(__clang__)
#define __builtin_ia32_gathersiv4df __builtin_ia32_gatherd_pd256
#endif
static inline V vector(const double* p, const int* i) { return (V)__builtin_ia32_gathersiv4df((V){0}, p, *(const I*)i, (V)((__attribute__((vector_size(32))) long long){-1, -1, -1, -1}), 8); }
static inline V scalar(const double* p, const int* i) { return (V){p[i[0]], p[i[1]], p[i[2]], p[i[3]]}; }
#else
static inline V vector(const double* p, const int* i) { return (V){p[i[0]], p[i[1]]}; }
static inline V scalar(const double* p, const int* i) { return (V){p[i[0]], p[i[1]]}; }
#endif

#define GATHERING_KERNEL(way)                                                              \
void way##_gather(void* const* arguments, int64_t begin, int64_t end) {                    \
  const int64_t repeats = (int64_t)((const double*)arguments[0])[0];                       \
  double table[table_size];                                                                \
  int places[NUM_GATHERED];                                                                \
  for (int i = 0; i < table_size; ++i) table[i] = i;                                       \
  uint32_t state = 1;                                                                      \
  for (int i = 0; i < NUM_GATHERED; ++i) {                                                 \
    state = 1664525u * state + 1013904223u;                                                \
    places[i] = (int)(state >> 21);                                                        \
  }                                                                                        \
  V s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                                                   \
  for (int64_t r = 0; r < repeats; ++r)                                                    \
    for (int i = 0; i < NUM_GATHERED; i += 4 * lanes) {                                    \
      __asm__ volatile("" ::: "memory");                                                   \
      s0 += way(table, places + i);                                                        \
      s1 += way(table, places + i + lanes);                                                \
      s2 += way(table, places + i + 2 * lanes);                                            \
      s3 += way(table, places + i + 3 * lanes);                                            \
    }                                                                                      \
  const V sum = (s0 + s1) + (s2 + s3);                                                     \
  ((double*)arguments[1])[RESULT_STRIDE * begin] = *(const double*)&sum;                   \
}
GATHERING_KERNEL(vector)
GATHERING_KERNEL(scalar)
)";

/// Rows of A stay in the first cache while tiles go along all columns of C. Empty assembly keeps repeats apart.
constexpr const char* product_text = R"(
#include <stdint.h>
typedef double V __attribute__((may_alias{shape}));
enum {{ order = {order}, stride = {stride}, lanes = {lanes}, rows = {rows}, columns = {columns} }};

static void tile(const double* a, const double* b, double* c) {{
{sums}
  for (int k = 0; k < order; ++k, a += stride, b += stride) {{
    const V a0 = *(const V*)a, a1 = *(const V*)(a + lanes), a2 = *(const V*)(a + 2 * lanes);
    {{
{products}
    }}
  }}
{stores}
}}

void matrix_product(void* const* arguments, int64_t begin, int64_t end) {{
  const int64_t repeats = (int64_t)((const double*)arguments[0])[0];
  const double* a = (const double*)arguments[1] + begin * 3 * order * stride;
  const double* b = a + order * stride;
  double* c = (double*)b + order * stride;
  for (int64_t r = 0; r < repeats; ++r) {{
    __asm__ volatile("" ::: "memory");
    for (int i = 0; i < order; i += rows)
      for (int j = 0; j < order; j += columns) tile(a + i, b + j, c + j * stride + i);
  }}
  ((double*)arguments[2])[{result_stride} * begin] = c[0];
}}
)";

} // namespace

std::string gather_source() {
  return fmt::format("#define RESULT_STRIDE {}\n#define NUM_GATHERED {}\n", result_stride, num_gathered) + gather_text;
}

std::string arithmetic_source(int bits) {
  const std::string shape = bits == 64 ? "" : fmt::format(" __attribute__((vector_size({})))", bits / 8);
  return "#include <stdint.h>\ntypedef double V" + shape + ";\ntypedef float S" + shape + ";\n" +
         arithmetic_kernel("fma", bits, "acc{0} = acc{0} * a + b; ") +
         arithmetic_kernel("add", bits, "acc{0} = acc{0} + b; ") +
         arithmetic_kernel("mul", bits, "acc{0} = acc{0} * a; ") +
         arithmetic_kernel("single_fma", bits, "acc{0} = acc{0} * a + b; ", {"S", "float"});
}

std::string product_source(int bits) {
  const int lanes = bits / 64;
  // 16 registers hold 12 sums beside three of A and one of B, the 32 of AVX-512 twice as many.
  constexpr int num_rows = 3;
  const int num_columns = bits == 512 ? 8 : 4;
  const auto of_tile = [&](const char* statement) { // with numbers of a row and a column
    std::string text;
    for (int j = 0; j < num_columns; ++j)
      for (int i = 0; i < num_rows; ++i) text += fmt::format(fmt::runtime(statement), i, j);
    return text;
  };
  std::string products;
  for (int j = 0; j < num_columns; ++j) {
    std::string same; // in all lanes
    for (int lane = 0; lane < lanes; ++lane) same += fmt::format("{}b[{}]", lane > 0 ? ", " : "", j);
    products += fmt::format("      const V b{} = {{{}}};\n", j, same);
    for (int i = 0; i < num_rows; ++i) products += fmt::format("      sum{0}_{1} += a{0} * b{1};\n", i, j);
  }
  const std::string shape = lanes == 1 ? "" : fmt::format(", vector_size({})", bits / 8);
  return fmt::format(fmt::runtime(product_text), fmt::arg("shape", shape), fmt::arg("order", product_order),
                     fmt::arg("stride", product_stride), fmt::arg("rows", num_rows * lanes), fmt::arg("lanes", lanes),
                     fmt::arg("columns", num_columns), fmt::arg("sums", of_tile("  V sum{0}_{1} = {{0}};\n")),
                     fmt::arg("products", products),
                     fmt::arg("stores", of_tile("  *(V*)(c + {1} * stride + {0} * lanes) = sum{0}_{1};\n")),
                     fmt::arg("result_stride", result_stride));
}

std::string bandwidth_source() { return fmt::format("#define RESULT_STRIDE {}\n", result_stride) + bandwidth_text; }

} // namespace rafter::machine
