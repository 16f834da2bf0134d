// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include <rafter/base/hash.hpp>
#include <rafter/base/temporary.hpp>
#include <rafter/tune/kernel_text_cache.hpp>

#include <tests/support/device_folders.hpp>

namespace rafter::test {
namespace {

using tune::KernelPrograms;
using tune::KernelTextCache;
namespace fs = std::filesystem;

class Generations : public ::testing::Test {
protected:
  base::Temporary temporary_ = base::Temporary::folder((fs::temp_directory_path() / "rafter-kernel-texts-").string());
  fs::path parent_ = temporary_.path();
  KernelPrograms some_ = [] {
    KernelPrograms result;
    result.seconds = 1.0 / 3;
    result.loop_program = "(program)";
    result.setup_loop_program = "(program of set-up)";
    result.counts.flops = 7;
    result.counts.masked.written_bytes = 8;
    auto& main = result.main;
    main.source = "void kernel(void) {}\n";
    main.name = "kernel";
    main.plan = schedule::parse_plan("factors=recompute vector_width=4");
    main.vector_width = 4;
    main.matrices = {{0.1, -1e-300}, {}};
    main.points = {1.0 / 7};
    main.weights = {2, 0};
    auto& table = main.arguments.emplace_back();
    table.name = "t";
    table.type = schedule::Type::integer;
    table.role = "table";
    table.values = {3, 4};
    result.setup.source = "\"quoted\"\n";
    result.setup_fields = {0, 2};
    result.outputs = {{.field = 1, .components = 2, .num_tests = 3, .num_trials = 1, .places = {2, 0, 1}}};
    return result;
  }();
  static fs::path only_file(const fs::path& folder) {
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    return fs::directory_iterator(folder)->path();
  }
};

TEST_F(Generations, AreFoundAgainAsTheyWere) {
  KernelTextCache cache(parent_);
  EXPECT_FALSE(cache.find("a"));
  cache.remember("a", some_);
  EXPECT_EQ(KernelTextCache(parent_).find("a"), some_);
  EXPECT_FALSE(cache.find("b"));
}

TEST_F(Generations, OfAnotherGeneratorAreNotFound) {
  KernelTextCache(parent_, "one").remember("a", some_);
  EXPECT_TRUE(KernelTextCache(parent_, "one").find("a"));
  EXPECT_FALSE(KernelTextCache(parent_, "another").find("a"));
  EXPECT_FALSE(KernelTextCache(parent_).find("a"));
  EXPECT_EQ(tune::generator_id().size(), 32U);
}

TEST_F(Generations, ThatAreDamagedAreNoneAndAreWrittenAnew) {
  KernelTextCache cache(parent_);
  cache.remember("a", some_);
  const auto file = only_file(cache.folder());
  const auto size = fs::file_size(file);
  for (const auto length : {std::uintmax_t{0}, std::uintmax_t{20}, size - 1}) {
    fs::resize_file(file, length);
    EXPECT_FALSE(cache.find("a")) << length;
    EXPECT_FALSE(fs::exists(file)) << "it is set aside";
    cache.remember("a", some_);
  }
  EXPECT_EQ(cache.find("a"), some_);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(40) << '#';
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(Generations, OfOtherSpecificationsAndGeneratorsAreSetAside) {
  const Warnings warnings;
  KernelTextCache cache(parent_, "one"), other(parent_, "another");
  const auto file_of = [](const KernelTextCache& of, const std::string& specification) {
    return of.folder() / (base::content_hash(specification) + ".kernel");
  };
  KernelPrograms second = some_;
  second.seconds = 7;
  cache.remember("a", some_);
  cache.remember("b", second);
  other.remember("a", second);
  const auto aside = parent_ / "exchanged";
  fs::rename(file_of(cache, "a"), aside);
  fs::rename(file_of(cache, "b"), file_of(cache, "a"));
  fs::rename(aside, file_of(cache, "b"));
  EXPECT_TRUE(warnings.texts.empty());
  EXPECT_FALSE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_EQ(warnings.texts.size(), 1U) << "one for the folder";
  cache.remember("a", some_);
  fs::copy_file(file_of(cache, "a"), file_of(other, "a"), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(other.find("a"));
  EXPECT_TRUE(fs::exists(file_of(other, "a").string() + ".damaged"));
  EXPECT_EQ(cache.find("a"), some_);
}

TEST_F(Generations, StayWhileTheyAreUsedAndGoSomeWeeksAfter) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::weeks(5);
  for (const auto* id : {"unused", "used"}) {
    KernelTextCache cache(parent_, id);
    cache.remember("a", some_);
    fs::last_write_time(cache.folder(), old);
  }
  EXPECT_TRUE(KernelTextCache(parent_, "used").find("a"));
  KernelTextCache(parent_, "new").remember("a", some_);
  EXPECT_TRUE(KernelTextCache(parent_, "used").find("a"));
  EXPECT_FALSE(KernelTextCache(parent_, "unused").find("a"));
}

TEST_F(Generations, WithoutAFolderAreForgotten) {
  KernelTextCache cache(parent_ / "missing");
  EXPECT_NO_THROW(cache.remember("a", some_));
  EXPECT_FALSE(cache.find("a"));
}

} // namespace
} // namespace rafter::test
