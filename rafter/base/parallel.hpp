// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>

/// Loops of set-up on several threads. They are cut into parts by their length alone, never by the number of threads,
/// so that results are the same for any number of threads.
namespace rafter::base {

/// Returns the number of cores that this process may run on (by its affinity mask), at least 1.
int num_available_cores();

/// Returns the number of threads that the loops of the calling thread take: the available cores, unless a ThreadLimit
/// says another, and one within such a loop.
int num_loop_threads();

/// While it lives, loops of the thread that made it take at most so many threads; 0: as many as there are cores.
class ThreadLimit {
public:
  explicit ThreadLimit(int num_threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
  int before_;
};

/// Calls task(i) once for every i in [0, count), on any thread, and returns when all calls are done. If calls throw,
/// the exception of the lowest i is thrown again, the one that a plain loop would have ended with.
void run_parallel(std::int64_t count, const std::function<void(std::int64_t)>& task);

/// Cuts the range [0, count) into parts of equal length, but for the last: `length` each, longer where that would be
/// more than `most` parts.
class Parts {
public:
  explicit Parts(std::int64_t count, std::int64_t length = 1 << 14, std::int64_t most = INT64_MAX);

  std::int64_t count() const { return num_parts_; }
  std::int64_t begin(std::int64_t part) const { return part * length_; }
  std::int64_t end(std::int64_t part) const { return part + 1 < num_parts_ ? (part + 1) * length_ : count_; }
  /// Calls body(begin, end, part) for all parts, on several threads.
  template <class Body> void run(const Body& body) const {
    run_parallel(num_parts_, [&](std::int64_t part) { body(begin(part), end(part), part); });
  }

private:
  std::int64_t count_, length_, num_parts_;
};

} // namespace rafter::base
