// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/compile_all.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <rafter/base/parallel.hpp>
#include <thread>

namespace rafter::device {
namespace {

struct Outcome {
  std::shared_ptr<const Program> program;
  std::exception_ptr failure;
};

Outcome compile_one(Device& device, const CompileJob& job) {
  try {
    return {device.compile(job.source, job.options), nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

} // namespace

std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const CompileJob> jobs) {
  std::map<std::pair<std::string, CompileOptions>, std::size_t> numbers; // from a job to the number of the distinct job
  std::vector<const CompileJob*> distinct;
  std::vector<std::size_t> number_of(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [place, is_new] = numbers.try_emplace({jobs[i].source, jobs[i].options}, distinct.size());
    if (is_new) distinct.push_back(&jobs[i]);
    number_of[i] = place->second;
  }

  // The longest sources come first, so that none of them is left to run alone at the end.
  std::vector<std::size_t> order(distinct.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return distinct[i]->source.size(); });

  std::vector<Outcome> outcomes(distinct.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&device, &distinct, &order, &outcomes, &next] {
    for (std::size_t i = next++; i < distinct.size(); i = next++)
      outcomes[order[i]] = compile_one(device, *distinct[order[i]]);
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t num_threads = std::min(distinct.size(), static_cast<std::size_t>(base::num_available_cores()));
    for (std::size_t i = 1; i < num_threads; ++i) helpers.emplace_back(work);
    work();
  }

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
