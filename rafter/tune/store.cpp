// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/store.hpp>

#include <bit>
#include <cmath>
#include <sqlite3.h>
#include <system_error>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/input_file.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::tune {

namespace {

namespace fs = std::filesystem;

/// Marks in the file's header: the program that owns it, and the version of its tables.
constexpr int application_id = 0x52667472; // "Rftr"
constexpr int table_version = 2;

constexpr const char* tables = R"(
CREATE TABLE measurement (
  kernel    TEXT NOT NULL,
  plan      TEXT NOT NULL,
  seconds   REAL NOT NULL,
  predicted REAL NOT NULL,
  hash      TEXT NOT NULL, -- of all columns before it, so that no time serves a kernel or plan that it is not of
  PRIMARY KEY (kernel, plan)
) WITHOUT ROWID;
)";

/// A call of SQLite failed.
class Failure : public base::EnvironmentError {
public:
  Failure(int failure_code, const std::string& text) : EnvironmentError(text), code(failure_code) {}
  int code;
};

/// Returns the hash that a row has in its last column.
std::string row_hash(const std::string& key, const Measurement& m) {
  return base::content_hash(fmt::format("{}:{}{}:{}{:x} {:x}", key.size(), key, m.plan.size(), m.plan,
                                        std::bit_cast<std::uint64_t>(m.seconds),
                                        std::bit_cast<std::uint64_t>(m.predicted)));
}

/// True for errors that mean that nothing in the file can be used: it is no database, is damaged, or holds something
/// else.
bool is_damage(int code) { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_SCHEMA; }

} // namespace

/// An open database file. All members throw Failure.
class Store::Database {
public:
  Database(const fs::path& file, bool makes_file, std::chrono::milliseconds patience) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (makes_file ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
    try {
      require(code);
      sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
      run("PRAGMA synchronous = NORMAL"); // after a power failure the last timings may be lost, the others are intact
      prepare_tables();
    } catch (...) {
      sqlite3_close_v2(handle_);
      throw;
    }
  }
  ~Database() { sqlite3_close_v2(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& text) { require(sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr)); }

  /// A prepared statement; values are bound to its parameters as text or numbers.
  class Statement {
  public:
    Statement(Database& database, const char* text) : database_(database) {
      database_.require(sqlite3_prepare_v2(database.handle_, text, -1, &handle_, nullptr));
    }
    ~Statement() { sqlite3_finalize(handle_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    void bind(int position, const std::string& value) {
      database_.require(
          sqlite3_bind_text(handle_, position, value.c_str(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
    }
    void bind(int position, double value) { database_.require(sqlite3_bind_double(handle_, position, value)); }
    /// Moves to the next row; false when there is none.
    bool step() {
      const int code = sqlite3_step(handle_);
      if (code != SQLITE_ROW && code != SQLITE_DONE) database_.require(code);
      return code == SQLITE_ROW;
    }
    std::string text(int column) const {
      const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
      return value == nullptr ? "" : value;
    }
    double number(int column) const { return sqlite3_column_double(handle_, column); }

  private:
    Database& database_;
    sqlite3_stmt* handle_ = nullptr;
  };

  void replace(const std::string& key, const std::vector<Measurement>& measurements) {
    run("BEGIN IMMEDIATE"); // undone when the file is closed without COMMIT
    Statement erase(*this, "DELETE FROM measurement WHERE kernel = ?");
    erase.bind(1, key);
    erase.step();
    for (const auto& m : measurements) {
      if (!std::isfinite(m.seconds)) continue;
      Statement insert(*this, "INSERT INTO measurement VALUES (?, ?, ?, ?, ?)");
      insert.bind(1, key);
      insert.bind(2, m.plan);
      insert.bind(3, m.seconds);
      insert.bind(4, m.predicted);
      insert.bind(5, row_hash(key, m));
      insert.step();
    }
    run("COMMIT");
  }

private:
  void require(int code) const {
    if (code == SQLITE_OK) return;
    throw Failure(code & 0xff, handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_));
  }
  int header(const char* pragma) {
    Statement statement(*this, pragma);
    return statement.step() ? static_cast<int>(statement.number(0)) : 0;
  }
  void require_own_tables() {
    if (header("PRAGMA application_id") == application_id && header("PRAGMA user_version") == table_version) return;
    throw Failure(SQLITE_NOTADB, "it is of another version or another program's");
  }
  /// Makes the tables of a new file. One process makes them; others wait and find them.
  void prepare_tables() {
    if (header("PRAGMA schema_version") == 0) {
      run("BEGIN IMMEDIATE");
      if (header("PRAGMA schema_version") == 0)
        run(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};", tables, application_id,
                        table_version));
      run("COMMIT");
      // This does not wait when others use the file; in that case one of them has set the mode, or the next process
      // will.
      sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    }
    require_own_tables();
  }

  sqlite3* handle_ = nullptr;
};

namespace {

/// Renames a file that cannot be used, with a warning.
void set_aside(const fs::path& file, const std::string& reason) {
  std::error_code error;
  fs::rename(file, file.string() + ".damaged", error);
  for (const char* companion : {"-wal", "-shm"}) fs::remove(file.string() + companion, error);
  base::warn_once(fmt::format("the store of measured plans '{}' cannot be used and was set aside as '{}.damaged': {}",
                              file.string(), file.filename().string(), reason));
}

/// Class of size of a problem: the level of memory that holds what one run moves, since this decides which plan is
/// fast.
std::string size_class(const schedule::PlanningProblem& problem, const machine::Machine& machine) {
  const double bytes = problem.num_batches * (problem.input_bytes + problem.output_bytes);
  for (std::size_t i = 0; i + 1 < machine.levels.size(); ++i)
    if (bytes <= static_cast<double>(machine.levels[i].bytes)) return machine.levels[i].name;
  return "memory";
}

} // namespace

Store::Store() : Store(device::CacheDirectory().path() / "plans.sqlite") {}
Store::Store(fs::path file, std::chrono::milliseconds patience) : file_(std::move(file)), patience_(patience) {}
Store::~Store() = default;

bool Store::exists() const {
  std::error_code error;
  return fs::exists(file_, error);
}

template <class Action> void Store::with_database(bool makes_file, const Action& action) const {
  const std::scoped_lock lock(mutex_);
  for (bool is_first = true;; is_first = false) {
    if (const auto kind = base::irregular_kind(file_.string()); !kind.empty()) set_aside(file_, "it is " + kind);
    if (!makes_file && !exists()) return;
    try {
      Database database(file_, makes_file, patience_);
      action(database);
      return;
    } catch (const Failure& failure) {
      if (!is_damage(failure.code) || !is_first) throw;
      set_aside(file_, failure.what());
    }
  }
}

std::string Store::key(const schedule::PlanningProblem& problem, const machine::Machine& machine) const {
  const auto& cpu = device::cpu();
  std::vector<std::string> parts{RAFTER_VERSION, cpu.vendor, cpu.model, base::join(cpu.instruction_sets, " ")};
  const bool is_of_device = !problem.target.has_lanes; // its record names it with its driver, which compiles for it
  if (is_of_device) {
    parts.push_back(machine.model);
    parts.push_back(machine.vendor);
  }
  for (const auto& level : machine.levels) parts.push_back(fmt::format("{} {}", level.name, level.bytes));
  parts.push_back(std::to_string(problem.num_threads));
  if (!is_of_device)
    for (const auto& name : problem.compilers) {
      const auto compiler = device::find_compiler(name == "default" ? "" : name);
      parts.push_back(compiler.path + " " + compiler.version);
    }
  parts.push_back(size_class(problem, machine));
  parts.emplace_back(problem.shares_data ? "equal cells" : "");
  parts.push_back(problem.text);
  return base::content_hash(base::join(parts, "\n"));
}

template <class Action> bool Store::try_reading(const Action& action) const {
  try {
    with_database(false, action);
    return true;
  } catch (const base::EnvironmentError& error) {
    base::warn_once(
        fmt::format("measured plans are not used, because '{}' cannot be read: {}", file_.string(), error.what()));
    return false;
  }
}

std::vector<Measurement> Store::find(const std::string& key) const {
  std::vector<Measurement> result;
  bool has_foreign_rows = false;
  const bool is_read = try_reading([&](Database& database) {
    Database::Statement query(
        database,
        "SELECT plan, seconds, predicted, hash FROM measurement WHERE kernel = ? ORDER BY seconds, predicted, plan");
    query.bind(1, key);
    while (query.step()) {
      const Measurement row{query.text(0), query.number(1), query.number(2)};
      if (query.text(3) == row_hash(key, row))
        result.push_back(row);
      else
        has_foreign_rows = true;
    }
  });
  if (has_foreign_rows) remove_all_but(key, result);
  return is_read ? result : std::vector<Measurement>{};
}

void Store::remove_all_but(const std::string& key, const std::vector<Measurement>& rows) const {
  base::warn_once(fmt::format("measured times in '{}' are damaged or not those of their kernels: they are removed",
                              file_.string()));
  try {
    with_database(false, [&](Database& database) { database.replace(key, rows); });
  } catch (const base::EnvironmentError&) { // the next run leaves them out again
  }
}

std::int64_t Store::num_kernels() const {
  std::int64_t count = 0;
  try_reading([&](Database& database) {
    Database::Statement query(database, "SELECT COUNT(DISTINCT kernel) FROM measurement");
    if (query.step()) count = static_cast<std::int64_t>(query.number(0));
  });
  return count;
}

bool Store::remember(const std::string& key, const std::vector<Measurement>& measurements) {
  try {
    with_database(true, [&](Database& database) { database.replace(key, measurements); });
    return true;
  } catch (const base::EnvironmentError& error) {
    base::warn_once(
        fmt::format("what was measured is not kept, because '{}' cannot be written: {}", file_.string(), error.what()));
    return false;
  }
}

} // namespace rafter::tune
