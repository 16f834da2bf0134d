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

/// Gathers of one or two instructions; "": none for so many lanes.
std::string fast_gather(int lanes) {
  if (lanes != 8 && lanes != 16) return "";
  std::string text = R"(typedef double gather_vec __attribute__((vector_size(64)));
typedef int gather_ivec __attribute__((vector_size(32)));
)";
  if (lanes == 8)
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
  const std::string fast = fast_gather(lanes);
  if (!fast.empty()) text += "#if defined(__AVX512F__)\n" + fast + "#else\n";
  text += "static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; "
          "return r; }\n";
  if (!fast.empty()) text += "#endif\n";
  return text;
}

std::string float_prelude(int lanes) {
  std::string text = fmt::format(R"(typedef float fvec __attribute__((vector_size({0}), may_alias));
typedef float ufvec __attribute__((vector_size({0}), aligned(4), may_alias));
static inline fvec fsplat(float a) {{ fvec r; for (int l = 0; l < LANES; ++l) r[l] = a; return r; }}
)",
                                 4 * lanes);
  if (lanes == 16)
    text += R"(#if defined(__AVX512F__)
typedef float gather_fvec __attribute__((vector_size(64)));
typedef int gather_wide __attribute__((vector_size(64)));
static inline fvec fgather(const float* p, ivec i) { return (fvec)__builtin_ia32_gathersiv16sf((gather_fvec){0}, p, (gather_wide)i, -1, 4); }
#else
)";
  text +=
      "static inline fvec fgather(const float* p, ivec i) { fvec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; "
      "return r; }\n";
  return lanes == 16 ? text + "#endif\n" : text;
}

std::string head(const std::string& kernel) {
  return fmt::format("void {}(void* const* arguments, long begin, long end)\n{{\n", kernel);
}

const char* element_type(schedule::Type type) {
  return type == schedule::Type::integer ? "int" : names_of(type).scalar;
}

std::string argument(const schedule::Buffer& buffer, int i) {
  return fmt::format("  {}{}* restrict {} = arguments[{}];\n", buffer.is_written ? "" : "const ",
                     element_type(buffer.type), buffer.name, i);
}

/// Pieces of `bytes` by an instruction of x86, which needs an address that is a multiple of its size.
std::string stream_pieces(int bytes, schedule::Type type, const char* condition, const char* builtin) {
  return fmt::format(R"(#elif {1}
  typedef {5} piece __attribute__((vector_size({2}), may_alias));
  if (((unsigned long)p & {3}) == 0) {{ for (int l = 0; l < LANES; l += {0}) {4}(p + l, *(const piece*)((const {5}*)&v + l)); return; }}
)",
                     bytes / size_bytes(type), condition, bytes, bytes - 1, builtin, names_of(type).scalar);
}

std::string stream(int lanes, schedule::Type type) {
  const auto& names = names_of(type);
  const bool is_double = type == schedule::Type::real;
  const int bytes = lanes * size_bytes(type);
  std::string text = fmt::format(R"(static inline void stream({0}* p, {1} v) {{
#if defined(__clang__)
  if (((unsigned long)p & (sizeof({1}) - 1)) == 0) {{ __builtin_nontemporal_store(v, ({1}*)p); return; }}
)",
                                 names.scalar, names.vector);
  if (bytes >= 64)
    text += stream_pieces(64, type, "defined(__AVX512F__)",
                          is_double ? "__builtin_ia32_movntpd512" : "__builtin_ia32_movntps512");
  if (bytes >= 32)
    text += stream_pieces(32, type, "defined(__AVX__)",
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

std::string function(form::ScalarOp op, schedule::Type type) {
  return std::string("__builtin_") + (op == form::ScalarOp::abs ? "fabs" : form::info(op).name) + names_of(type).suffix;
}

/// To the second cache, for reading: the few line buffers of the first are held for as long as memory takes, and a line
/// that one core alone uses need not be asked for as one that is written.
std::string prefetch(const std::string& place) { return fmt::format("__builtin_prefetch({}, 0, 2)", place); }

/// Consecutive numbers of the vector.
std::string run_type(const RunMove& move) { return fmt::format("{}run{}", names_of(move.vector).initial, move.width); }

/// The run of lane `l` as `width` numbers of the work arrays' type.
std::string run_of_lane(const RunMove& move, int l) {
  const std::string run = fmt::format("*(const {}*)(x + s[{}])", run_type(move), l);
  return move.vector == move.work ? run : fmt::format("__builtin_convertvector({}, work{})", run, move.width);
}

/// All lanes side by side: text of vector `first` of every `width`-th lane, beginning with that one.
std::string side_by_side(const RunMove& move, int first) {
  std::vector<std::string> parts;
  for (int l = first; l < move.lanes; l += move.width) parts.push_back(run_of_lane(move, l));
  for (int size = move.width; parts.size() > 1; size *= 2) {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(
          fmt::format("__builtin_shufflevector({}, {}, {})", parts[i], parts[i + 1], numbers_text(0, 2 * size)));
    parts = std::move(pairs);
  }
  return parts.front();
}

/// exchange<d>(a, b): blocks of d lanes of both in turn, the even ones into a, the odd ones into b.
std::string exchanges(int lanes, schedule::Type work) {
  std::string text;
  for (int distance = 1; distance < lanes; distance *= 2) {
    std::vector<int> even, odd;
    for (int l = 0; l < lanes; ++l) {
      const bool is_odd = (l & distance) != 0;
      even.push_back(is_odd ? lanes + l - distance : l);
      odd.push_back(is_odd ? lanes + l : l + distance);
    }
    text += fmt::format("#define exchange{0}(a, b) {{ const {3} t_ = __builtin_shufflevector(a, b, {1}); b = "
                        "__builtin_shufflevector(a, b, {2}); a = t_; }}\n",
                        distance, fmt::join(even, ", "), fmt::join(odd, ", "), names_of(work).vector);
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

/// The types of a mover and its head. Types may be declared again: by movers of the same width the other way.
std::string mover_head(const RunMove& move) {
  const auto& vector = names_of(move.vector);
  const auto& work = names_of(move.work);
  const int bytes = size_bytes(move.vector);
  std::string text = fmt::format("typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));\n",
                                 vector.scalar, run_type(move), bytes * move.width, bytes);
  if (move.vector != move.work)
    text += fmt::format("typedef {} work{} __attribute__((vector_size({})));\n", work.scalar, move.width,
                        size_bytes(move.work) * move.width);
  const char* not_written = move.adds ? "const " : "";
  return text +
         fmt::format("static inline void {}({}{}* w, const int* n, {}{}* x, const int* s, long o) {{\n  x += o;\n",
                     name(move), not_written, work.vector, move.adds ? "" : "const ", vector.scalar);
}

/// Vector of the work array that takes number `i` of the runs.
std::string entry(const RunMove& move, int i) {
  return move.stride == 1 ? fmt::format("w[n[{}]]", i) : fmt::format("w[{}*n[{}]]", move.stride, i);
}

/// What lane `l` adds to its run.
std::string addend(const RunMove& move, int l) {
  const int group = l / move.width * move.width;
  const bool is_whole = move.width == move.lanes, is_converted = move.vector != move.work;
  const std::string part = is_whole ? fmt::format("r{}", l)
                                    : fmt::format("__builtin_shufflevector(r{0}, r{0}, {1})", l % move.width,
                                                  numbers_text(group, group + move.width));
  if (is_converted) return fmt::format("__builtin_convertvector({}, {})", part, run_type(move));
  return is_whole ? fmt::format("({}){}", run_type(move), part) : part;
}

std::string run_mover(const RunMove& move) {
  std::string text = mover_head(move);
  for (int i = 0; i < move.width; ++i)
    text += fmt::format("  {} r{} = {};\n", names_of(move.work).vector, i,
                        move.adds ? entry(move, i) : side_by_side(move, i));
  text += turn(move.width);
  if (move.adds) // lane by lane: runs may be the same
    for (int l = 0; l < move.lanes; ++l)
      text += fmt::format("  *({}*)(x + s[{}]) += {};\n", run_type(move), l, addend(move, l));
  else
    for (int i = 0; i < move.width; ++i) text += fmt::format("  {} = r{};\n", entry(move, i), i);
  return text + "}\n";
}

} // namespace

const Spelling& c_spelling() {
  static const Spelling spelling{"c",      prelude,   float_prelude, head,   argument,          function,
                                 prefetch, exchanges, run_mover,     stream, "static __thread "};
  return spelling;
}

} // namespace rafter::emit
