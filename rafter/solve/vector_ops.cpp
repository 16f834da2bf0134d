// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/vector_ops.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/solve/vector_loops.hpp>

namespace rafter::solvers {
namespace {

/// Returns splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195) of an index, as a number in [-1, 1).
double random_number(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
}

constexpr std::size_t columns = 4; ///< basis vectors that a loop takes

} // namespace

VectorOps::VectorOps(std::shared_ptr<device::Device> device)
    : communicator_(comm::single_process()), runner_(std::move(device), vector_loops) {}

VectorOps::VectorOps(const op::LinearOperator& A, schedule::Type type)
    : ranges_(A.owned_ranges()), communicator_(A.communicator()), runner_(A.device(), vector_loops, ranges_, type) {}

std::span<const double> VectorOps::run(std::string_view loop, std::initializer_list<double> scalars,
                                       std::initializer_list<op::LoopOperand> operands) const {
  const auto sums = runner_.run(loop, scalars, operands);
  if (!sums.empty()) communicator_->sum(sums);
  return sums;
}

std::vector<op::EntryRange> VectorOps::owned(const Vector& x) const {
  return ranges_ ? *ranges_ : std::vector<op::EntryRange>{{0, static_cast<std::int32_t>(x.size())}};
}

void VectorOps::fill_random(std::uint32_t stream, Vector& x) const {
  const auto out = x.host_overwrite();
  const std::uint64_t first = static_cast<std::uint64_t>(stream) << 40; // vectors are shorter than 2^40 entries
  for (const auto& range : owned(x))
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      out[i] = random_number(first + i);
}

void VectorOps::fill(double value, Vector& x) const { run("fill", {value}, {x}); }
void VectorOps::copy(const Vector& x, Vector& y) const { run("copy", {}, {x, y}); }
void VectorOps::copy_range(const op::LoopOperand& x, const op::LoopOperand& y) const {
  runner_.run("copy", {}, {x, y});
}
void VectorOps::scale(double a, Vector& x) const { run("scale", {a}, {x}); }
void VectorOps::axpy(double a, const Vector& x, Vector& y) const { run("axpy", {a}, {x, y}); }
void VectorOps::aypx(double a, const Vector& x, Vector& y) const { run("aypx", {a}, {x, y}); }
void VectorOps::subtract_from(const Vector& x, Vector& y) const { run("subtract_from", {}, {x, y}); }
void VectorOps::multiply(const Vector& d, const Vector& x, Vector& y) const { run("multiply", {}, {d, x, y}); }
void VectorOps::combine(double a, double b, const Vector& d, const Vector& x, Vector& y) const {
  run("combine", {a, b}, {d, x, y});
}

double VectorOps::dot(const Vector& x, const Vector& y) const { return run("dot", {}, {x, y})[0]; }

double VectorOps::scaled_dot(double a, const Vector& x, double b, const Vector& y) const {
  return run("scaled_dot", {a, b}, {x, y})[0];
}

double VectorOps::norm(const Vector& x) const { return energy_norm(x, x); }

double VectorOps::energy_norm(const Vector& x, const Vector& y) const {
  return op::scaled_root(
      [&](double factor) { return std::abs(factor == 1 ? dot(x, y) : scaled_dot(factor, x, factor, y)); });
}

double VectorOps::advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) const {
  return run("advance", {alpha}, {p, q, x, r})[0];
}

void VectorOps::multi_dot(std::span<const Vector> basis, const Vector& w, std::span<double> h) const {
  std::size_t j = 0;
  for (; j + columns <= basis.size(); j += columns)
    std::ranges::copy(run("dot_four", {}, {basis[j], basis[j + 1], basis[j + 2], basis[j + 3], w}),
                      h.begin() + static_cast<std::ptrdiff_t>(j));
  for (; j < basis.size(); ++j) h[j] = dot(basis[j], w);
}

void VectorOps::multi_axpy(double a, std::span<const double> h, std::span<const Vector> basis, Vector& w) const {
  std::size_t j = 0;
  for (; j + columns <= basis.size(); j += columns)
    run("axpy_four", {a * h[j], a * h[j + 1], a * h[j + 2], a * h[j + 3]},
        {basis[j], basis[j + 1], basis[j + 2], basis[j + 3], w});
  for (; j < basis.size(); ++j) axpy(a * h[j], basis[j], w);
}

std::int64_t VectorOps::first_non_finite(const Vector& x) const {
  if (runner_.run("spoil", {}, {x})[0] == 0) return -1;
  const auto in = x.host_read(); // for a message: runs that go on read nothing
  for (const auto& range : owned(x))
    for (std::int32_t i = range.begin; i < range.end; ++i)
      if (!std::isfinite(in[static_cast<std::size_t>(i)])) return i;
  return -1;
}

Vector random_free_vector(const op::LinearOperator& A, std::uint32_t stream) {
  Vector result(A.device(), static_cast<std::size_t>(A.size()));
  VectorOps(A).fill_random(stream, result);
  const auto entries = result.host_write();
  for (const auto entry : A.constrained_entries()) entries[static_cast<std::size_t>(entry)] = 0;
  return result;
}

} // namespace rafter::solvers
