// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/two_rates.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/base/timing.hpp>

namespace rafter::machine {
namespace {

volatile double one = 1, zero = 0; ///< values stay 1 with these, which the compiler does not know

constexpr int chains_at_once = 10; ///< so many independent sums hide the latency of a multiply-add

// Defines the loop for registers of a width, whose instructions `target` allows. Compilers contract a * factor +
// summand to one instruction where there is one.
#define RAFTER_MULTIPLY_ADD_LOOP(name, bytes, target)                                                                  \
  target double name(std::int64_t num_steps) {                                                                         \
    typedef double Register __attribute__((vector_size(bytes)));                                                       \
    const Register factor = Register{} + one, summand = Register{} + zero;                                             \
    Register a = factor, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a;                                \
    for (std::int64_t step = 0; step < num_steps; ++step) {                                                            \
      a = a * factor + summand, b = b * factor + summand, c = c * factor + summand, d = d * factor + summand;          \
      e = e * factor + summand, f = f * factor + summand, g = g * factor + summand, h = h * factor + summand;          \
      i = i * factor + summand, j = j * factor + summand;                                                              \
    }                                                                                                                  \
    const Register sum = a + b + c + d + e + f + g + h + i + j;                                                        \
    return sum[0];                                                                                                     \
  }

RAFTER_MULTIPLY_ADD_LOOP(multiply_add_128, 16, )
#if defined(__x86_64__)
RAFTER_MULTIPLY_ADD_LOOP(multiply_add_256, 32, __attribute__((target("avx2,fma"))))
RAFTER_MULTIPLY_ADD_LOOP(multiply_add_512, 64, __attribute__((target("avx512f,fma"))))
#endif
#undef RAFTER_MULTIPLY_ADD_LOOP

struct MultiplyAdds {
  double (*loop)(std::int64_t num_steps) = multiply_add_128;
  int lanes = 2;
};

MultiplyAdds of_width([[maybe_unused]] int bits) {
#if defined(__x86_64__)
  if (bits >= 512) return {multiply_add_512, 8};
  if (bits >= 256) return {multiply_add_256, 4};
#endif
  return {};
}

/// Runs parts of equal work at the same time, and takes the best of several rounds.
class Rounds {
public:
  /// Work per second of all threads together.
  double best_rate(int num_threads, double work, const std::function<void(int thread)>& part) {
    using Clock = std::chrono::steady_clock;
    constexpr int num_rounds = 4;
    std::vector<double> rates;
    for (int round = 0; round < num_rounds; ++round) {
      const double cpu_start = base::cpu_seconds();
      const auto start = Clock::now();
      std::vector<std::jthread> others;
      for (int thread = 1; thread < num_threads; ++thread) others.emplace_back(part, thread);
      part(0);
      others.clear();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      rates.push_back(num_threads * work / seconds);
      cpu_seconds_ += std::min(base::cpu_seconds() - cpu_start, num_threads * seconds);
      core_seconds_ += num_threads * seconds;
    }
    const double best = *std::ranges::max_element(rates);
    steadiness_.push_back(base::median(std::move(rates)) / best);
    return best;
  }
  double steadiness() const { return base::median(steadiness_); }
  double cpu_share() const { return std::min(1.0, cpu_seconds_ / core_seconds_); }

private:
  std::vector<double> steadiness_; ///< shares of each rate
  double cpu_seconds_ = 0, core_seconds_ = 0;
};

} // namespace

MeasuredRates measure_two_rates(int cores, int bits, std::int64_t block_bytes) {
  Rounds rounds;
  const auto multiply_adds = of_width(bits);
  constexpr std::int64_t num_steps = 1 << 20; // 3 ms
  const auto arithmetic = [&](int num_threads) {
    volatile double kept = 0;
    const double flops = 2.0 * chains_at_once * multiply_adds.lanes * static_cast<double>(num_steps);
    return rounds.best_rate(num_threads, flops, [&](int thread) {
      const double sum = multiply_adds.loop(num_steps);
      if (thread == 0) kept = sum;
    });
  };
  const auto size = static_cast<std::size_t>(block_bytes) / (3 * sizeof(double));
  base::AlignedVector<double> x(size, 0.0), y(size, 1.0), z(size, 1.0);
  const auto memory = [&](int num_threads) {
    const auto share = size / static_cast<std::size_t>(num_threads);
    const double bytes = 3.0 * sizeof(double) * static_cast<double>(share);
    return rounds.best_rate(num_threads, bytes, [&](int thread) {
      const double factor = one;
      const auto begin = static_cast<std::size_t>(thread) * share;
      for (std::size_t i = begin; i < begin + share; ++i) x[i] = y[i] + factor * z[i];
    });
  };
  const auto both = [cores](const auto& measure) {
    const double alone = measure(1);
    return Rate{alone, cores > 1 ? std::max(alone, measure(cores)) : alone};
  };
  MeasuredRates result{.rates = {.fma = both(arithmetic), .triad = both(memory)}};
  result.steadiness = rounds.steadiness();
  result.cpu_share = rounds.cpu_share();
  return result;
}

} // namespace rafter::machine
