// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/output_file.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace rafter::base {
namespace {

namespace fs = std::filesystem;

constexpr const char* dash = "-";

/// Descriptor of what was standard output when the program started.
std::atomic<int> standard_output = STDOUT_FILENO;

int own_descriptor(int number) { return number == STDOUT_FILENO ? standard_output.load() : number; }

/// Owns a descriptor, and closes it with the scope.
class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  /// Closes the descriptor; some file systems report only then that the disk is full.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
  int number_;
};

/// The file, device or descriptor to which the name of an output leads.
struct Target {
  enum class Kind { file, node, descriptor };
  Kind kind = Kind::file;
  fs::path path;       ///< path without symbolic links at its end; a file need not exist yet
  int descriptor = -1; ///< descriptor of this process
};

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Says whether a status is that of standard output, and output to both would be mixed.
bool is_of_standard_output(const struct stat& status) {
  struct stat own;
  if (::fstat(standard_output, &own) != 0 || !is_same_file(own, status)) return false;
  return !S_ISCHR(own.st_mode) || ::isatty(standard_output) == 1;
}

std::optional<int> descriptor_number(const fs::path& folder, const fs::path& name) {
  std::error_code error;
  if (folder != fs::canonical("/proc/self/fd", error) || error) return std::nullopt;
  try {
    return static_cast<int>(parse_integer(name.string()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Follows symbolic links one by one. Links below /proc/self/fd stand for descriptors, whatever their text says.
Target follow_links(const std::string& name) {
  constexpr int max_links = 40; // limit of the operating system
  fs::path path = name;
  struct stat status;
  for (int link = 0; link < max_links; ++link) {
    if (::lstat(path.c_str(), &status) != 0) return {Target::Kind::file, path};
    if (S_ISREG(status.st_mode)) return {Target::Kind::file, path};
    if (!S_ISLNK(status.st_mode)) return {Target::Kind::node, path};
    std::error_code error;
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
    if (const auto number = descriptor_number(folder, path.filename()))
      return {Target::Kind::descriptor, path, own_descriptor(*number)};
    if (folder.string().starts_with("/proc/")) return {Target::Kind::node, path}; // a descriptor of another process
    path = folder / fs::read_symlink(path, error);
  }
  return {Target::Kind::node, path}; // a circle of links, which cannot be opened
}

std::optional<struct stat> status_of(const Target& target) {
  struct stat status;
  const bool is_there = target.kind == Target::Kind::descriptor ? ::fstat(target.descriptor, &status) == 0
                                                                : ::stat(target.path.c_str(), &status) == 0;
  return is_there ? std::optional(status) : std::nullopt;
}

Target resolve(const std::string& name) {
  if (name == dash) return {Target::Kind::descriptor, name, standard_output};
  Target target = follow_links(name);
  const auto status = status_of(target);
  if (status && is_of_standard_output(*status)) return {Target::Kind::descriptor, name, standard_output};
  return target;
}

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", output_text(name), reason));
}
[[noreturn]] void fail(const std::string& name, int error) { fail(name, std::strerror(error)); }

int connect_to(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::ranges::copy(path.native(), address.sun_path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

/// Opens an output that is no regular file for writing.
Descriptor open_stream(const std::string& name, const Target& target) {
  if (target.kind == Target::Kind::descriptor) {
    if (target.descriptor == standard_output) std::fflush(stdout); // text that was printed before comes first
    Descriptor copy(::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 3));
    if (copy.get() < 0) fail(name, errno);
    return copy;
  }
  const auto status = status_of(target);
  Descriptor opened(status && S_ISSOCK(status->st_mode) ? connect_to(target.path)
                                                        : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (opened.get() < 0) fail(name, errno);
  return opened;
}

/// Writes all bytes; returns 0, or the error number.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) { // somebody made the stream non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// Gives a new file the permissions of the one that it replaces, and its owner where this process may do so.
void take_rights(int descriptor, const struct stat& former) {
  const bool may_give = ::fchown(descriptor, former.st_uid, former.st_gid) == 0;
  static_cast<void>(may_give); // only root may; a file owned by root is better than none
  static_cast<void>(::fchmod(descriptor, former.st_mode & 0777));
}

/// Reason why a file cannot be made or replaced there, or "".
std::string file_objection(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) return folder.string() + " is no folder";
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("folder {}: {}", folder.string(), std::strerror(errno));
  return "";
}

std::string objection(const Target& target) {
  if (target.kind == Target::Kind::file) return file_objection(target.path);
  const auto status = status_of(target);
  if (!status) return std::strerror(errno);
  if (S_ISDIR(status->st_mode)) return "it is a folder; accepted is a file";
  const bool may_write = target.kind == Target::Kind::descriptor
                             ? (::fcntl(target.descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY
                             : ::access(target.path.c_str(), W_OK) == 0;
  return may_write ? "" : "it is not writable";
}

/// Says whether two names lead to the same output; never for devices, which take any number of writers.
bool is_same_output(const std::string& a, const std::string& b) {
  const Target first = resolve(a), second = resolve(b);
  if (first.kind == Target::Kind::descriptor && second.kind == first.kind) return first.descriptor == second.descriptor;
  const auto first_status = status_of(first), second_status = status_of(second);
  if (first_status && second_status)
    return is_same_file(*first_status, *second_status) && !S_ISCHR(first_status->st_mode);
  std::error_code error;
  const auto canonical = [&error](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path), error); };
  return first.kind == second.kind && canonical(first.path) == canonical(second.path);
}

/// Sends what the program prints to standard error from now on.
void reserve_standard_output() {
  if (standard_output != STDOUT_FILENO) return;
  std::fflush(stdout);
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) fail(dash, errno);
  standard_output = kept;
}

} // namespace

OutputFile::OutputFile(std::string name, mode_t mode) : name_(std::move(name)) {
  const Target target = resolve(name_);
  if (const auto reason = objection(target); !reason.empty()) fail(name_, reason);
  if (target.kind == Target::Kind::file) place_ = target.path;
  try {
    working_.emplace(place_.empty() ? Temporary::file(temporary_folder() + "/rafter-")
                                    : Temporary::file((target.path.parent_path() / ".rafter-").string(), mode));
  } catch (const std::system_error& error) {
    fail(name_, error.code().value());
  }
}

void OutputFile::commit() {
  Descriptor file(::open(working_path().c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(name_, errno);
  if (place_.empty()) {
    Descriptor stream = open_stream(name_, resolve(name_));
    std::array<char, 1 << 16> block;
    for (ssize_t count = 0; (count = ::read(file.get(), block.data(), block.size())) != 0;) {
      if (count < 0 && errno == EINTR) continue;
      const int error = count < 0 ? errno : write_all(stream.get(), {block.data(), static_cast<std::size_t>(count)});
      if (error != 0) fail(name_, error);
    }
    if (!stream.close()) fail(name_, errno);
    return;
  }
  if (struct stat former; ::stat(place_.c_str(), &former) == 0) take_rights(file.get(), former);
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail(name_, errno); // EINVAL: there is no disk to flush to
  if (::rename(working_path().c_str(), place_.c_str()) != 0) fail(name_, errno);
  working_->keep();
}

void write_output(const std::string& name, std::string_view bytes, mode_t mode) {
  const Target target = resolve(name);
  if (target.kind != Target::Kind::file) {
    Descriptor stream = open_stream(name, target);
    if (const int error = write_all(stream.get(), bytes); error != 0) fail(name, error);
    if (!stream.close()) fail(name, errno);
    return;
  }
  OutputFile output(name, mode);
  Descriptor file(::open(output.working_path().c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail(name, errno);
  if (const int error = write_all(file.get(), bytes); error != 0) fail(name, error);
  if (!file.close()) fail(name, errno);
  output.commit();
}

bool is_standard_output(const std::string& name) {
  const Target target = resolve(name);
  return target.kind == Target::Kind::descriptor && target.descriptor == standard_output;
}

bool is_regular_output(const std::string& name) { return resolve(name).kind == Target::Kind::file; }

std::string output_text(const std::string& name) { return name == dash ? "standard output" : name; }

void claim_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  const auto refuse = [](const NamedFile& output, const std::string& reason) {
    throw InputError(fmt::format("{}: \"{}\" {}", output.where, output.name, reason));
  };
  bool takes_standard_output = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = outputs[i];
    if (output.name.empty()) continue;
    if (const auto reason = objection(resolve(output.name)); !reason.empty())
      refuse(output, "cannot be written: " + reason);
    for (const auto& input : inputs)
      if (!input.name.empty() && is_same_output(output.name, input.name))
        refuse(output, fmt::format("is {}; accepted is a file of its own", input.where));
    for (const auto& other : outputs.subspan(i + 1))
      if (!other.name.empty() && is_same_output(output.name, other.name))
        refuse(output, fmt::format("is also the output of {}; accepted is a file of its own", other.where));
    takes_standard_output = takes_standard_output || is_standard_output(output.name);
  }
  if (takes_standard_output) reserve_standard_output();
}

} // namespace rafter::base
