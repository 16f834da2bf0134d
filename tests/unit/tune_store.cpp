// SPDX-License-Identifier: BSD-3-Clause
// The store only remembers: whatever happens to its file, at worst nothing is remembered, with one warning.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <rafter/machine/typical.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/search.hpp>
#include <rafter/tune/store.hpp>

#include <tests/support/device_folders.hpp>

namespace rafter::tune {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using test::Warnings;

const std::vector<Measurement> two{{"factors=store", 2e-3, 1e-3}, {"factors=recompute", 1e-3, 3e-3}};
const std::vector<Measurement> two_by_time{two[1], two[0]};

/// This is the connection of another program.
class Connection {
public:
  explicit Connection(const fs::path& file) { EXPECT_EQ(sqlite3_open(file.c_str(), &handle_), SQLITE_OK); }
  ~Connection() { sqlite3_close(handle_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  void run(const char* text) { EXPECT_EQ(sqlite3_exec(handle_, text, nullptr, nullptr, nullptr), SQLITE_OK) << text; }

private:
  sqlite3* handle_ = nullptr;
};

class StoreTest : public testing::Test {
protected:
  fs::path file() const { return folder_.path() / "plans.sqlite"; }
  fs::path damaged() const { return folder_.path() / "plans.sqlite.damaged"; }
  /// Checks what happens to a file that cannot be used.
  void expect_set_aside_and_rebuilt(const std::string& reason) {
    const Warnings warnings;
    Store store(file());
    EXPECT_TRUE(store.find("kernel").empty());
    EXPECT_TRUE(fs::exists(damaged()));
    EXPECT_TRUE(store.remember("kernel", two));
    EXPECT_EQ(store.find("kernel"), two_by_time);
    ASSERT_EQ(warnings.texts.size(), 1U);
    EXPECT_NE(warnings.texts[0].find(file().string()), std::string::npos) << warnings.texts[0];
    EXPECT_NE(warnings.texts[0].find(reason), std::string::npos) << warnings.texts[0];
  }
  Folder folder_;
};

TEST_F(StoreTest, RemembersMeasurementsFastestFirst) {
  const Warnings warnings;
  EXPECT_TRUE(Store(file()).remember("kernel", two));
  EXPECT_EQ(Store(file()).find("kernel"), two_by_time);
  EXPECT_TRUE(Store(file()).find("another kernel").empty());
  EXPECT_EQ(Store(file()).num_kernels(), 1);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST_F(StoreTest, EqualTimesAreInTheOrderOfSearches) {
  const std::vector<Measurement> in_order{
      {"factors=store", 1e-3, 1e-3}, {"factors=recompute", 1e-3, 2e-3}, {"factors=store-merged", 1e-3, 2e-3}};
  Store store(file());
  EXPECT_TRUE(store.remember("kernel", {in_order[2], in_order[0], in_order[1]}));
  EXPECT_EQ(store.find("kernel"), in_order);
  std::vector<Candidate> candidates;
  for (const auto& m : {in_order[2], in_order[1], in_order[0]})
    candidates.push_back({.plan = schedule::parse_plan(m.plan), .predicted_seconds = m.predicted});
  const auto found =
      search(std::move(candidates), [](auto plans, int) { return std::vector<double>(plans.size(), 1e-3); },
             {.is_exhaustive = true});
  for (std::size_t i = 0; i < in_order.size(); ++i)
    EXPECT_EQ(found[i].plan, schedule::parse_plan(in_order[i].plan)) << i;
}

TEST_F(StoreTest, NewMeasurementsReplaceOldOnes) {
  Store store(file());
  EXPECT_TRUE(store.remember("kernel", two));
  EXPECT_TRUE(store.remember("other", two));
  EXPECT_TRUE(store.remember("kernel", {{"factors=store", 5e-3, 1e-3}}));
  EXPECT_EQ(store.find("kernel"), (std::vector<Measurement>{{"factors=store", 5e-3, 1e-3}}));
  EXPECT_EQ(store.find("other"), two_by_time);
}

TEST_F(StoreTest, PlansThatCannotRunAreNotRemembered) {
  Store store(file());
  EXPECT_TRUE(store.remember("kernel", {{"a", std::numeric_limits<double>::infinity(), 1}, {"b", 1, 1}}));
  EXPECT_EQ(store.find("kernel"), (std::vector<Measurement>{{"b", 1, 1}}));
}

TEST_F(StoreTest, LookingMakesNoFile) {
  const Warnings warnings;
  EXPECT_TRUE(Store(file()).find("kernel").empty());
  EXPECT_EQ(Store(file()).num_kernels(), 0);
  EXPECT_FALSE(Store(file()).exists());
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(warnings.texts.empty());
}

TEST_F(StoreTest, TextsOfAnyKindAreKeptAsTheyAre) {
  const std::vector<Measurement> odd{{"'; DROP TABLE measurement; --", 1, 2}, {"\xc3\xa9\n\"", 3, 4}};
  Store store(file());
  EXPECT_TRUE(store.remember("it's", odd));
  EXPECT_EQ(store.find("it's"), odd);
}

TEST_F(StoreTest, GarbageIsSetAside) {
  std::ofstream(file()) << std::string(5000, 'x');
  expect_set_aside_and_rebuilt("not a database");
}

TEST_F(StoreTest, DamageInsideIsSetAside) {
  {
    Store store(file());
    std::vector<Measurement> many;
    for (int i = 0; i < 2000; ++i) many.push_back({"plan " + std::to_string(i), 1.0 + i, 1});
    EXPECT_TRUE(store.remember("kernel", many));
    Connection(file()).run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(4096); // the header is kept
  bytes << std::string(static_cast<std::size_t>(fs::file_size(file())) - 4096, '\xff');
  bytes.close();
  expect_set_aside_and_rebuilt("malformed");
}

TEST_F(StoreTest, AnotherVersionIsSetAside) {
  EXPECT_TRUE(Store(file()).remember("kernel", two));
  Connection(file()).run("PRAGMA user_version = 1000");
  expect_set_aside_and_rebuilt("another version");
}

/// Each of these statements ties a time to a kernel or plan that it was not measured for, or changes one.
TEST_F(StoreTest, RowsThatAreNotThoseOfTheirKernelsAreRemoved) {
  for (const char* change :
       {"UPDATE measurement SET kernel = 'third' WHERE kernel = 'other';"
        "UPDATE measurement SET kernel = 'other' WHERE kernel = 'kernel';"
        "UPDATE measurement SET kernel = 'kernel' WHERE kernel = 'third'",
        "UPDATE measurement SET plan = 'third' WHERE plan = 'factors=store';"
        "UPDATE measurement SET plan = 'factors=store' WHERE plan = 'factors=recompute';"
        "UPDATE measurement SET plan = 'factors=recompute' WHERE plan = 'third'",
        "UPDATE measurement SET seconds = seconds * (1 + 1e-15)", "UPDATE measurement SET predicted = 0",
        "UPDATE measurement SET hash = (SELECT MIN(hash) FROM measurement)", "UPDATE measurement SET hash = ''"}) {
    const Folder folder;
    const auto path = folder.path() / "plans.sqlite";
    EXPECT_TRUE(Store(path).remember("kernel", {{"factors=store", 2e-3, 1e-3}, {"factors=recompute", 1e-3, 3e-3}}));
    EXPECT_TRUE(Store(path).remember("other", {{"factors=store", 4e-3, 1e-3}, {"factors=recompute", 5e-3, 3e-3}}));
    Connection(path).run(change);
    const Warnings warnings;
    EXPECT_LE(Store(path).find("kernel").size() + Store(path).find("other").size(), 1U) << change;
    ASSERT_EQ(warnings.texts.size(), 1U) << change;
    EXPECT_NE(warnings.texts[0].find(path.string()), std::string::npos) << warnings.texts[0];
    EXPECT_LE(Store(path).num_kernels(), 1) << "they are removed";
    EXPECT_TRUE(Store(path).remember("kernel", two));
    EXPECT_EQ(Store(path).find("kernel"), two_by_time);
  }
}

TEST_F(StoreTest, RightRowsBesideAWrongOneStay) {
  Store store(file());
  EXPECT_TRUE(store.remember("kernel", two));
  Connection(file()).run("UPDATE measurement SET seconds = 1e-9 WHERE plan = 'factors=recompute'");
  const std::vector<Measurement> right{two[0]};
  EXPECT_EQ(store.find("kernel"), right);
  Connection(file()).run("UPDATE measurement SET seconds = seconds"); // nothing is left to be removed
  const Warnings warnings;
  EXPECT_EQ(store.find("kernel"), right);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsSetAside) {
  Connection(file()).run("CREATE TABLE recipes (name TEXT)");
  expect_set_aside_and_rebuilt("another");
}

TEST_F(StoreTest, ALockedFileIsLeftAlone) {
  Store store(file(), std::chrono::milliseconds(20));
  EXPECT_TRUE(store.remember("kernel", two));
  Connection other(file());
  other.run("BEGIN EXCLUSIVE");
  const Warnings warnings;
  EXPECT_EQ(store.find("kernel"), two_by_time); // readers of a write-ahead log do not wait
  EXPECT_FALSE(store.remember("kernel", {}));
  EXPECT_FALSE(store.remember("kernel", {}));
  ASSERT_EQ(warnings.texts.size(), 1U);
  EXPECT_NE(warnings.texts[0].find("locked"), std::string::npos) << warnings.texts[0];
  other.run("COMMIT");
  EXPECT_TRUE(store.remember("kernel", {}));
  EXPECT_FALSE(fs::exists(damaged()));
}

TEST_F(StoreTest, AFolderInItsPlaceIsSetAside) {
  fs::create_directory(file());
  expect_set_aside_and_rebuilt("it is a directory");
}

TEST_F(StoreTest, APipeInItsPlaceIsSetAside) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  expect_set_aside_and_rebuilt("it is a pipe (FIFO)");
}

TEST_F(StoreTest, ThreadsAndProcessesWriteAtTheSameTime) {
  constexpr int num_writers = 4, num_kernels = 10;
  const auto write = [this](int writer) {
    Store store(file());
    for (int k = 0; k < num_kernels; ++k)
      (void)store.remember("kernel " + std::to_string(writer) + " " + std::to_string(k), two);
  };
  std::vector<pid_t> children;
  for (int writer = 0; writer < num_writers; ++writer)
    if (const pid_t child = fork(); child == 0) {
      write(writer);
      _exit(0);
    } else
      children.push_back(child);
  {
    std::vector<std::jthread> threads;
    for (int writer = num_writers; writer < 2 * num_writers; ++writer)
      threads.emplace_back([&write, writer] { write(writer); });
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Store store(file());
  for (int writer = 0; writer < 2 * num_writers; ++writer)
    for (int k = 0; k < num_kernels; ++k)
      EXPECT_EQ(store.find("kernel " + std::to_string(writer) + " " + std::to_string(k)), two_by_time)
          << writer << " " << k;
}

TEST_F(StoreTest, KeysDistinguishKernelsSizesThreadsAndCompilers) {
  const Store store(file());
  const auto machine = machine::typical_machine();
  schedule::PlanningProblem problem;
  problem.text = "mass";
  problem.num_batches = 10;
  problem.input_bytes = problem.output_bytes = 1000;
  const auto key = store.key(problem, machine);
  EXPECT_EQ(store.key(problem, machine), key);
  const auto changed = [&](const auto& change) {
    auto other = problem;
    change(other);
    return store.key(other, machine) != key;
  };
  EXPECT_TRUE(changed([](schedule::PlanningProblem& p) { p.text = "laplace"; }));
  EXPECT_TRUE(changed([](schedule::PlanningProblem& p) { p.num_batches = 1e7; }));
  EXPECT_FALSE(changed([](schedule::PlanningProblem& p) { p.num_batches = 11; }));
  EXPECT_TRUE(changed([](schedule::PlanningProblem& p) { p.num_threads = 2; }));
  EXPECT_TRUE(changed([](schedule::PlanningProblem& p) { p.compilers = {"default", "default"}; }));
  auto other_machine = machine;
  other_machine.levels.front().bytes *= 2;
  EXPECT_NE(store.key(problem, other_machine), key);
}

} // namespace
} // namespace rafter::tune
