// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/emit/c_vectors.hpp>

namespace rafter::emit::c {

namespace {

/// Name of the type of `width` consecutive numbers of the vector.
std::string run_type(const RunMove& move) { return fmt::format("{}run{}", names_of(move.vector).initial, move.width); }

/// Text that loads the run of lane `l`, as `width` numbers of the work arrays' type.
std::string run_of_lane(const RunMove& move, int l) {
  const std::string run = fmt::format("*(const {}*)(x + s[{}])", run_type(move), l);
  return move.vector == move.work ? run : fmt::format("__builtin_convertvector({}, work{})", run, move.width);
}

/// Text of a vector that consists of the runs of every `width`-th lane, beginning with lane `first`.
std::string side_by_side(const RunMove& move, int first) {
  std::vector<std::string> parts;
  for (int l = first; l < move.vector_width; l += move.width) parts.push_back(run_of_lane(move, l));
  for (int size = move.width; parts.size() > 1; size *= 2) {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(
          fmt::format("__builtin_shufflevector({}, {}, {})", parts[i], parts[i + 1], numbers_text(0, 2 * size)));
    parts = std::move(pairs);
  }
  return parts.front();
}

} // namespace

std::string exchanges(int vector_width, schedule::Type work) {
  std::string text;
  for (int distance = 1; distance < vector_width; distance *= 2) {
    std::vector<int> even, odd;
    for (int l = 0; l < vector_width; ++l) {
      const bool is_odd = (l & distance) != 0;
      even.push_back(is_odd ? vector_width + l - distance : l);
      odd.push_back(is_odd ? vector_width + l : l + distance);
    }
    text += fmt::format("#define exchange{0}(a, b) {{ const {3} t_ = __builtin_shufflevector(a, b, {1}); b = "
                        "__builtin_shufflevector(a, b, {2}); a = t_; }}\n",
                        distance, fmt::join(even, ", "), fmt::join(odd, ", "), names_of(work).vector);
  }
  return text;
}

namespace {

/// Text that transposes the vectors r0, r1, ... within every group of `width` lanes.
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

/// Types and head of the helper that moves runs. A type may be declared twice, by the helper for the opposite
/// direction, too.
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

/// The vector of the work array for number `i` of the runs.
std::string entry(const RunMove& move, int i) {
  return move.stride == 1 ? fmt::format("w[n[{}]]", i) : fmt::format("w[{}*n[{}]]", move.stride, i);
}

/// Returns the vector that lane `l` adds to its run.
std::string addend(const RunMove& move, int l) {
  const int group = l / move.width * move.width;
  const bool is_whole = move.width == move.vector_width, is_converted = move.vector != move.work;
  const std::string part = is_whole ? fmt::format("r{}", l)
                                    : fmt::format("__builtin_shufflevector(r{0}, r{0}, {1})", l % move.width,
                                                  numbers_text(group, group + move.width));
  if (is_converted) return fmt::format("__builtin_convertvector({}, {})", part, run_type(move));
  return is_whole ? fmt::format("({}){}", run_type(move), part) : part;
}

} // namespace

std::string run_mover(const RunMove& move) {
  std::string text = mover_head(move);
  for (int i = 0; i < move.width; ++i)
    text += fmt::format("  {} r{} = {};\n", names_of(move.work).vector, i,
                        move.adds ? entry(move, i) : side_by_side(move, i));
  text += turn(move.width);
  if (move.adds) // Lanes are added one after the other, because their runs may overlap.
    for (int l = 0; l < move.vector_width; ++l)
      text += fmt::format("  *({}*)(x + s[{}]) += {};\n", run_type(move), l, addend(move, l));
  else
    for (int i = 0; i < move.width; ++i) text += fmt::format("  {} = r{};\n", entry(move, i), i);
  return text + "}\n";
}

} // namespace rafter::emit::c
