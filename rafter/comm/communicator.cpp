// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/comm/communicator.hpp>

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

} // namespace

std::shared_ptr<const Communicator> single_process() {
  static const auto process = std::make_shared<const SingleProcess>();
  return process;
}

} // namespace rafter::comm
