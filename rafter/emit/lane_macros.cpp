// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/lane_macros.hpp>

#include <memory>
#include <vector>

#include <fmt/format.h>

namespace rafter::emit {

namespace {

using schedule::Type;
using Numbers = std::vector<std::string>;

/// One text for each lane.
template <class Text> Numbers of_lanes(int lanes, const Text& text) {
  Numbers numbers;
  for (int l = 0; l < lanes; ++l) numbers.push_back(text(l));
  return numbers;
}

/// The vector of what stands in `p` at the positions of a vector `i`, or of a table `i`.
std::string gather_macro(const Spelling& spelling, const std::string& name, const char* vector, int lanes,
                         bool is_in_table) {
  const auto number = [&](int l) {
    return fmt::format("(p)[{}]", is_in_table ? fmt::format("(i)[{}]", l) : spelling.vectors.element("(i)", l));
  };
  return fmt::format("#define {}(p, i) {}\n", name, spelling.vectors.of_numbers(vector, of_lanes(lanes, number)));
}

/// Defines lane_numbers, and isplat, gather_i, splat and gather for both types of reals.
std::string gather_macros(const Spelling& spelling, int lanes) {
  const auto numbers = of_lanes(lanes, [](int l) { return std::to_string(l); });
  std::string text = "#define lane_numbers " + spelling.vectors.of_numbers("ivec", numbers) + "\n" +
                     "#define isplat(a) " + spelling.vectors.of_numbers("ivec", {"(int)(a)"}) + "\n" +
                     gather_macro(spelling, "gather_i", "ivec", lanes, false);
  for (const auto* names : {&spelling.doubles, &spelling.floats})
    text +=
        fmt::format("#define {}splat(a) {}\n", names->initial, spelling.vectors.of_numbers(names->vector, {"(a)"})) +
        gather_macro(spelling, names->initial + std::string("gather"), names->vector, lanes, false);
  return text;
}

/// Spelling::lane_gather.
std::string lane_gather_macros(const Spelling& spelling, int lanes, Type type) {
  const auto& names = spelling.names(type);
  const std::string name = names.initial + std::string("gather_lanes");
  return gather_macro(spelling, name, names.vector, lanes, true) +
         gather_macro(spelling, name + "_of", names.vector, lanes, false);
}

/// Text of the macro that moves runs as `move` says. The vectors of the work array are r0_, r1_, ...: one for each
/// number of a run. Names of programs have no underscore at their end, so that arguments of the macro mean what they
/// say.
class RunMacro {
public:
  RunMacro(const Spelling& spelling, const RunMove& move)
      : spelling_(spelling), vectors_(spelling.vectors), move_(move), work_(spelling.names(move.work)) {}

  std::string text() const {
    std::string body;
    for (int k = 0; k < move_.width; ++k) body += fmt::format(" {} r{}_ = {};", work_.vector, k, loaded(k));
    for (int distance = 1; distance < move_.width; distance *= 2)
      for (int k = 0; k < move_.width; ++k)
        if ((k & distance) == 0) body += exchange(distance, k, k + distance);
    if (move_.adds) // Lanes are added one after the other, because their runs may overlap.
      for (int l = 0; l < move_.vector_width; ++l)
        body += fmt::format(" {};", vectors_.add_run(move_.width, place(l), part_of_lane(l)));
    else
      for (int k = 0; k < move_.width; ++k) body += fmt::format(" {} = r{}_;", entry(k), k);
    return fmt::format("#define {}(w, n, x, s, o) {{{} }}\n", name(move_), body);
  }

private:
  std::string entry(int k) const { return fmt::format("(w)[{}*(n)[{}]]", move_.stride, k); }
  std::string place(int lane) const { return fmt::format("(x) + (o) + (s)[{}]", lane); }
  /// Returns the value of r<k> before the exchanges: an entry of the work array, or the runs of every width-th lane.
  std::string loaded(int k) const {
    if (move_.adds) return entry(k);
    Numbers runs;
    for (int l = k; l < move_.vector_width; l += move_.width) runs.push_back(vectors_.load_run(move_.width, place(l)));
    const auto result = vectors_.of_numbers(spelling_.names(move_.vector).vector, runs);
    return move_.vector == move_.work ? result : vectors_.converted(result, move_.work);
  }
  /// Moves blocks of `distance` lanes of both vectors, alternating: the even blocks go to the first and the odd ones to
  /// the second.
  std::string exchange(int distance, int a, int b) const {
    const auto number = [&](bool is_second, int l) {
      const bool is_odd = (l & distance) != 0;
      const int shift = is_second == is_odd ? 0 : is_second ? distance : -distance;
      return vectors_.element(fmt::format("r{}_", is_odd ? b : a), l + shift);
    };
    const auto all = [&](bool is_second) {
      return vectors_.of_numbers(work_.vector,
                                 of_lanes(move_.vector_width, [&](int l) { return number(is_second, l); }));
    };
    return fmt::format(" {{ const {} t_ = {}; r{}_ = {}; r{}_ = t_; }}", work_.vector, all(false), b, all(true), a);
  }
  /// The numbers that a lane adds, which after the exchanges stand side by side.
  std::string part_of_lane(int lane) const {
    const int first = lane / move_.width * move_.width;
    Numbers numbers;
    for (int k = 0; k < move_.width; ++k)
      numbers.push_back(vectors_.element(fmt::format("r{}_", lane % move_.width), first + k));
    return vectors_.of_numbers(fmt::format("{}{}", spelling_.names(move_.vector).scalar, move_.width), numbers);
  }

  const Spelling& spelling_;
  const VectorSpelling& vectors_;
  const RunMove& move_;
  const RealNames& work_;
};

} // namespace

Spelling with_lane_macros(Spelling language) {
  auto& vectors = language.vectors;
  vectors.load = [whole = vectors.load_whole](const std::string& address, Type type) {
    return whole(address, "0", type);
  };
  vectors.store = [whole = vectors.store_whole](const std::string& address, const char* assignment,
                                                const std::string& value,
                                                Type type) { return whole(address, "0", assignment, value, type); };
  vectors.lane = [numbers_of = vectors.as_numbers](const std::string& vector, const std::string& number, Type type) {
    return fmt::format("{}[{}]", numbers_of("&" + vector, type, true), number);
  };
  vectors.converted = [](const std::string& value, Type type) {
    return fmt::format("{}({})", type == Type::real32 ? "to_fvec" : "to_vec", value);
  };
  const auto own = std::make_shared<const Spelling>(language); // macros are made of it
  language.prelude = [own](int lanes) { return own->prelude(lanes) + (lanes > 1 ? gather_macros(*own, lanes) : ""); };
  language.float_prelude = [](int) { return ""; };
  language.lane_gather = [own](int lanes, Type type) { return lane_gather_macros(*own, lanes, type); };
  language.run_prelude = [](int, Type) { return ""; };
  language.run_mover = [own](const RunMove& move) { return RunMacro(*own, move).text(); };
  return language;
}

} // namespace rafter::emit
