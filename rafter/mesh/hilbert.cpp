// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/hilbert.hpp>

#include <array>
#include <bit>

namespace rafter::mesh {

namespace {

/// Cyclic shifts of n-bit words, with 0 <= shift < n.
unsigned rotated_right(unsigned word, int shift, int n) {
  return ((word >> shift) | (word << (n - shift))) & ((1u << n) - 1);
}
unsigned rotated_left(unsigned word, int shift, int n) {
  return ((word << shift) | (word >> (n - shift))) & ((1u << n) - 1);
}

unsigned gray(unsigned i) { return i ^ (i >> 1); }

/// Inverse of gray() for codes of up to 4 bits: gray(result) = code.
unsigned gray_inverse(unsigned code) {
  code ^= code >> 1;
  return code ^ (code >> 2);
}

/// Corner at which the curve enters subcube number w.
unsigned entry(unsigned w) { return w == 0 ? 0 : gray((w - 1) / 2 * 2); }

/// Axis along which the curve runs through subcube number w.
int direction(unsigned w, int n) {
  if (w == 0) return 0;
  return std::countr_one(w % 2 == 0 ? w - 1 : w) % n;
}

/// State of the curve in a cube: the corner where it enters, and the axis along which it runs, less one.
struct State {
  unsigned start = 0;
  int axis = 0;
};
constexpr int max_dim = 3, num_labels = 1 << max_dim;

/// Number along the curve of the subcube in corner `label`, and the state inside it.
struct Step {
  unsigned number = 0;
  std::uint8_t next = 0; ///< position of that state in the table
};
using Steps = std::array<Step, max_dim * num_labels * num_labels>; ///< shape (axis, start, label)

constexpr std::size_t place(const State& state) {
  return static_cast<std::size_t>(state.axis) * num_labels + state.start;
}

Steps make_steps(int n) {
  Steps steps{};
  for (int axis = 0; axis < n; ++axis)
    for (unsigned start = 0; start < 1u << n; ++start)
      for (unsigned label = 0; label < 1u << n; ++label) {
        const int shift = (axis + 1) % n;
        const unsigned w = gray_inverse(rotated_right(label ^ start, shift, n));
        const State inside{start ^ rotated_left(entry(w), shift, n), (axis + direction(w, n) + 1) % n};
        steps[place({start, axis}) * num_labels + label] = {w, static_cast<std::uint8_t>(place(inside))};
      }
  return steps;
}

} // namespace

std::uint64_t hilbert_index(std::span<const std::uint32_t> point, int bits) {
  static const std::array<Steps, max_dim> steps_of_dim{make_steps(1), make_steps(2), make_steps(3)};
  const auto n = point.size();
  const auto& steps = steps_of_dim[n - 1];
  std::uint64_t index = 0;
  std::size_t state = place({});
  for (int level = bits - 1; level >= 0; --level) {
    unsigned label = 0;
    for (std::size_t d = 0; d < n; ++d) label |= (point[d] >> level & 1u) << d;
    const auto& step = steps[state * num_labels + label];
    index = index << n | step.number;
    state = step.next;
  }
  return index;
}

} // namespace rafter::mesh
