// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/compile_all.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <rafter/base/parallel.hpp>

namespace rafter::device {
namespace {

struct Outcome {
  std::shared_ptr<const Program> program;
  std::exception_ptr failure;
};

/// Outcome of an operation that makes a program.
template <class Operation> Outcome outcome_of(const Operation& operation) {
  try {
    return {operation(), nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

/// Reports how far the compilation is, from one thread after the other. Once it has thrown, it throws again.
class ProgressCounter {
public:
  ProgressCounter(const CompileProgress& progress, std::size_t count) : progress_(progress), count_(count) {}
  void add_one() {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    try {
      if (progress_) progress_(++number_, count_);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

private:
  const CompileProgress& progress_;
  std::size_t count_, number_ = 0;
  std::exception_ptr failure_;
  std::mutex mutex_;
};

} // namespace

std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const CompileJob> jobs,
                                                        const CompileProgress& progress) {
  std::map<std::pair<std::string, CompileOptions>, std::size_t> numbers; // maps a job to the number of the distinct job
  std::vector<const CompileJob*> distinct;
  std::vector<std::size_t> number_of(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [place, is_new] = numbers.try_emplace({jobs[i].source, jobs[i].options}, distinct.size());
    if (is_new) distinct.push_back(&jobs[i]);
    number_of[i] = place->second;
  }

  std::vector<Outcome> outcomes(distinct.size());
  const base::ThreadLimit all_cores(0); // compilers take cores, whatever kernels may take
  base::run_parallel(std::ssize(distinct), [&device, &distinct, &outcomes](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    outcomes[i] = outcome_of([&] { return device.find(distinct[i]->source, distinct[i]->options); });
  });
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < distinct.size(); ++i)
    if (!outcomes[i].program && !outcomes[i].failure) missing.push_back(i);
  // The longest sources come first, so that none of them is left to run alone at the end.
  std::ranges::stable_sort(missing, std::greater(), [&](std::size_t i) { return distinct[i]->source.size(); });
  ProgressCounter counter(progress, missing.size());
  base::run_parallel(std::ssize(missing), [&device, &distinct, &outcomes, &missing, &counter](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    const auto& job = *distinct[missing[i]];
    outcomes[missing[i]] = outcome_of([&] {
      counter.add_one();
      return device.compile(job.source, job.options);
    });
  });

  std::vector<std::shared_ptr<const Program>> programs;
  for (const std::size_t number : number_of) {
    if (outcomes[number].failure) std::rethrow_exception(outcomes[number].failure);
    programs.push_back(outcomes[number].program);
  }
  return programs;
}

std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options) {
  std::vector<CompileJob> jobs;
  for (const auto& source : sources) jobs.push_back({source, options});
  return compile_all(device, jobs);
}

} // namespace rafter::device
