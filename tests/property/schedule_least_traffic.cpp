// SPDX-License-Identifier: BSD-3-Clause
// The least bytes of kernels are a lower bound: an execution with as many registers, which knows all later accesses,
// needs at least as many.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/least_traffic.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

using schedule::TraceEvent;

/// This executes a trace with a register file. The value whose next use is last, or that is never used again, is
/// evicted (Belady, IBM Systems Journal 5, 1966).
class RegisterFile {
public:
  explicit RegisterFile(std::span<const TraceEvent> trace) : uses_(next_uses(trace)) {
    for (std::size_t i = 0; i < trace.size(); ++i)
      if (trace[i].place >= 0) access(trace[i], i);
    for (auto& [place, value] : values_)
      if (value.is_result && value.is_dirty) traffic_.written_bytes += value.bytes;
  }
  const schedule::Traffic& traffic() const { return traffic_; }

private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  struct Value {
    double bytes = 0;
    bool is_dirty = false, is_result = false, is_constant = false;
    std::size_t next = never;
  };

  /// Returns for each access when its value is read next.
  static std::vector<std::size_t> next_uses(std::span<const TraceEvent> trace) {
    std::vector<std::size_t> result(trace.size(), never);
    std::map<std::int32_t, std::size_t> next;
    for (std::size_t i = trace.size(); i-- > 0;) {
      const auto found = next.find(trace[i].place);
      result[i] = found == next.end() ? never : found->second;
      next[trace[i].place] = trace[i].kind == TraceEvent::Kind::read ? i : never;
    }
    return result;
  }

  void access(const TraceEvent& event, std::size_t time) {
    auto found = values_.find(event.place);
    if (event.kind == TraceEvent::Kind::read && found == values_.end() && !constants_.contains(event.place))
      traffic_.read_bytes += event.bytes;
    if (found == values_.end()) {
      found = values_.emplace(event.place, Value{.bytes = static_cast<double>(event.bytes)}).first;
      used_ += event.bytes;
    }
    auto& value = found->second;
    value.next = uses_[time];
    if (event.kind == TraceEvent::Kind::write) {
      value.is_dirty = true;
      value.is_result = event.is_of_batch;
      value.is_constant = event.is_constant && !event.is_of_batch;
      if (value.is_constant)
        constants_[event.place] = true;
      else
        constants_.erase(event.place);
    }
    while (used_ > static_cast<double>(schedule::Target().register_bytes)) evict();
  }
  void evict() {
    const auto last = std::max_element(values_.begin(), values_.end(),
                                       [](const auto& a, const auto& b) { return a.second.next < b.second.next; });
    const auto& value = last->second;
    if (value.is_dirty && !value.is_constant && (value.is_result || value.next != never))
      traffic_.written_bytes += value.bytes;
    used_ -= value.bytes;
    values_.erase(last);
  }

  std::vector<std::size_t> uses_;
  std::map<std::int32_t, Value> values_; ///< values in registers, by place
  std::map<std::int32_t, bool> constants_;
  double used_ = 0;
  schedule::Traffic traffic_;
};

class LeastTrafficOfKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(LeastTrafficOfKernels, IsNoMoreThanARegisterFileNeeds) {
  double least_total = 0, local_total = 0;
  const int dim = box_dimension(GetParam());
  const std::string laplace = "inner(grad(u), grad(v))*dx", mass = "u*v*dx";
  for (const auto& [form, components] : {std::pair{laplace, 0}, {mass, 0}, {elasticity_form(dim), dim}})
    for (const std::string plan :
         {"", "contraction=separable", "contraction=per-derivative factors=recompute", "contraction=dense unroll=0",
          "mapping=simd_points", "mapping=plain", "compute=float accumulate=float"})
      for (const bool is_broken : {false, true})
        for (const int degree : {1, 2, 3}) {
          if (degree == 3 && (components > 0 || is_broken)) continue; // these cases are larger and show nothing more
          SCOPED_TRACE(form + " " + plan + " degree " + std::to_string(degree));
          Problem problem(box(GetParam(), 2), {{.degree = degree, .components = components, .is_broken = is_broken}});
          const op::Operator A(problem.with("kappa", 0.7).form(form),
                               planned({.shared_device = std::make_shared<TextDevice>(), .plan = plan}));
          for (const auto& info : A.info()) {
            const auto program = schedule::read(info.loop_program);
            const auto trace = schedule::access_trace(program);
            const auto least = schedule::least_traffic(trace).all;
            const auto possible = RegisterFile(trace).traffic();
            EXPECT_LE(least.read_bytes, possible.read_bytes);
            EXPECT_LE(least.written_bytes, possible.written_bytes);
            const auto local = schedule::count(program).local;
            EXPECT_LE(possible.read_bytes, local.read_bytes);
            least_total += least.read_bytes + least.written_bytes;
            local_total += possible.read_bytes + possible.written_bytes;
          }
        }
  EXPECT_GT(least_total, 0.5 * local_total) << "a bound that says something";
}
INSTANTIATE_TEST_SUITE_P(shapes, LeastTrafficOfKernels,
                         ::testing::Values("tetrahedron", "hexahedron", "triangle", "prism"),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
