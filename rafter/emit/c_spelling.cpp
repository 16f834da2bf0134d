// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/emit/c_family.hpp>

namespace rafter::emit {

namespace {

/// "begin, begin + 1, ..., end - 1"
std::string numbers_text(int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) text += (i > begin ? ", " : "") + std::to_string(i);
  return text;
}

std::string prelude(int lanes) {
  if (lanes == 1) return "";
  std::string text = fmt::format(R"(enum {{ LANES = {0} }};
typedef double vec __attribute__((vector_size({1}), may_alias));
typedef double uvec __attribute__((vector_size({1}), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size({2}), may_alias));
static const ivec lane_numbers = {{{3}}};
)",
                                 lanes, 8 * lanes, 4 * lanes, numbers_text(0, lanes));
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

const char* element_type(schedule::Type type) {
  return type == schedule::Type::real ? "double" : type == schedule::Type::real32 ? "float" : "int";
}

std::string argument(const schedule::Buffer& buffer, int i) {
  return fmt::format("  {}{}* restrict {} = arguments[{}];\n", buffer.is_written ? "" : "const ",
                     element_type(buffer.type), buffer.name, i);
}

/// Pieces of `width` lanes by an instruction of x86, which needs an address that is a multiple of its size.
std::string stream_pieces(int width, const char* condition, const char* builtin) {
  return fmt::format(R"(#elif {1}
  typedef double piece __attribute__((vector_size({2}), may_alias));
  if (((unsigned long)p & {3}) == 0) {{ for (int l = 0; l < LANES; l += {0}) {4}(p + l, *(const piece*)((const double*)&v + l)); return; }}
)",
                     width, condition, 8 * width, 8 * width - 1, builtin);
}

std::string stream(int lanes) {
  std::string text = R"(static inline void stream(double* p, vec v) {
#if defined(__clang__)
  if (((unsigned long)p & (sizeof(vec) - 1)) == 0) { __builtin_nontemporal_store(v, (vec*)p); return; }
)";
  if (lanes >= 8) text += stream_pieces(8, "defined(__AVX512F__)", "__builtin_ia32_movntpd512");
  if (lanes >= 4) text += stream_pieces(4, "defined(__AVX__)", "__builtin_ia32_movntpd256");
  return text + R"(#endif
  *(uvec*)p = v;
}
#if defined(__SSE2__)
#define finish_streams() __builtin_ia32_sfence()
#else
#define finish_streams()
#endif
)";
}

std::string function(form::ScalarOp op) {
  return std::string("__builtin_") + (op == form::ScalarOp::abs ? "fabs" : form::info(op).name);
}

std::string prefetch(const std::string& place, bool is_written) {
  return fmt::format("__builtin_prefetch({}{})", place, is_written ? ", 1" : "");
}

/// `width` numbers of type run<width>, and all lanes side by side of them: text of vector `first` of every `width`-th
/// lane, beginning with that one.
std::string side_by_side(int lanes, int width, int first) {
  std::vector<std::string> parts;
  for (int l = first; l < lanes; l += width) parts.push_back(fmt::format("*(const run{}*)(x + s[{}])", width, l));
  for (int size = width; parts.size() > 1; size *= 2) {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(
          fmt::format("__builtin_shufflevector({}, {}, {})", parts[i], parts[i + 1], numbers_text(0, 2 * size)));
    parts = std::move(pairs);
  }
  return parts.front();
}

/// exchange<d>(a, b): blocks of d lanes of both in turn, the even ones into a, the odd ones into b.
std::string exchanges(int lanes) {
  std::string text;
  for (int distance = 1; distance < lanes; distance *= 2) {
    std::vector<int> even, odd;
    for (int l = 0; l < lanes; ++l) {
      const bool is_odd = (l & distance) != 0;
      even.push_back(is_odd ? lanes + l - distance : l);
      odd.push_back(is_odd ? lanes + l : l + distance);
    }
    text += fmt::format("#define exchange{0}(a, b) {{ const vec t_ = __builtin_shufflevector(a, b, {1}); b = "
                        "__builtin_shufflevector(a, b, {2}); a = t_; }}\n",
                        distance, fmt::join(even, ", "), fmt::join(odd, ", "));
  }
  return text;
}
/// Transposes r0, r1, ... within every group of `width` lanes.
std::string turn(int width) {
  std::string text;
  for (int distance = 1; distance < width; distance *= 2) {
    text += " ";
    for (int i = 0; i < width; ++i)
      if ((i & distance) == 0) text += fmt::format(" exchange{}(r{}, r{})", distance, i, i + distance);
    text += "\n";
  }
  return text;
}

std::string run_mover(int lanes, int width, bool adds) {
  std::string text = fmt::format("typedef double run{0} __attribute__((vector_size({1}), aligned(8), may_alias));\n",
                                 width, 8 * width);
  text += adds ? fmt::format("static inline void add_run{}(const vec* w, const int* n, double* x, const int* s, long "
                             "o) {{\n  x += o;\n",
                             width)
               : fmt::format("static inline void load_run{}(vec* w, const int* n, const double* x, const int* s, long "
                             "o) {{\n  x += o;\n",
                             width);
  for (int i = 0; i < width; ++i)
    text += fmt::format("  vec r{} = {};\n", i, adds ? fmt::format("w[n[{}]]", i) : side_by_side(lanes, width, i));
  text += turn(width);
  if (adds) // lane by lane: runs may be the same
    for (int l = 0; l < lanes; ++l) {
      const int group = l / width * width;
      text += fmt::format("  *(run{0}*)(x + s[{1}]) += {2};\n", width, l,
                          width == lanes ? fmt::format("(run{})r{}", width, l)
                                         : fmt::format("__builtin_shufflevector(r{0}, r{0}, {1})", l % width,
                                                       numbers_text(group, group + width)));
    }
  else
    for (int i = 0; i < width; ++i) text += fmt::format("  w[n[{0}]] = r{0};\n", i);
  return text + "}\n";
}

} // namespace

const Spelling& c_spelling() {
  static const Spelling spelling{"c",      prelude,   head,      argument, function,
                                 prefetch, exchanges, run_mover, stream,   "static __thread "};
  return spelling;
}

} // namespace rafter::emit
