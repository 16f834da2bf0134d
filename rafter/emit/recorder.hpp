// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <string_view>

/// Shows what generators write, so that one version can be compared with another (scripts/replay.sh).
namespace rafter::emit {

/// A text that a generator wrote.
struct WrittenText {
  std::string_view kind;   ///< "tensors", "loops", the language of a source, or "tables" of numbers that a kernel takes
  std::string_view kernel; ///< name of the kernel, or of the first one of a source
  const std::string& text;
};
using Recorder = std::function<void(const WrittenText&)>;

/// Sets who gets all texts from now on; none at the start. Must not be called while kernels are generated. The recorder
/// is called from any thread.
void set_recorder(Recorder recorder);

/// Hands a text to the recorder. `text` is only called where there is one.
void record(std::string_view kind, std::string_view kernel, const std::function<std::string()>& text);

} // namespace rafter::emit
