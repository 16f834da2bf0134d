// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/least_traffic.hpp>

#include <algorithm>
#include <cstddef>

namespace rafter::schedule {
namespace {

using EventKind = TraceEvent::Kind;

std::size_t num_places(std::span<const TraceEvent> trace) {
  std::int32_t last = -1;
  for (const auto& event : trace) last = std::max(last, event.place);
  return static_cast<std::size_t>(last + 1);
}

/// The stretches of the program that enclose an access, outermost first. Times are counted from 1 in one direction.
class Stretches {
public:
  explicit Stretches(double registers_bytes) : registers_bytes_(registers_bytes) { open(0); }

  void open(std::int64_t now) { stretches_.push_back({.start = now + 1}); }
  void close() {
    const double bytes = least();
    stretches_.pop_back();
    stretches_.back().bytes_of_parts += bytes;
  }
  /// A value made at time `from` crosses the start of every stretch that began later.
  void cross(std::int64_t from, double bytes) {
    for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend() && stretch->start > from; ++stretch)
      stretch->crossing_bytes += bytes;
  }
  /// The least bytes that the innermost stretch moves.
  double least() const {
    const auto& stretch = stretches_.back();
    return std::max(stretch.bytes_of_parts, stretch.crossing_bytes - registers_bytes_);
  }

private:
  struct Stretch {
    std::int64_t start = 0;
    double crossing_bytes = 0, bytes_of_parts = 0;
  };
  double registers_bytes_;
  std::vector<Stretch> stretches_;
};

/// Bytes that are loaded: each place counts for a stretch that it enters when it is first read there.
double least_read(std::span<const TraceEvent> trace, double registers_bytes) {
  struct Place {
    std::int64_t last = 0; ///< time of the last access
    bool is_constant = false;
  };
  std::vector<Place> places(num_places(trace));
  Stretches stretches(registers_bytes);
  std::int64_t now = 0;
  for (const auto& event : trace) {
    if (event.kind == EventKind::begin) stretches.open(now);
    if (event.kind == EventKind::end) stretches.close();
    if (event.place < 0 || event.is_of_batch) continue;
    auto& place = places[static_cast<std::size_t>(event.place)];
    ++now;
    if (event.kind == EventKind::write)
      place.is_constant = event.is_constant;
    else if (!place.is_constant)
      stretches.cross(place.last, event.bytes);
    place.last = now;
  }
  return stretches.least();
}

/// Bytes that are stored: values that are read after the end of the stretch that writes them. The trace is walked from
/// its end: there, a value crosses the stretch's end on the way from its last use back to where it is written.
double least_written(std::span<const TraceEvent> trace, double registers_bytes) {
  std::vector<std::int64_t> last_uses(num_places(trace), -1); // time of the last use of the value in a place; -1: none
  Stretches stretches(registers_bytes);
  std::int64_t now = 0;
  for (auto at = trace.rbegin(); at != trace.rend(); ++at) {
    const auto& event = *at;
    if (event.kind == EventKind::end) stretches.open(now);
    if (event.kind == EventKind::begin) stretches.close();
    if (event.place < 0 || event.is_of_batch) continue;
    auto& last_use = last_uses[static_cast<std::size_t>(event.place)];
    ++now;
    if (event.kind == EventKind::read) {
      if (last_use < 0) last_use = now;
      continue;
    }
    if (last_use >= 0 && !event.is_constant) stretches.cross(last_use, event.bytes);
    last_use = -1;
  }
  return stretches.least();
}

/// Bytes of places that each batch has for itself: each is read once unless it was written before, and written once.
LeastTraffic of_the_batch(std::span<const TraceEvent> trace) {
  struct Place {
    bool is_read = false, is_written = false;
  };
  LeastTraffic result;
  std::vector<Place> places(num_places(trace));
  for (const auto& event : trace) {
    if (event.place < 0 || !event.is_of_batch) continue;
    auto& place = places[static_cast<std::size_t>(event.place)];
    const bool reads = event.kind == EventKind::read;
    const bool crosses = !place.is_written && !(reads && place.is_read);
    (reads ? place.is_read : place.is_written) = true;
    if (!crosses) continue;
    (reads ? result.all.read_bytes : result.all.written_bytes) += event.bytes;
    if (event.is_masked) (reads ? result.masked.read_bytes : result.masked.written_bytes) += event.bytes;
  }
  return result;
}

} // namespace

LeastTraffic least_traffic(std::span<const TraceEvent> trace, double registers_bytes) {
  auto result = of_the_batch(trace);
  result.all.read_bytes += least_read(trace, registers_bytes);
  result.all.written_bytes += least_written(trace, registers_bytes);
  return result;
}

} // namespace rafter::schedule
