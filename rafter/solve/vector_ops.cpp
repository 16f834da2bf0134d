// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/vector_ops.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

/// Number of entries; 32 KiB, so that the operands of a block stay in cache.
constexpr std::int64_t block_length = 4096;
constexpr std::size_t min_threaded_length = 65536; ///< for shorter vectors, waking threads costs more than the loop

void require_size(const Vector& x, std::size_t size) {
  if (x.size() != size)
    throw base::InternalError("vector operation on vectors of " + std::to_string(size) + " and " +
                              std::to_string(x.size()) + " entries");
}

/// Returns the sum of x_i y_i, in eight interleaved partial sums: these vectorise, and their order is not left to the
/// compiler.
double block_dot(const double* x, const double* y, std::size_t n) {
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += x[i + k] * y[i + k];
  for (std::size_t k = 0; i < n; ++i, ++k) sums[k] += x[i] * y[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/// Returns splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195) of an index, as a number in [-1, 1).
double random_number(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/// The blocks of a vector, which are found without a list of them.
class Blocks {
public:
  explicit Blocks(std::span<const op::EntryRange> ranges) : ranges_(ranges) {
    for (const auto& range : ranges) {
      firsts_.push_back(count_);
      count_ += (range.end - range.begin + block_length - 1) / block_length;
    }
  }
  std::int64_t count() const { return count_; }
  /// Returns the entries begin .. end - 1 of a block as (begin, end).
  std::pair<std::size_t, std::size_t> operator[](std::int64_t block) const {
    const auto r = static_cast<std::size_t>(std::ranges::upper_bound(firsts_, block) - firsts_.begin()) - 1;
    const std::int64_t begin = ranges_[r].begin + (block - firsts_[r]) * block_length;
    return {static_cast<std::size_t>(begin),
            static_cast<std::size_t>(std::min<std::int64_t>(ranges_[r].end, begin + block_length))};
  }

private:
  std::span<const op::EntryRange> ranges_;
  std::vector<std::int64_t> firsts_; ///< number of the first block of each range
  std::int64_t count_ = 0;
};

} // namespace

std::span<const double> pairwise_sum(std::vector<double>& sums, std::size_t num_sums) {
  if (sums.size() < num_sums) sums.assign(num_sums, 0.0);
  const std::size_t num_rows = num_sums == 0 ? 0 : sums.size() / num_sums;
  for (std::size_t stride = 1; stride < num_rows; stride *= 2)
    for (std::size_t row = 0; row + stride < num_rows; row += 2 * stride)
      for (std::size_t k = 0; k < num_sums; ++k) sums[row * num_sums + k] += sums[(row + stride) * num_sums + k];
  return std::span(sums).first(num_sums);
}

void VectorOps::for_blocks(std::size_t size, std::size_t num_sums, const Range& range) const {
  const op::EntryRange whole{0, static_cast<std::int32_t>(size)};
  const Blocks blocks(owned(whole));
  sums_.assign(static_cast<std::size_t>(blocks.count()) * num_sums, 0.0);
  const auto run_block = [&](std::int64_t block) {
    const auto [begin, end] = blocks[block];
    if (end > size)
      throw base::InternalError(fmt::format("vectors of {} entries, of which entry {} is an unknown", size, end - 1));
    range(begin, end, std::span(sums_).subspan(static_cast<std::size_t>(block) * num_sums, num_sums));
  };
  if (size >= min_threaded_length)
    device_->parallel_for(blocks.count(), run_block);
  else
    for (std::int64_t block = 0; block < blocks.count(); ++block) run_block(block);
}

std::span<const op::EntryRange> VectorOps::owned(const op::EntryRange& whole) const {
  return ranges_ ? std::span<const op::EntryRange>(*ranges_) : std::span(&whole, 1);
}

std::span<const double> VectorOps::reduce(std::size_t size, std::size_t num_sums, const Range& range) const {
  for_blocks(size, num_sums, range);
  pairwise_sum(sums_, num_sums);
  const auto result = std::span(sums_).first(num_sums);
  communicator_->sum(result);
  return result;
}

void VectorOps::fill(double value, Vector& x) const {
  const auto out = x.host_overwrite();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end), value);
  });
}

void VectorOps::fill_random(std::uint32_t stream, Vector& x) const {
  const auto out = x.host_overwrite();
  const std::uint64_t first = static_cast<std::uint64_t>(stream) << 40; // vectors are shorter than 2^40 entries
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] = random_number(first + i);
  });
}

void VectorOps::copy(const Vector& x, Vector& y) const {
  require_size(y, x.size());
  const auto in = x.host_read();
  const auto out = y.host_overwrite();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(begin), in.begin() + static_cast<std::ptrdiff_t>(end),
              out.begin() + static_cast<std::ptrdiff_t>(begin));
  });
}

void VectorOps::scale(double a, Vector& x) const {
  const auto out = x.host_write();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] *= a;
  });
}

void VectorOps::axpy(double a, const Vector& x, Vector& y) const {
  require_size(y, x.size());
  const auto in = x.host_read();
  const auto out = y.host_write();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] += a * in[i];
  });
}

void VectorOps::aypx(double a, const Vector& x, Vector& y) const {
  require_size(y, x.size());
  const auto in = x.host_read();
  const auto out = y.host_write();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] = in[i] + a * out[i];
  });
}

void VectorOps::subtract_from(const Vector& x, Vector& y) const {
  require_size(y, x.size());
  const auto in = x.host_read();
  const auto out = y.host_write();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] = in[i] - out[i];
  });
}

void VectorOps::multiply(const Vector& d, const Vector& x, Vector& y) const {
  require_size(d, x.size());
  require_size(y, x.size());
  const auto factor = d.host_read();
  const auto in = x.host_read();
  const auto out = y.host_overwrite();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] = factor[i] * in[i];
  });
}

void VectorOps::combine(double a, double b, const Vector& d, const Vector& x, Vector& y) const {
  require_size(d, x.size());
  require_size(y, x.size());
  const auto factor = d.host_read();
  const auto in = x.host_read();
  const auto out = y.host_write();
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t i = begin; i < end; ++i) out[i] = a * out[i] + b * (factor[i] * in[i]);
  });
}

double VectorOps::dot(const Vector& x, const Vector& y) const {
  require_size(y, x.size());
  const auto a = x.host_read();
  const auto b = y.host_read();
  return reduce(a.size(), 1, [&](std::size_t begin, std::size_t end, std::span<double> sums) {
    sums[0] = block_dot(a.data() + begin, b.data() + begin, end - begin);
  })[0];
}

double VectorOps::norm(const Vector& x) const { return std::sqrt(dot(x, x)); }

double VectorOps::advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) const {
  require_size(q, p.size());
  require_size(x, p.size());
  require_size(r, p.size());
  const auto direction = p.host_read();
  const auto image = q.host_read();
  const auto solution = x.host_write();
  const auto residual = r.host_write();
  return reduce(direction.size(), 1, [&](std::size_t begin, std::size_t end, std::span<double> sums) {
    for (std::size_t i = begin; i < end; ++i) solution[i] += alpha * direction[i];
    for (std::size_t i = begin; i < end; ++i) residual[i] -= alpha * image[i];
    sums[0] = block_dot(residual.data() + begin, residual.data() + begin, end - begin);
  })[0];
}

void VectorOps::multi_dot(std::span<const Vector> basis, const Vector& w, std::span<double> h) const {
  const auto in = w.host_read();
  std::vector<std::span<const double>> columns;
  for (const auto& vector : basis) {
    require_size(vector, w.size());
    columns.push_back(vector.host_read());
  }
  const auto sums = reduce(in.size(), basis.size(), [&](std::size_t begin, std::size_t end, std::span<double> block) {
    for (std::size_t j = 0; j < columns.size(); ++j)
      block[j] = block_dot(columns[j].data() + begin, in.data() + begin, end - begin);
  });
  std::copy(sums.begin(), sums.end(), h.begin());
}

void VectorOps::multi_axpy(double a, std::span<const double> h, std::span<const Vector> basis, Vector& w) const {
  const auto out = w.host_write();
  std::vector<std::span<const double>> columns;
  for (const auto& vector : basis) {
    require_size(vector, w.size());
    columns.push_back(vector.host_read());
  }
  for_blocks(out.size(), 0, [&](std::size_t begin, std::size_t end, std::span<double>) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double factor = a * h[j];
      for (std::size_t i = begin; i < end; ++i) out[i] += factor * columns[j][i];
    }
  });
}

std::int64_t VectorOps::first_non_finite(const Vector& x) const {
  const auto in = x.host_read();
  const op::EntryRange whole{0, static_cast<std::int32_t>(in.size())};
  for (const auto& range : owned(whole))
    for (std::int32_t i = range.begin; i < range.end; ++i)
      if (!std::isfinite(in[static_cast<std::size_t>(i)])) return i;
  return -1;
}

} // namespace rafter::solvers
