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
  std::uint8_t number = 0;
  std::uint8_t next = 0; ///< position of that state in the tables
};
constexpr int num_states = max_dim * num_labels, num_double_labels = num_labels * num_labels;

constexpr std::size_t place(const State& state) {
  return static_cast<std::size_t>(state.axis) * num_labels + state.start;
}

/// Tables say how the curve runs in one dimension of space, for one level of subcubes at a time and for two.
struct Curve {
  std::array<Step, num_states * num_labels> one{};        ///< shape (axis, start, label)
  std::array<Step, num_states * num_double_labels> two{}; ///< labels of the outer level in the higher digits

  explicit Curve(int n) {
    for (int axis = 0; axis < n; ++axis)
      for (unsigned start = 0; start < 1u << n; ++start)
        for (unsigned label = 0; label < 1u << n; ++label) {
          const int shift = (axis + 1) % n;
          const unsigned w = gray_inverse(rotated_right(label ^ start, shift, n));
          const State inside{start ^ rotated_left(entry(w), shift, n), (axis + direction(w, n) + 1) % n};
          one[place({start, axis}) * num_labels + label] = {static_cast<std::uint8_t>(w),
                                                            static_cast<std::uint8_t>(place(inside))};
        }
    for (std::size_t state = 0; state < num_states; ++state)
      for (unsigned labels = 0; labels < 1u << 2 * n; ++labels) {
        const auto& outer = one[state * num_labels + (labels >> n)];
        const auto& inner = one[std::size_t{outer.next} * num_labels + (labels & ((1u << n) - 1))];
        two[state * num_double_labels + labels] = {static_cast<std::uint8_t>(outer.number << n | inner.number),
                                                   inner.next};
      }
  }
};

/// Moves bit k of x to bit n k.
std::uint64_t spread(std::uint64_t x, std::size_t n) {
  if (n == 2) {
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    x = (x | x << 1) & 0x5555555555555555;
  }
  if (n == 3) {
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
  }
  return x;
}

} // namespace

std::uint64_t hilbert_index(std::span<const std::uint32_t> point, int bits) {
  static const std::array<Curve, max_dim> curves{Curve(1), Curve(2), Curve(3)};
  const auto n = point.size();
  const auto& curve = curves[n - 1];
  std::uint64_t labels = 0; // labels of all levels
  for (std::size_t d = 0; d < n; ++d) labels |= spread(point[d], n) << d;
  std::uint64_t index = 0;
  std::size_t state = place({});
  int level = bits;
  if (level % 2 == 1) {
    const auto& step = curve.one[state * num_labels + (labels >> n * static_cast<std::size_t>(--level))];
    index = step.number;
    state = step.next;
  }
  const std::uint64_t mask = (std::uint64_t{1} << 2 * n) - 1;
  while (level > 0) {
    level -= 2;
    const auto& step = curve.two[state * num_double_labels + (labels >> n * static_cast<std::size_t>(level) & mask)];
    index = index << 2 * n | step.number;
    state = step.next;
  }
  return index;
}

} // namespace rafter::mesh
