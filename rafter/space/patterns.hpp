// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace rafter::space {

/// Numbers the different arrangements in which batches see their runs, each once.
class Patterns {
public:
  /// Returns the number of a pattern, from 1; 0 where there would be more than `most` different ones.
  std::int32_t number(const std::vector<std::int32_t>& pattern) {
    if (last_ != nullptr && last_->first == pattern) return last_->second;
    if (const auto found = numbers_.find(pattern); found != numbers_.end()) return (last_ = &*found)->second;
    if (numbers_.size() == most) return 0;
    all_.insert(all_.end(), pattern.begin(), pattern.end());
    const auto result = static_cast<std::int32_t>(numbers_.size()) + 1;
    last_ = &*numbers_.emplace(pattern, result).first;
    return result;
  }
  /// Returns the patterns one after the other, in the order of their numbers.
  std::vector<std::int32_t> take() && { return std::move(all_); }

private:
  static constexpr std::size_t most = 256;
  std::map<std::vector<std::int32_t>, std::int32_t> numbers_;
  const std::pair<const std::vector<std::int32_t>, std::int32_t>* last_ = nullptr; ///< batches repeat the one before
  std::vector<std::int32_t> all_;
};

} // namespace rafter::space
