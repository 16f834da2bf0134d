// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/sorted_order.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

#include <rafter/base/aligned.hpp>
#include <rafter/base/parallel.hpp>

namespace rafter::base {

namespace {

struct Record {
  std::uint64_t key;
  std::int32_t number;
  bool operator<(const Record& other) const { return std::tie(key, number) < std::tie(other.key, other.number); }
};

/// Takes digits from keys between a smallest and a largest one: the highest `most_bits` bits in which they differ from
/// the smallest.
class Digits {
public:
  Digits(std::uint64_t least, std::uint64_t largest, int most_bits)
      : least_(least), shift_(std::max(0, static_cast<int>(std::bit_width(largest - least)) - most_bits)),
        count_(static_cast<std::size_t>((largest - least) >> shift_) + 1) {}
  std::size_t count() const { return count_; }
  std::size_t operator()(std::uint64_t key) const { return static_cast<std::size_t>((key - least_) >> shift_); }

private:
  std::uint64_t least_;
  int shift_;
  std::size_t count_;
};

/// Sorts records that are in the order of their numbers wherever keys are equal.
void sort_block(std::span<Record> records, std::span<Record> scratch) {
  constexpr std::size_t few = 48;
  if (records.size() <= few) return std::sort(records.begin(), records.end());
  const auto [least, largest] = std::ranges::minmax(records, {}, &Record::key);
  if (least.key == largest.key) return;
  constexpr int most_bits = 8;
  const Digits digits(least.key, largest.key, most_bits);
  std::array<std::size_t, (1 << most_bits) + 1> begins{};
  for (const auto& record : records) ++begins[digits(record.key) + 1];
  for (std::size_t d = 0; d < digits.count(); ++d) begins[d + 1] += begins[d];
  auto next = begins;
  for (const auto& record : records) scratch[next[digits(record.key)]++] = record;
  std::ranges::copy(scratch.first(records.size()), records.begin());
  for (std::size_t d = 0; d < digits.count(); ++d)
    if (begins[d + 1] - begins[d] > 1) sort_block(records.subspan(begins[d], begins[d + 1] - begins[d]), scratch);
}

Digits first_digits(std::span<const std::uint64_t> keys, const Parts& parts) {
  std::vector<std::uint64_t> least(static_cast<std::size_t>(parts.count())), largest(least.size());
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    const auto [low, high] =
        std::ranges::minmax(keys.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    least[static_cast<std::size_t>(part)] = low;
    largest[static_cast<std::size_t>(part)] = high;
  });
  constexpr std::size_t keys_per_block = 2048;
  constexpr int most_bits = 10; // blocks that are written at the same time
  const int bits = std::clamp(static_cast<int>(std::bit_width(keys.size() / keys_per_block)), 1, most_bits);
  return {*std::ranges::min_element(least), *std::ranges::max_element(largest), bits};
}

} // namespace

std::vector<std::int32_t> sorted_order(std::span<const std::uint64_t> keys) {
  std::vector<std::int32_t> order(keys.size());
  if (keys.empty()) return order;
  const Parts parts(static_cast<std::int64_t>(keys.size()), 1 << 14, 64);
  const Digits digits = first_digits(keys, parts);
  const std::size_t num_blocks = digits.count(), num_parts = static_cast<std::size_t>(parts.count());

  std::vector<std::size_t> next(num_blocks * num_parts); // shape (part, block): counts, then places of records
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    std::vector<std::size_t> counts(num_blocks);
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) ++counts[digits(keys[i])];
    std::ranges::copy(counts, next.begin() + part * static_cast<std::int64_t>(num_blocks));
  });
  std::vector<std::size_t> begins{0};
  std::size_t sum = 0;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    for (std::size_t part = 0; part < num_parts; ++part) sum += std::exchange(next[part * num_blocks + block], sum);
    begins.push_back(sum);
  }
  RawVector<Record> records(keys.size());
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    auto* of_part = next.data() + static_cast<std::size_t>(part) * num_blocks;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      records[of_part[digits(keys[i])]++] = {keys[i], static_cast<std::int32_t>(i)};
  });
  run_parallel(static_cast<std::int64_t>(num_blocks), [&](std::int64_t block) {
    const std::size_t begin = begins[static_cast<std::size_t>(block)],
                      end = begins[static_cast<std::size_t>(block) + 1];
    std::vector<Record> scratch(end - begin);
    sort_block(std::span(records).subspan(begin, end - begin), scratch);
    for (std::size_t i = begin; i < end; ++i) order[i] = records[i].number;
  });
  return order;
}

} // namespace rafter::base
