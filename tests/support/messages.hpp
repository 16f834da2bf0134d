// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

/// Checks what messages say.
namespace rafter::test {

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

inline void expect_mentions(const std::string& text, std::initializer_list<std::string> parts) {
  for (const auto& part : parts) EXPECT_TRUE(contains(text, part)) << part << " is not in: " << text;
}

} // namespace rafter::test
