// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// The kinds of access to an entry of memory. An addition that is not atomic is a write.
enum class AccessKind : std::uint8_t { read, write, atomic_add };

/// One access: by which item of which group, in which expression or statement.
struct MemoryAccess {
  std::int64_t group = -1;
  int item = 0;
  AccessKind kind = AccessKind::read;
  const Node* node = nullptr;
};

/// The accesses to one entry of memory that are remembered to find races. Two accesses by different agents conflict
/// when both lie in one period, at least one writes, and not both are atomic. Agents are the items of a group, with the
/// time between two of its barriers as period, or the groups of a run, with the whole run as period.
///
/// Two different agents per kind of access are remembered: whoever comes later conflicts with one of them if it
/// conflicts with any.
class RaceShadow {
public:
  /// Notes an access; returns an earlier one that conflicts with it.
  std::optional<MemoryAccess> note(const MemoryAccess& access, std::int64_t agent, std::int64_t period) {
    if (period != period_) {
      period_ = period;
      first_ = other_ = {};
    }
    for (const auto earlier : {AccessKind::read, AccessKind::write, AccessKind::atomic_add}) {
      const bool is_harmless = earlier == access.kind && earlier != AccessKind::write;
      if (is_harmless) continue;
      for (const auto* known : {&first_, &other_}) {
        const auto& seen = (*known)[static_cast<std::size_t>(earlier)];
        if (seen.agent >= 0 && seen.agent != agent) return seen.access;
      }
    }
    const auto k = static_cast<std::size_t>(access.kind);
    if (first_[k].agent < 0)
      first_[k] = {agent, access};
    else if (first_[k].agent != agent && other_[k].agent < 0)
      other_[k] = {agent, access};
    return std::nullopt;
  }

private:
  struct Seen {
    std::int64_t agent = -1;
    MemoryAccess access;
  };
  std::int64_t period_ = -1;
  std::array<Seen, 3> first_, other_; ///< agents that are remembered, shape (kind of access)
};

} // namespace rafter::schedule
