// SPDX-License-Identifier: BSD-3-Clause
// Contents of values distinguish different values, and name what pointers point to and not where that is.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/base/content.hpp>

namespace rafter::base {
namespace {

struct Part {
  int number = 0;
  double size = 1;
};
auto members(const Part& value) {
  const auto& [number, size] = value;
  return std::tie(number, size);
}
struct Whole {
  std::string name, other;
  std::vector<std::vector<int>> lists;
  std::vector<double> numbers;
  std::shared_ptr<const Part> part;
  std::optional<int> choice;
};
auto members(const Whole& value) {
  const auto& [name, other, lists, numbers, part, choice] = value;
  return std::tie(name, other, lists, numbers, part, choice);
}

TEST(Content, DiffersWhereAnyMemberDoes) {
  const auto part = [](int number, double size) { return std::make_shared<const Part>(Part{number, size}); };
  const std::vector<Whole> all{{},
                               {.name = "ab"},
                               {.name = "a", .other = "b"},
                               {.other = "ab"},
                               {.lists = {{1, 2}}},
                               {.lists = {{1}, {2}}},
                               {.lists = {{12}}},
                               {.lists = {{}, {1, 2}}},
                               {.numbers = {1, 2}},
                               {.numbers = {1, 2 + 4e-16}},
                               {.numbers = {2, 1}},
                               {.part = part(0, 1)},
                               {.part = part(1, 1)},
                               {.part = part(0, 1 + 3e-16)},
                               {.choice = 0},
                               {.choice = 1}};
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [place, is_new] = seen.emplace(content_text(all[i]), i);
    EXPECT_TRUE(is_new) << i << " has the content of " << place->second;
  }
}

TEST(Content, IsThatOfEqualValues) {
  const Whole a{.name = "a", .lists = {{3}}, .numbers = {0.1}, .part = std::make_shared<const Part>(Part{2, 3})};
  Whole b = a;
  b.part = std::make_shared<const Part>(*a.part);
  EXPECT_EQ(content_text(a), content_text(b));
}

} // namespace
} // namespace rafter::base
