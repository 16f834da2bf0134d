// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <sys/types.h>

namespace rafter::base {

/// A file or folder that is removed, with its contents, when its object is destroyed, or by remove_temporaries() when
/// the process ends without running destructors. A forked child does not remove those of its parent.
class Temporary {
public:
  /// Makes an empty file with a new name that starts with `prefix` (a path); its mode is `mode` less the umask. Throws
  /// std::system_error.
  static Temporary file(const std::string& prefix, mode_t mode = 0600);
  /// Makes an empty folder, with permissions for the user alone and a new name that starts with `prefix`. Throws
  /// std::system_error.
  static Temporary folder(const std::string& prefix);

  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  const std::string& path() const { return path_; }
  /// Keeps the file: it has been renamed, or a message names it.
  void keep();

private:
  explicit Temporary(std::string path);
  std::string path_;
  pid_t owner_;
};

/// The folder $TMPDIR, if that is an absolute path, or /tmp.
std::string temporary_folder();

/// Removes all temporaries that exist, in a process that ends at once. Whoever makes or removes one afterwards waits
/// for ever.
void remove_temporaries();

} // namespace rafter::base
