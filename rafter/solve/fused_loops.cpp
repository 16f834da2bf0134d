// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/fused_loops.hpp>

#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include <rafter/device/host/cpu.hpp>

// A loop is a struct with a function `step` on one pack of entries: `lanes` doubles of a register, or one double at the
// end of a range. Steps are written once and compiled for every instruction set, because all of a loop is inlined into
// a function that names the set.

namespace rafter::solvers {
namespace {

template <std::size_t lanes> struct PackOf { using Type [[gnu::vector_size(8 * lanes)]] = double; };

template <class Pack> [[gnu::always_inline]] inline void load(Pack& pack, const double* from) {
  std::memcpy(&pack, from, sizeof pack);
}
template <class Pack> [[gnu::always_inline]] inline void store(double* to, const Pack& pack) {
  std::memcpy(to, &pack, sizeof pack);
}

/// Partial sums by lane.
template <std::size_t lanes, std::size_t num_sums> struct Sums {
  using Pack = typename PackOf<lanes>::Type;
  std::array<Pack, num_sums> packs{};
  std::array<double, num_sums> rest{};

  template <std::size_t k, class P> [[gnu::always_inline]] inline void add(const P& value) {
    if constexpr (std::is_same_v<P, double>)
      rest[k] += value;
    else
      packs[k] += value;
  }
  [[gnu::always_inline]] inline void add_to(double* sums) const {
    for (std::size_t k = 0; k < num_sums; ++k) {
      double sum = rest[k];
      for (std::size_t lane = 0; lane < lanes; ++lane) sum += packs[k][lane];
      sums[k] += sum;
    }
  }
};

template <class Loop, std::size_t lanes, class Operands>
[[gnu::always_inline]] inline void run_loop(const Operands& given, Ranges ranges, double* sums) {
  using Pack = typename PackOf<lanes>::Type;
  const Operands v = given; // a copy in registers, which nothing that is stored can alias
  Sums<lanes, Loop::num_sums> partial;
  for (const auto& range : ranges) {
    std::int32_t i = range.begin;
    for (; range.end - i >= static_cast<std::int32_t>(lanes); i += static_cast<std::int32_t>(lanes))
      Loop::template step<Pack>(v, i, partial);
    for (; i < range.end; ++i) Loop::template step<double>(v, i, partial);
  }
  if constexpr (Loop::num_sums > 0) partial.add_to(sums);
}

struct Baseline {
  static constexpr std::string_view name = "baseline";
  template <class Loop, class Operands> static void run(const Operands& v, Ranges ranges, double* sums) {
    run_loop<Loop, 2>(v, ranges, sums);
  }
};

#if defined(__x86_64__)
struct Avx2 {
  static constexpr std::string_view name = "avx2";
  template <class Loop, class Operands>
  [[gnu::target("avx2,fma")]] static void run(const Operands& v, Ranges ranges, double* sums) {
    run_loop<Loop, 4>(v, ranges, sums);
  }
};
#endif

/// Multiplies a pack by M^-1. (Packs are never returned: a register that the baseline lacks is no part of its ABI.)
template <bool is_scaled, class Pack>
[[gnu::always_inline]] inline void precondition(const CgOperands& v, std::int32_t i, Pack& pack) {
  if constexpr (is_scaled) {
    Pack diagonal;
    load(diagonal, v.inverse_diagonal + i);
    pack *= diagonal;
  }
}

template <bool is_scaled, bool redirects> struct Advance {
  static constexpr std::size_t num_sums = 2;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const CgOperands& v, std::int32_t i, S& sums) {
    Pack x, r, p, q;
    load(x, v.x + i);
    load(r, v.r + i);
    load(p, v.p + i);
    load(q, v.q + i);
    x += v.alpha * p;
    r -= v.alpha * q;
    Pack z = r;
    precondition<is_scaled>(v, i, z);
    store(v.x + i, x);
    store(v.r + i, r);
    sums.template add<0>(Pack(r * r));
    sums.template add<1>(Pack(r * z));
    if constexpr (redirects) store(v.p + i, Pack(z + v.beta * p));
  }
};

template <bool is_scaled> struct Products {
  static constexpr std::size_t num_sums = 5;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const CgOperands& v, std::int32_t i, S& sums) {
    Pack r, p, q;
    load(r, v.r + i);
    load(p, v.p + i);
    load(q, v.q + i);
    Pack s = q;
    precondition<is_scaled>(v, i, s);
    sums.template add<0>(Pack(p * q));
    sums.template add<1>(Pack(r * q));
    sums.template add<2>(Pack(q * q));
    sums.template add<3>(Pack(r * s));
    sums.template add<4>(Pack(q * s));
  }
};

struct Redirect {
  static constexpr std::size_t num_sums = 0;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const DeferredOperands& v, std::int32_t i, S& /*sums*/) {
    Pack x, p, z;
    load(x, v.x + i);
    load(p, v.p + i);
    load(z, v.z + i);
    store(v.x + i, Pack(x + v.alpha * p));
    store(v.p + i, Pack(z + v.beta * p));
  }
};

struct Energy {
  static constexpr std::size_t num_sums = 1;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const DeferredOperands& v, std::int32_t i, S& sums) {
    Pack p, q;
    load(p, v.p + i);
    load(q, v.q + i);
    sums.template add<0>(Pack(p * q));
  }
};

struct Residual {
  static constexpr std::size_t num_sums = 1;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const DeferredOperands& v, std::int32_t i, S& sums) {
    Pack r, q;
    load(r, v.r + i);
    load(q, v.q + i);
    r -= v.alpha * q;
    store(v.r + i, r);
    sums.template add<0>(Pack(r * r));
  }
};

enum class ChebyshevStage { start, restart, step };

template <ChebyshevStage stage> struct Chebyshev {
  static constexpr std::size_t num_sums = 0;
  template <class Pack, class S>
  [[gnu::always_inline]] static inline void step(const ChebyshevOperands& v, std::int32_t i, S& /*sums*/) {
    constexpr bool is_first = stage != ChebyshevStage::step;
    Pack residual, direction, diagonal, image{}, x{};
    load(residual, (is_first ? v.right : v.residual) + i);
    if constexpr (stage != ChebyshevStage::start) {
      load(image, v.image + i);
      residual -= image;
      load(x, v.x + i);
    }
    load(diagonal, v.inverse_diagonal + i);
    Pack scaled = v.b * (diagonal * residual);
    if constexpr (!is_first) {
      load(direction, v.direction + i);
      scaled += v.a * direction;
    }
    direction = scaled;
    store(v.residual + i, residual);
    store(v.direction + i, direction);
    store(v.x + i, Pack(x + direction));
  }
};

template <class Set, class Scaled, class Unscaled>
void scaled_or_not(const CgOperands& v, Ranges ranges, double* sums) {
  if (v.inverse_diagonal == nullptr) return Set::template run<Unscaled>(v, ranges, sums);
  Set::template run<Scaled>(v, ranges, sums);
}

template <class Set, class Loop, class Operands> void without_sums(const Operands& v, Ranges ranges) {
  Set::template run<Loop>(v, ranges, nullptr);
}

template <class Set> FusedLoops make_loops() {
  return {.instruction_set = Set::name,
          .advance = scaled_or_not<Set, Advance<true, false>, Advance<false, false>>,
          .advance_and_redirect = scaled_or_not<Set, Advance<true, true>, Advance<false, true>>,
          .products = scaled_or_not<Set, Products<true>, Products<false>>,
          .redirect = without_sums<Set, Redirect, DeferredOperands>,
          .energy = Set::template run<Energy, DeferredOperands>,
          .residual = Set::template run<Residual, DeferredOperands>,
          .chebyshev_start = without_sums<Set, Chebyshev<ChebyshevStage::start>, ChebyshevOperands>,
          .chebyshev_restart = without_sums<Set, Chebyshev<ChebyshevStage::restart>, ChebyshevOperands>,
          .chebyshev_step = without_sums<Set, Chebyshev<ChebyshevStage::step>, ChebyshevOperands>};
}

std::vector<FusedLoops> make_all_loops() {
  std::vector<FusedLoops> result{make_loops<Baseline>()};
#if defined(__x86_64__)
  const auto& cpu = device::cpu();
  if (device::has_instruction_set(cpu, "avx2") && device::has_instruction_set(cpu, "fma"))
    result.push_back(make_loops<Avx2>());
#endif
  return result;
}

} // namespace

std::span<const FusedLoops> all_fused_loops() {
  static const auto loops = make_all_loops();
  return loops;
}

} // namespace rafter::solvers
