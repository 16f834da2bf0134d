// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <rafter/base/temporary.hpp>

/// Where output goes, by the name that a user gives. A name of nothing or of a regular file is replaced by a complete
/// file in one step; through symbolic links, which stay. Whatever else stands there (device, pipe, socket, an open
/// descriptor as /dev/fd/3) is written to. "-" is standard output, and so is every other name of what standard output
/// is connected to, other than a device that is no terminal.
namespace rafter::base {

/// A file that takes its place when it is complete; without commit() nothing remains of it. Every failure is an
/// EnvironmentError that names the output.
class OutputFile {
public:
  /// `mode`, less the umask: of a file that does not exist yet; one that is replaced keeps its mode.
  explicit OutputFile(std::string name, mode_t mode = 0666);

  /// A seekable file of its own to be filled: beside its place, or in the folder for temporary files when the output is
  /// no regular file.
  const std::string& working_path() const { return working_->path(); }
  /// Flushes the file to the disk and puts it in its place, or copies it to where it goes.
  void commit();

private:
  std::string name_, place_; ///< place_: what is replaced; empty: it is copied
  std::optional<Temporary> working_;
};

/// Writes all bytes, as OutputFile does.
void write_output(const std::string& name, std::string_view bytes, mode_t mode = 0666);

/// A file that somebody names: "" is none.
struct NamedFile {
  std::string where; ///< an option or a key, for outputs; what it is, for inputs ("the mesh")
  std::string name;
};
/// To be called before any work. Throws InputError for an output that cannot be written for a reason that is known by
/// then (the folder is missing or not writable, a folder has that name), that takes the place of an input or goes where
/// another output goes. When one of them goes to standard output, what the program prints from now on goes to standard
/// error.
void claim_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs = {});

bool is_standard_output(const std::string& name);
/// Whether output to this name makes or replaces a regular file.
bool is_regular_output(const std::string& name);
/// The name as messages show it: "standard output" for "-".
std::string output_text(const std::string& name);

} // namespace rafter::base
