// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// What is known of a place in an array when the program is written.
enum class Place : std::uint8_t {
  literal,  ///< no variables
  unrolled, ///< variables of unrolled loops alone
  computed
};

/// The least that is known of a place in each work array and constant table.
class ArrayPlaces {
public:
  /// `body`: a statement on these buffers, which must outlive the object, as the statement must.
  ArrayPlaces(const std::vector<LoopBuffer>& buffers, const Node& body);

  /// Global buffers: computed.
  Place of(const std::string& array) const;
  const std::unordered_map<std::string_view, Place>& all() const { return of_array_; }

private:
  void visit(const Node& node);
  Place place(const Node& index) const;

  std::unordered_map<std::string_view, Place> of_array_;
  std::vector<std::string_view> unrolled_; ///< variables of the unrolled loops around
};

} // namespace rafter::schedule
