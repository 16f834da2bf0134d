// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <sys/types.h>

namespace rafter::base {

/// A file or a folder that is removed, with what is in it, when its object goes; also when the process ends at once and
/// no destructor runs (remove_temporaries). A forked child leaves those of its parent alone.
class Temporary {
public:
  /// An empty file whose name starts with `prefix` (a path) and is new; `mode` less the umask. Throws
  /// std::system_error.
  static Temporary file(const std::string& prefix, mode_t mode = 0600);
  /// An empty folder of the user alone. Throws std::system_error.
  static Temporary folder(const std::string& prefix);

  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  const std::string& path() const { return path_; }
  /// It stays: it has another name by now, or a message names it.
  void keep();

private:
  explicit Temporary(std::string path);
  std::string path_;
  pid_t owner_;
};

/// $TMPDIR, where it is absolute, or /tmp.
std::string temporary_folder();

/// For a process that ends at once: removes all that are left. Whoever makes or removes one afterwards waits for ever.
void remove_temporaries();

} // namespace rafter::base
