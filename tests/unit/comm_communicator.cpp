// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/comm/communicator.hpp>

namespace rafter::comm {
namespace {

using Process = std::shared_ptr<const Communicator>;

TEST(Communicator, AProcessAloneKeepsItsValues) {
  const auto alone = single_process();
  EXPECT_EQ(alone->rank(), 0);
  EXPECT_EQ(alone->size(), 1);
  std::vector<double> values{1.5, -2};
  alone->sum(values);
  alone->max(values);
  EXPECT_EQ(values, (std::vector<double>{1.5, -2}));
  EXPECT_EQ(alone->gather(7), std::vector<std::int64_t>{7});
  alone->start({}, {})->finish();
}

TEST(Communicator, EveryRankRunsOnceAndKnowsItsNumber) {
  for (const int size : {1, 2, 5}) {
    std::mutex mutex;
    std::multiset<int> ranks;
    run_in_process(size, [&](const Process& process) {
      EXPECT_EQ(process->size(), size);
      const std::lock_guard lock(mutex);
      ranks.insert(process->rank());
    });
    std::multiset<int> expected;
    for (int rank = 0; rank < size; ++rank) expected.insert(rank);
    EXPECT_EQ(ranks, expected);
  }
}

TEST(Communicator, SumsAreAddedInTheOrderOfRanksOnEveryProcess) {
  // The terms 1, 1e16, -1e16, 1 have a sum that depends on their order.
  const auto term = [](int rank) { return rank == 1 ? 1e16 : rank == 2 ? -1e16 : 1.0; };
  double expected = term(0);
  for (int rank = 1; rank < 4; ++rank) expected += term(rank);
  for (int repetition = 0; repetition < 20; ++repetition)
    run_in_process(4, [&](const Process& process) {
      std::vector<double> values{term(process->rank()), static_cast<double>(process->rank())};
      process->sum(values);
      EXPECT_EQ(values[0], expected);
      EXPECT_EQ(values[1], 6);
      values = {-static_cast<double>(process->rank()), static_cast<double>(process->rank())};
      process->max(values);
      EXPECT_EQ(values, (std::vector<double>{0, 3}));
    });
}

TEST(Communicator, CountsAreGatheredAndExchanged) {
  run_in_process(3, [](const Process& process) {
    const int rank = process->rank();
    EXPECT_EQ(process->gather(10 + rank), (std::vector<std::int64_t>{10, 11, 12}));
    const std::vector<std::int64_t> to_each{10 * rank, 10 * rank + 1, 10 * rank + 2};
    EXPECT_EQ(process->exchange_counts(to_each), (std::vector<std::int64_t>{rank, 10 + rank, 20 + rank}));
  });
}

/// Each process sends one number to the next process of a ring and receives one from the process before.
class Ring {
public:
  Ring(const Process& process, double value) : sent_(value) {
    const int size = process->size(), rank = process->rank();
    const Outgoing to{(rank + 1) % size, std::as_bytes(std::span(&sent_, 1))};
    const Incoming from{(rank + size - 1) % size, std::as_writable_bytes(std::span(&received_, 1))};
    exchange_ = process->start({&to, 1}, {&from, 1});
    sent_ = NAN; // the caller may change it as soon as the exchange has started
  }
  double finish() {
    exchange_->finish();
    return received_;
  }

private:
  double sent_, received_ = 0;
  std::unique_ptr<Communicator::Exchange> exchange_;
};

TEST(Communicator, SeveralExchangesMayBeUnderWay) {
  for (const int size : {1, 2, 4})
    run_in_process(size, [](const Process& process) {
      const int before = (process->rank() + process->size() - 1) % process->size();
      Ring first(process, process->rank()), second(process, 100 + process->rank());
      EXPECT_EQ(first.finish(), before);
      EXPECT_EQ(second.finish(), 100 + before);
    });
}

TEST(Communicator, ExchangesAreMatchedInTheOrderOfTheirStartsAndNotOfTheirEnds) {
  for (const int size : {1, 2, 4})
    run_in_process(size, [](const Process& process) {
      const int before = (process->rank() + process->size() - 1) % process->size();
      Ring first(process, process->rank()), second(process, 100 + process->rank());
      EXPECT_EQ(second.finish(), 100 + before);
      EXPECT_EQ(first.finish(), before);
    });
}

TEST(Communicator, AnExchangeThatIsNotFinishedLeavesNothingToTheNext) {
  run_in_process(3, [](const Process& process) {
    const int before = (process->rank() + 2) % 3;
    { const Ring unfinished(process, process->rank()); }
    EXPECT_EQ(Ring(process, 100 + process->rank()).finish(), 100 + before);
  });
}

std::string failure_of(int size, const std::function<void(const Process&)>& function) {
  try {
    run_in_process(size, function);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST(Communicator, AFailureEndsAllProcesses) {
  std::atomic<int> num_ended = 0;
  const auto failing = [&](const std::function<void(const Process&)>& wait) {
    return failure_of(3, [&](const Process& process) {
      if (process->rank() == 1) throw base::InputError("process 1 does not like this");
      try {
        wait(process);
      } catch (...) {
        ++num_ended;
        throw;
      }
    });
  };
  EXPECT_EQ(failing([](const Process& process) { (void)process->gather(1); }), "process 1 does not like this");
  EXPECT_EQ(failing([](const Process& process) {
              double room = 0;
              const Incoming from{1, std::as_writable_bytes(std::span(&room, 1))};
              process->start({}, {&from, 1})->finish();
            }),
            "process 1 does not like this");
  EXPECT_EQ(num_ended, 4);
}

/// Waits for a message that nobody sends.
void wait_for(const Process& process, int rank) {
  double room = 0;
  const Incoming from{rank, std::as_writable_bytes(std::span(&room, 1))};
  process->start({}, {&from, 1})->finish();
}

TEST(Communicator, AProcessThatLeavesWhatAllDoIsNamedAndNobodyWaitsForEver) {
  EXPECT_EQ(failure_of(3,
                       [](const Process& process) {
                         if (process->rank() == 0) wait_for(process, 1);
                         if (process->rank() == 1) (void)process->gather(1);
                       }),
            "processes do not call the same: process 0 waits for a message of process 1, process 1 waits for all, "
            "process 2 has ended");
  std::atomic<int> num_notified = 0; // those who wait are notified in their own calls
  EXPECT_NE(failure_of(4,
                       [&](const Process& process) {
                         if (process->rank() == 3) return;
                         try {
                           (void)process->gather(1);
                         } catch (const base::InternalError&) {
                           ++num_notified;
                         }
                       })
                .find("process 3 has ended"),
            std::string::npos);
  EXPECT_EQ(num_notified, 3);
}

TEST(Communicator, AFailureThatIsHandledStillEndsTheCallsOfTheOthers) {
  EXPECT_NE(failure_of(2,
                       [](const Process& process) {
                         if (process->rank() == 0) return wait_for(process, 1);
                         try {
                           throw base::InputError("handled");
                         } catch (const base::InputError&) { // and the message is never sent
                         }
                       })
                .find("process 0 waits for a message of process 1"),
            std::string::npos);
}

TEST(Communicator, WhoHandlesExceptionsDoesNotSeeThatAnotherProcessHasFailed) {
  std::atomic<int> num_seen = 0;
  EXPECT_EQ(failure_of(2,
                       [&](const Process& process) {
                         if (process->rank() == 1) throw base::InputError("process 1 does not like this");
                         try {
                           (void)process->gather(1);
                         } catch (const std::exception&) {
                           ++num_seen;
                         }
                       }),
            "process 1 does not like this");
  EXPECT_EQ(num_seen, 0);
}

TEST(Communicator, WhatFailsOnOneProcessFailsOnAllOfThemAlike) {
  for (const int size : {1, 4}) {
    std::atomic<int> num_notified = 0;
    run_in_process(size, [&](const Process& process) {
      const auto attempt = [&](int rank, const auto& error) {
        agree(*process, [&] {
          if (process->rank() >= rank) throw error;
        });
      };
      try {
        attempt(std::min(1, size - 1), base::SolverError("process " + std::to_string(process->rank())));
      } catch (const base::SolverError& error) {
        EXPECT_EQ(error.what(), size == 1 ? std::string("process 0") : std::string("process 1"));
        ++num_notified;
      }
      EXPECT_THROW(attempt(0, base::InputError("input")), base::InputError);
      EXPECT_THROW(attempt(0, base::EnvironmentError("environment")), base::EnvironmentError);
      attempt(size, base::InputError("nobody"));
      EXPECT_EQ(process->gather(1).size(), static_cast<std::size_t>(size)) << "they go on together";
    });
    EXPECT_EQ(num_notified, size);
  }
}

TEST(Communicator, CallsThatDoNotMatchAreFaults) {
  EXPECT_NE(failure_of(2,
                       [](const Process& process) {
                         double value = 1;
                         if (process->rank() == 0)
                           process->sum(std::span(&value, 1));
                         else
                           process->max(std::span(&value, 1));
                       })
                .find("processes do not call the same"),
            std::string::npos);
  EXPECT_NE(failure_of(2,
                       [](const Process& process) {
                         std::vector<double> values(static_cast<std::size_t>(process->rank() + 1), 1.0);
                         process->sum(values);
                       })
                .find("numbers where process"),
            std::string::npos);
  EXPECT_NE(failure_of(2,
                       [](const Process& process) {
                         std::vector<double> values(3);
                         if (process->rank() == 0) {
                           const Outgoing to{1, std::as_bytes(std::span(values).first(2))};
                           process->start({&to, 1}, {})->finish();
                         } else {
                           const Incoming from{0, std::as_writable_bytes(std::span(values))};
                           process->start({}, {&from, 1})->finish();
                         }
                       })
                .find("process 0 sends 16 bytes to process 1, which expects 24"),
            std::string::npos);
  EXPECT_THROW(run_in_process(0, [](const Process&) {}), base::InputError);
}

} // namespace
} // namespace rafter::comm
