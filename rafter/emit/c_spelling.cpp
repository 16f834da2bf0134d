// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <rafter/emit/c_family.hpp>

namespace rafter::emit {

namespace {

std::string prelude(int lanes) {
  if (lanes == 1) return "";
  std::string numbers;
  for (int l = 0; l < lanes; ++l) numbers += (l > 0 ? ", " : "") + std::to_string(l);
  std::string text = fmt::format(R"(enum {{ LANES = {0} }};
typedef double vec __attribute__((vector_size({1}), may_alias));
typedef double uvec __attribute__((vector_size({1}), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size({2}), may_alias));
static const ivec lane_numbers = {{{3}}};
)",
                                 lanes, 8 * lanes, 4 * lanes, numbers);
  text += R"(static inline vec splat(double a) { vec r; for (int l = 0; l < LANES; ++l) r[l] = a; return r; }
static inline ivec isplat(long a) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = (int)a; return r; }
static inline ivec vmin_i(ivec a, ivec b) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = a[l] < b[l] ? a[l] : b[l]; return r; }
static inline ivec gather_i(const int* p, ivec i) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
)";
  if (lanes == 8)
    text += R"(#if defined(__AVX512F__)
typedef double gather_vec __attribute__((vector_size(64)));
typedef int gather_ivec __attribute__((vector_size(32)));
static inline vec gather(const double* p, ivec i) { return (vec)__builtin_ia32_gathersiv8df((gather_vec){0}, p, (gather_ivec)i, -1, 8); }
#else
)";
  text += "static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; "
          "return r; }\n";
  if (lanes == 8) text += "#endif\n";
  return text;
}

std::string head(const std::string& kernel) {
  return fmt::format("void {}(void* const* arguments, long begin, long end)\n{{\n", kernel);
}

std::string argument(const schedule::Buffer& buffer, int i) {
  return fmt::format("  {}{}* restrict {} = arguments[{}];\n", buffer.is_written ? "" : "const ",
                     buffer.type == schedule::Type::real ? "double" : "int", buffer.name, i);
}

std::string function(form::ScalarOp op) {
  return std::string("__builtin_") + (op == form::ScalarOp::abs ? "fabs" : form::info(op).name);
}

} // namespace

const Spelling& c_spelling() {
  static const Spelling spelling{"c", prelude, head, argument, function, "static __thread "};
  return spelling;
}

} // namespace rafter::emit
