// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <string_view>

/// Shows what generators write, so that one version can be compared with another (scripts/replay.sh).
namespace rafter::emit {

/// A text that a generator wrote.
struct WrittenText {
  std::string_view kind;   ///< "tensors", "loops" or the language of a source
  std::string_view kernel; ///< name of the kernel, or of the first one of a source
  const std::string& text;
};
using Recorder = std::function<void(const WrittenText&)>;

/// Sets who gets all texts from now on, from any thread; none at the start. No kernel is generated meanwhile.
void set_recorder(Recorder recorder);

/// Hands a text to the recorder. `text` is only called where there is one.
void record(std::string_view kind, std::string_view kernel, const std::function<std::string()>& text);

} // namespace rafter::emit
