// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <tests/support/source_directory.hpp>

namespace rafter::test {

/// Compares a text with tests/golden/<name>. If it differs, the new one is left in the folder of the test run, and the
/// message says how to accept it.
inline void expect_golden(const std::string& name, const std::string& found) {
  const auto stored = std::filesystem::path(source_directory()) / "tests" / "golden" / name;
  std::stringstream content;
  content << std::ifstream(stored).rdbuf();
  if (content.str() == found) return;
  const auto left = std::filesystem::current_path() / name;
  std::filesystem::create_directories(left.parent_path());
  std::ofstream(left) << found;
  ADD_FAILURE() << "the text of " << name << " changed:\n  diff " << stored.string() << " " << left.string()
                << "\nto accept it:\n  cp " << left.string() << " " << stored.string();
}

} // namespace rafter::test
