// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/c_vectors.hpp>

#include <fmt/format.h>

namespace rafter::emit::c {

const RealNames& names_of(schedule::Type type) { return c_spelling().names(type); }

std::string numbers_text(int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) text += (i > begin ? ", " : "") + std::to_string(i);
  return text;
}

namespace {

/// Defines a gather that takes one or two instructions; "" for numbers of lanes without one.
std::string fast_gather(int vector_width) {
  if (vector_width != 8 && vector_width != 16) return "";
  std::string text = R"(typedef double gather_vec __attribute__((vector_size(64)));
typedef int gather_ivec __attribute__((vector_size(32)));
)";
  if (vector_width == 8)
    return text +
           R"(static inline vec gather(const double* p, ivec i) { return (vec)__builtin_ia32_gathersiv8df((gather_vec){0}, p, (gather_ivec)i, -1, 8); }
)";
  text +=
      R"(static inline gather_vec gather_8(const double* p, gather_ivec i) { return __builtin_ia32_gathersiv8df((gather_vec){0}, p, i, -1, 8); }
)";
  return text + fmt::format("static inline vec gather(const double* p, ivec i) {{ return "
                            "__builtin_shufflevector(gather_8(p, __builtin_shufflevector(i, i, {})), gather_8(p, "
                            "__builtin_shufflevector(i, i, {})), {}); }}\n",
                            numbers_text(0, 8), numbers_text(8, 16), numbers_text(0, 16));
}

} // namespace

std::string prelude(int vector_width) {
  if (vector_width == 1) return "";
  std::string text = fmt::format(R"(enum {{ LANES = {0} }};
typedef double vec __attribute__((vector_size({1}), may_alias));
typedef double uvec __attribute__((vector_size({1}), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size({2}), may_alias));
static const ivec lane_numbers = {{{3}}};
)",
                                 vector_width, 8 * vector_width, 4 * vector_width, numbers_text(0, vector_width));
  // Operations on whole vectors: loops over lanes take compilers long to see through.
  text += R"(static inline vec splat(double a) { return a - (vec){0}; }
static inline ivec isplat(long a) { return (int)a - (ivec){0}; }
static inline ivec vmin_i(ivec a, ivec b) { const ivec m = a < b; return (a & m) | (b & ~m); }
static inline ivec gather_i(const int* p, ivec i) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
)";
  const std::string fast = fast_gather(vector_width);
  if (!fast.empty()) text += "#if defined(__AVX512F__)\n" + fast + "#else\n";
  text += "static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; "
          "return r; }\n";
  if (!fast.empty()) text += "#endif\n";
  return text;
}

std::string float_prelude(int vector_width) {
  std::string text = fmt::format(R"(typedef float fvec __attribute__((vector_size({0}), may_alias));
typedef float ufvec __attribute__((vector_size({0}), aligned(4), may_alias));
static inline fvec fsplat(float a) {{ return a - (fvec){{0}}; }}
)",
                                 4 * vector_width);
  if (vector_width == 16)
    text += R"(#if defined(__AVX512F__)
typedef float gather_fvec __attribute__((vector_size(64)));
typedef int gather_wide __attribute__((vector_size(64)));
static inline fvec fgather(const float* p, ivec i) { return (fvec)__builtin_ia32_gathersiv16sf((gather_fvec){0}, p, (gather_wide)i, -1, 4); }
#else
)";
  text +=
      "static inline fvec fgather(const float* p, ivec i) { fvec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; "
      "return r; }\n";
  return vector_width == 16 ? text + "#endif\n" : text;
}

std::string lane_gather(int vector_width, schedule::Type type) {
  const auto& names = names_of(type);
  std::string lanes;
  for (int l = 0; l < vector_width; ++l) lanes += fmt::format("{}p[i[{}]]", l > 0 ? ", " : "", l);
  return fmt::format("static inline {0} {1}gather_lanes(const {2}* p, const int* i) {{ return ({0}){{{3}}}; }}\n"
                     "static inline {0} {1}gather_lanes_of(const {2}* p, ivec i) {{ return ({0}){{{3}}}; }}\n",
                     names.vector, names.initial, names.scalar, lanes);
}

namespace {

/// Text that streams parts of `bytes` bytes by an instruction of x86, which needs an address that is a multiple of its
/// size.
std::string stream_parts(int bytes, schedule::Type type, const char* condition, const char* builtin) {
  return fmt::format(R"(#elif {1}
  typedef {5} piece __attribute__((vector_size({2}), may_alias));
  if (((unsigned long)p & {3}) == 0) {{ for (int l = 0; l < LANES; l += {0}) {4}(p + l, *(const piece*)((const {5}*)&v + l)); return; }}
)",
                     bytes / size_bytes(type), condition, bytes, bytes - 1, builtin, names_of(type).scalar);
}

} // namespace

std::string stream(int vector_width, schedule::Type type) {
  const auto& names = names_of(type);
  const bool is_double = type == schedule::Type::real;
  const int bytes = vector_width * size_bytes(type);
  std::string text = fmt::format(R"(static inline void stream({0}* p, {1} v) {{
#if defined(__clang__)
  if (((unsigned long)p & (sizeof({1}) - 1)) == 0) {{ __builtin_nontemporal_store(v, ({1}*)p); return; }}
)",
                                 names.scalar, names.vector);
  if (bytes >= 64)
    text += stream_parts(64, type, "defined(__AVX512F__)",
                         is_double ? "__builtin_ia32_movntpd512" : "__builtin_ia32_movntps512");
  if (bytes >= 32)
    text += stream_parts(32, type, "defined(__AVX__)",
                         is_double ? "__builtin_ia32_movntpd256" : "__builtin_ia32_movntps256");
  return text +
         fmt::format(R"(#endif
  *({}*)p = v;
}}
)",
                     names.loose) +
         R"(#if defined(__SSE2__)
#define finish_streams() __builtin_ia32_sfence()
#else
#define finish_streams()
#endif
)";
}

namespace {

/// Version of glibc, as 100 times its first number plus the second, whose libmvec has a function; 0: none has.
int first_glibc(form::ScalarOp op) {
  using enum form::ScalarOp;
  switch (op) {
  case exp:
  case log:
  case sin:
  case cos:
  case pow:
    return 222;
  case tan:
  case asin:
  case acos:
  case atan:
  case atan2:
  case sinh:
  case cosh:
  case tanh:
    return 235;
  default:
    return 0;
  }
}

/// Statements that return a function of vectors which consist of whole registers of `bytes` bytes, for processors with
/// an instruction set; `isa` is its letter in the names of the vector function ABI for x86.
std::string in_registers(form::ScalarOp op, schedule::Type type, int bytes, char isa, const char* condition) {
  const auto& names = names_of(type);
  const bool is_unary = form::info(op).arity == 1;
  const auto called = fmt::format("_ZGV{}N{}{}_{}{}", isa, bytes / size_bytes(type), is_unary ? "v" : "vv",
                                  form::info(op).name, names.suffix);
  return fmt::format(R"(#if __GLIBC__ * 100 + __GLIBC_MINOR__ >= {0} && defined({1})
  if (sizeof a % {2} == 0) {{
    typedef {3} reg __attribute__((vector_size({2}), may_alias));
    reg {4}(reg{5});
    {6} r;
    for (unsigned k = 0; k < sizeof a / {2}; ++k) ((reg*)&r)[k] = {4}(((const reg*)&a)[k]{7});
    return r;
  }}
#endif
)",
                     first_glibc(op), condition, bytes, names.scalar, called, is_unary ? "" : ", reg", names.vector,
                     is_unary ? "" : ", ((const reg*)&b)[k]");
}

} // namespace

std::string vector_function(form::ScalarOp op, schedule::Type type) {
  if (first_glibc(op) == 0) return "";
  return "\n" + in_registers(op, type, 64, 'e', "__AVX512F__") + in_registers(op, type, 32, 'd', "__AVX2__") + "  ";
}

} // namespace rafter::emit::c
