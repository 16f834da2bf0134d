// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// Knowledge about an index into an array when the program is written.
enum class Place : std::uint8_t {
  literal,  ///< the index is a number
  unrolled, ///< the index has variables of unrolled loops alone, so that it is a number in every copy
  computed  ///< the index is computed when the kernel runs
};

/// The least knowledge about any index into each work array and constant table.
class ArrayPlaces {
public:
  /// Visits all accesses in `body`, a statement on these buffers. Buffers and statement must outlive the object.
  ArrayPlaces(const std::vector<LoopBuffer>& buffers, const Node& body);

  /// The least known about the array `array`; Place::computed for global and shared buffers.
  Place of(const std::string& array) const;
  const std::unordered_map<std::string_view, Place>& all() const { return of_array_; }

private:
  void visit(const Node& node);
  Place place(const Node& index) const;

  std::unordered_map<std::string_view, Place> of_array_;
  std::vector<std::string_view> unrolled_; ///< variables of the enclosing unrolled loops
};

} // namespace rafter::schedule
