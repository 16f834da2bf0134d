// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/hilbert.hpp>

#include <bit>

namespace rafter::mesh {

namespace {

/// Cyclic shifts of n-bit words, 0 <= shift < n.
unsigned rotated_right(unsigned word, int shift, int n) {
  return ((word >> shift) | (word << (n - shift))) & ((1u << n) - 1);
}
unsigned rotated_left(unsigned word, int shift, int n) {
  return ((word << shift) | (word >> (n - shift))) & ((1u << n) - 1);
}

unsigned gray(unsigned i) { return i ^ (i >> 1); }

/// gray(result) = code, for codes of up to 4 bits.
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

} // namespace

std::uint64_t hilbert_index(std::span<const std::uint32_t> point, int bits) {
  const int n = static_cast<int>(point.size());
  std::uint64_t index = 0;
  unsigned start = 0; // corner of the current cube where the curve enters
  int axis = 0;       // axis that the curve runs along, less one
  for (int level = bits - 1; level >= 0; --level) {
    unsigned label = 0;
    for (int d = 0; d < n; ++d) label |= (point[d] >> level & 1u) << d;
    const unsigned w = gray_inverse(rotated_right(label ^ start, (axis + 1) % n, n));
    index = index << n | w;
    start ^= rotated_left(entry(w), (axis + 1) % n, n);
    axis = (axis + direction(w, n) + 1) % n;
  }
  return index;
}

} // namespace rafter::mesh
