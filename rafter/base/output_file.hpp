// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <rafter/base/temporary.hpp>

/// Destinations of output, by the name that a user gives. A regular file, or a name without a file, is replaced by a
/// complete file in one step; symbolic links to it stay. Anything else with that name (device, pipe, socket, an open
/// descriptor such as /dev/fd/3) is written to. "-" is standard output, and so is every other name of what standard
/// output is connected to, except devices that are no terminals.
namespace rafter::base {

/// A file that appears under its name when it is complete; without commit() nothing remains of it. All failures are
/// EnvironmentErrors that name the output.
class OutputFile {
public:
  /// `mode`, less the umask, applies to new files; a file that is replaced keeps its mode.
  explicit OutputFile(std::string name, mode_t mode = 0666);

  /// Path of a seekable file to be filled. It stands beside its final place, or in the folder for temporary files when
  /// the output is no regular file.
  const std::string& working_path() const { return working_->path(); }
  /// Flushes the file to the disk and renames it to its final name, or copies it to where it goes.
  void commit();

private:
  std::string name_, place_; ///< `place_` is the path of the file that is replaced; empty where the output is copied
  std::optional<Temporary> working_;
};

/// Writes all bytes to the output of this name, completely or not at all for regular files.
void write_output(const std::string& name, std::string_view bytes, mode_t mode = 0666);

/// A file named by the user; an empty name means none.
struct NamedFile {
  std::string where; ///< an option or key, for outputs; what the file is ("the mesh"), for inputs
  std::string name;
};
/// Checks all outputs before any work is done. Throws InputError for an output that is known to be impossible (its
/// folder is missing or not writable, or it is a folder itself), that would replace an input, or that goes where
/// another output goes. When an output goes to standard output, what the program prints from now on goes to standard
/// error.
void claim_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs = {});

bool is_standard_output(const std::string& name);
/// Says whether output to this name makes or replaces a regular file.
bool is_regular_output(const std::string& name);
/// The name of an output as messages show it: "standard output" for "-".
std::string output_text(const std::string& name);

} // namespace rafter::base
