// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/comm/communicator.hpp>

#include <algorithm>
#include <exception>
#include <string>

#include <rafter/base/error.hpp>

namespace rafter::comm {
namespace {

class SingleProcess final : public Communicator {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<double> /*values*/) const override {}
  void max(std::span<double> /*values*/) const override {}
  std::vector<std::int64_t> gather(std::int64_t value) const override { return {value}; }
  std::vector<std::int64_t> exchange_counts(std::span<const std::int64_t> to_each) const override {
    return {to_each.begin(), to_each.end()};
  }
  std::unique_ptr<Exchange> start(std::span<const Outgoing> outgoing,
                                  std::span<const Incoming> incoming) const override {
    if (!outgoing.empty() || !incoming.empty())
      throw base::InternalError("a process that is alone has nobody to exchange messages with");
    return std::make_unique<Nothing>();
  }

private:
  struct Nothing final : Exchange {
    void finish() override {}
  };
};

/// The kind and the text of what an attempt has thrown, as it is sent to other processes.
struct Failure {
  enum Kind : std::int64_t { none, input, environment, solver, internal } kind = none;
  std::string text;
};

Failure attempted(const std::function<void()>& attempt) {
  try {
    attempt();
    return {};
  } catch (const base::InputError& error) {
    return {Failure::input, error.what()};
  } catch (const base::EnvironmentError& error) {
    return {Failure::environment, error.what()};
  } catch (const base::SolverError& error) {
    return {Failure::solver, error.what()};
  } catch (const std::exception& error) {
    return {Failure::internal, error.what()};
  }
}

[[noreturn]] void throw_as(std::int64_t kind, const std::string& text) {
  switch (kind) {
  case Failure::input:
    throw base::InputError(text);
  case Failure::environment:
    throw base::EnvironmentError(text);
  case Failure::solver:
    throw base::SolverError(text);
  default:
    throw base::InternalError(text);
  }
}

} // namespace

void agree(const Communicator& communicator, const std::function<void()>& attempt) {
  if (communicator.size() == 1) return attempt();
  const auto own = attempted(attempt);
  const auto kinds = communicator.gather(own.kind);
  const auto found = std::ranges::find_if(kinds, [](std::int64_t kind) { return kind != Failure::none; });
  if (found == kinds.end()) return;
  const int failed = static_cast<int>(found - kinds.begin());
  const bool is_own = failed == communicator.rank();
  const auto length = communicator.gather(static_cast<std::int64_t>(own.text.size()))[static_cast<std::size_t>(failed)];
  std::string text = is_own ? own.text : std::string(static_cast<std::size_t>(length), ' ');
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  if (is_own) {
    for (int rank = 0; rank < communicator.size(); ++rank)
      if (rank != failed) outgoing.push_back({rank, std::as_bytes(std::span(text))});
  } else
    incoming.push_back({failed, std::as_writable_bytes(std::span(text))});
  communicator.start(outgoing, incoming)->finish();
  throw_as(*found, text);
}

std::shared_ptr<const Communicator> single_process() {
  static const auto process = std::make_shared<const SingleProcess>();
  return process;
}

} // namespace rafter::comm
