// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Pointers to the parts of tables that belong to the facet of a batch. Compilers that see `table[facet*32 + 5]` keep
/// the address of each entry, in registers and on the stack; entries of a pointer that is made once for a batch cost no
/// more than those of a table of its own (0090).
class PartPointers {
public:
  explicit PartPointers(const schedule::LoopProgram& program);

  /// Statements behind the definition of an integer variable: the pointers to the parts that it numbers.
  std::string definitions(const std::string& variable, const std::string& indent, const Spelling& spelling) const;

  struct Place {
    std::string array;
    schedule::NodePtr index;
  };
  /// The place of a table's entry, or of any other buffer's: in its part where there is a pointer to that.
  Place place(const std::string& buffer, const schedule::NodePtr& index) const;

private:
  struct Part {
    std::string buffer, pointer;
    std::int64_t size = 0; ///< number of entries of each part of the buffer
  };
  struct Split;
  static std::optional<Split> split(const schedule::NodePtr& index);
  static std::string pointer_of(const std::string& buffer, const Split& split);
  bool is_in_parts(const std::string& buffer, const Split& place) const;
  void find(const schedule::Node& node);

  const schedule::LoopProgram& program_;
  std::map<std::string, std::vector<Part>> parts_; ///< by variable
};

} // namespace rafter::emit
