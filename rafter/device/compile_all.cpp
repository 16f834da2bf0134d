// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/compile_all.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <rafter/device/host/cpu.hpp>
#include <thread>

namespace rafter::device {
namespace {

struct Outcome {
  std::shared_ptr<const Program> program;
  std::exception_ptr failure;
};

Outcome compile_one(Device& device, const std::string& source, const CompileOptions& options) {
  try {
    return {device.compile(source, options), nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

} // namespace

std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options) {
  std::map<std::string, std::size_t> numbers; // source -> number of the distinct source
  std::vector<const std::string*> distinct;
  std::vector<std::size_t> number_of(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto [place, is_new] = numbers.try_emplace(sources[i], distinct.size());
    if (is_new) distinct.push_back(&sources[i]);
    number_of[i] = place->second;
  }

  std::vector<Outcome> outcomes(distinct.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&device, &options, &distinct, &outcomes, &next] {
    for (std::size_t i = next++; i < distinct.size(); i = next++)
      outcomes[i] = compile_one(device, *distinct[i], options);
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t num_threads = std::min(distinct.size(), static_cast<std::size_t>(num_available_cores()));
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

} // namespace rafter::device
