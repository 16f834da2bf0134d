// SPDX-License-Identifier: BSD-3-Clause
// Where RAFTER_TEST_RECORD names a folder, each test leaves a file in it that lists the texts of the kernels which were
// generated, and with RAFTER_TEST_RECORD_TEXTS=yes these texts, by their hashes in its folder texts
// (scripts/replay.sh).
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <tests/support/recorded_texts.hpp>

namespace rafter::test {
namespace {

class RecordTests final : public ::testing::EmptyTestEventListener {
public:
  RecordTests(std::filesystem::path folder, bool keeps_texts) : folder_(std::move(folder)), keeps_texts_(keeps_texts) {
    std::filesystem::create_directories(folder_ / "texts");
  }

private:
  void OnTestStart(const ::testing::TestInfo&) override { recording_ = std::make_unique<Recording>(keeps_texts_); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const auto recording = std::move(recording_);
    if (recording->hashes().empty()) return;
    std::string name = program_invocation_short_name; // programs may have tests of the same name
    name += std::string(" ") + test.test_suite_name() + "." + test.name();
    std::ranges::replace(name, '/', ',');
    std::ofstream list(folder_ / (name + ".list"));
    for (const auto& text : recording->hashes())
      list << text.kind << ' ' << text.kernel << ' ' << text.raw << ' ' << text.canonical << '\n';
    for (const auto& [hash, text] : recording->texts()) std::ofstream(folder_ / "texts" / hash) << text;
  }
  std::filesystem::path folder_;
  bool keeps_texts_;
  std::unique_ptr<Recording> recording_;
};

[[maybe_unused]] const bool is_recorded = [] {
  const char* folder = std::getenv("RAFTER_TEST_RECORD");
  const char* texts = std::getenv("RAFTER_TEST_RECORD_TEXTS");
  if (folder == nullptr || *folder == '\0') return false;
  ::testing::UnitTest::GetInstance()->listeners().Append(
      new RecordTests(folder, texts != nullptr && std::string_view(texts) == "yes")); // GoogleTest owns it
  return true;
}();

} // namespace
} // namespace rafter::test
