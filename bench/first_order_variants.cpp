// SPDX-License-Identifier: BSD-3-Clause
#include <bench/first_order_variants.hpp>

#include <fmt/format.h>

namespace rafter::bench {

std::string IntegrationVariant::plan() const {
  const char* of_items = items.empty() ? "" : " mapping=cell_per_item vector_width=1 ";
  return fmt::format("contraction=cell-matrices order={} derivatives={}{}{}", order, derivatives, of_items, items);
}

std::vector<IntegrationVariant> loop_variants() {
  return {{"tables", "ahead"}, {"qss", "ahead"}, {"qss", "inside"}, {"sqs", "ahead"},
          {"sqs", "inside"},   {"ssq", "ahead"}, {"ssq", "inside"}};
}

std::vector<IntegrationVariant> item_variants() {
  std::vector<std::string> keys;
  for (const char* items : {"8", "16", "64"})
    for (const int cells : {1, 4}) keys.push_back(fmt::format("work_group={} cells_per_item={}", items, cells));
  for (const char* read : {"coalesced", "plain", "staged"})
    for (const char* write : {"coalesced", "plain"})
      for (const char* workspace : {"none", "geometry", "coefficients", "shapes", "matrix"})
        keys.push_back(fmt::format("read={} write={} workspace={} padding=1", read, write, workspace));
  std::vector<IntegrationVariant> result;
  for (const auto& loops : loop_variants())
    for (const auto& items : keys)
      if (loops.order != "tables") result.push_back({loops.order, loops.derivatives, items});
  return result;
}

} // namespace rafter::bench
