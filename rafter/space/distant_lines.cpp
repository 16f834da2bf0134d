// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/distant_lines.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <rafter/base/parallel.hpp>

namespace rafter::space {

namespace {

constexpr std::int32_t entries_per_line = 8; ///< doubles in a cache line

std::int64_t num_touched(const BlockDofs& dofs) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < dofs.first_touch.size(); i += 2) result += dofs.first_touch[i + 1] - dofs.first_touch[i];
  return result;
}

/// The lines of some consecutive batches.
struct PartOfLines {
  std::vector<std::int32_t> counts; ///< number of lines of each batch
  std::vector<std::int32_t> entries;
};

/// Goes through consecutive batches in order and remembers which lines the last ones have asked for.
class DistantLineSearch {
public:
  /// `window`: so many batches before a batch are recent.
  DistantLineSearch(const BlockDofs& dofs, int components, std::size_t window)
      : dofs_(dofs), components_(components), window_(window) {}

  /// The window begins with the first batch at the earliest, so that parts do not depend on each other.
  PartOfLines find(std::size_t first_batch, std::size_t end_batch) {
    PartOfLines result;
    window_begin_ = first_batch;
    for (batch_ = first_batch; batch_ < end_batch; ++batch_) {
      advance_window();
      lines_.clear();
      visit_runs();
      std::ranges::sort(lines_);
      lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
      for (const auto line : lines_) result.entries.push_back(line * entries_per_line);
      result.counts.push_back(static_cast<std::int32_t>(lines_.size()));
    }
    return result;
  }

private:
  /// The batches of a chunk follow each other, and so do the entries that they touch first: where these do not, a chunk
  /// begins, and the batches before it may run at any time.
  void advance_window() {
    if (batch_ > window_begin_ && dofs_.first_touch[2 * batch_] != dofs_.first_touch[2 * batch_ - 1])
      window_begin_ = batch_;
    if (batch_ > window_begin_ + window_) window_begin_ = batch_ - window_;
    near_begin_ = dofs_.first_touch[2 * window_begin_];
    near_end_ = dofs_.first_touch[2 * batch_ + 1];
  }
  void visit_runs() {
    if (!dofs_.patch_numbers.empty() && dofs_.patch_numbers[batch_] != 0)
      visit(dofs_.patch_starts, dofs_.layout.patch->run_lengths);
    else
      visit(dofs_.run_starts, dofs_.layout.run_lengths);
  }
  /// `starts`: first entries of runs, shape (batch, run, cell).
  template <class Starts> void visit(const Starts& starts, const std::vector<int>& lengths) {
    const std::size_t num_starts = starts.size() / dofs_.interior_starts.size();
    const auto* start = starts.data() + batch_ * num_starts;
    for (const int length : lengths)
      for (std::size_t cell = 0; cell < num_starts / lengths.size(); ++cell) visit_run(*start++, length * components_);
  }
  void visit_run(std::int32_t start, int count) {
    if (start >= near_begin_ && start < near_end_) return;
    for (std::int32_t line = start / entries_per_line; line <= (start + count - 1) / entries_per_line; ++line) {
      auto& last = last_found_[static_cast<std::size_t>(line) % last_found_.size()];
      if (last.line == line && last.batch >= window_begin_) continue;
      last = {line, batch_};
      lines_.push_back(line);
    }
  }

  struct Found {
    std::int32_t line = -1;
    std::size_t batch = 0;
  };
  const BlockDofs& dofs_;
  int components_;
  std::size_t window_, window_begin_ = 0, batch_ = 0;
  std::int32_t near_begin_ = 0, near_end_ = 0; ///< entries that the batches of the window touch first
  std::array<Found, 4096> last_found_;         ///< lines that were found last, by their numbers modulo the size
  std::vector<std::int32_t> lines_;            ///< lines of the batch
};

} // namespace

DistantLines distant_lines(const BlockDofs& dofs, int components, const DistantLineOptions& options) {
  const auto num_batches = static_cast<std::int64_t>(dofs.interior_starts.size());
  const std::int64_t touched = num_touched(dofs);
  DistantLines result;
  result.begins.assign(static_cast<std::size_t>(num_batches + 1), 0);
  if (touched > options.cached_entries && !dofs.layout.run_lengths.empty()) {
    const auto window = static_cast<std::size_t>(num_batches * options.recent_entries / touched + 1);
    const base::Parts parts(num_batches, 4096);
    std::vector<PartOfLines> of_parts(static_cast<std::size_t>(parts.count()));
    parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      of_parts[static_cast<std::size_t>(part)] =
          DistantLineSearch(dofs, components, window)
              .find(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
    });
    std::size_t batch = 0;
    for (const auto& part : of_parts) {
      for (const auto count : part.counts) {
        result.begins[batch + 1] = result.begins[batch] + count;
        ++batch;
      }
      result.entries.insert(result.entries.end(), part.entries.begin(), part.entries.end());
    }
  }
  return result;
}

} // namespace rafter::space
