// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

/// Texts of generated kernels are recorded by tests, so that a change can be shown to leave them as they were.
namespace rafter::test {

/// Returns the text with its generated names, those that end with a number, numbered in the order of their first use:
/// texts that differ in such numbers alone have one canonical form.
std::string canonical(std::string_view text);

/// Two hashes of a text, raw and of its canonical form.
struct RecordedText {
  std::string kind;   ///< emit::WrittenText::kind
  std::string kernel; ///< emit::WrittenText::kernel
  std::string raw, canonical;
  auto operator<=>(const RecordedText&) const = default;
};

/// Records the texts that are generated while it exists, in all threads. Several may exist.
class Recording {
public:
  /// The texts themselves are kept, too, if `keeps_texts` is true.
  explicit Recording(bool keeps_texts = false);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const std::set<RecordedText>& hashes() const { return hashes_; }
  const std::map<std::string, std::string>& texts() const { return texts_; } ///< key: raw hash of the text

private:
  friend class Recordings;
  bool keeps_texts_;
  std::set<RecordedText> hashes_;
  std::map<std::string, std::string> texts_;
};

} // namespace rafter::test
