// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/process.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace rafter::device {
namespace {

constexpr std::size_t max_output_bytes = std::size_t(1) << 20;

/// A pipe whose ends close with the scope and are not inherited by other children started at the same time.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw base::EnvironmentError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The environment with untranslated messages.
std::vector<std::string> child_environment() {
  std::vector<std::string> result{"LC_ALL=C"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("LC_ALL=")) result.emplace_back(*entry);
  return result;
}

pid_t spawn(std::vector<std::string> arguments, int output) {
  std::vector<std::string> environment = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw base::EnvironmentError("cannot start '" + arguments[0] + "': " + std::strerror(error));
  return child;
}

/// Reads to the end, so that the child never blocks, but keeps only the beginning.
std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t count = read(file, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), std::min(static_cast<std::size_t>(count), max_output_bytes - text.size()));
  }
}

} // namespace

ProcessResult run_process(const std::vector<std::string>& arguments) {
  Pipe pipe;
  const pid_t child = spawn(arguments, pipe.ends[1]);
  pipe.close_end(1);
  ProcessResult result;
  result.output = read_all(pipe.ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == ECHILD) break; // the program ignores SIGCHLD; whether there is a result shows all the same
    if (errno != EINTR) throw base::EnvironmentError("cannot wait for '" + arguments[0] + "': " + std::strerror(errno));
  }
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

std::string find_program(const std::string& name) {
  namespace fs = std::filesystem;
  const auto is_program = [](const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name).string() : "";
  const char* folders = std::getenv("PATH");
  for (const auto& folder : base::split(folders == nullptr ? "" : folders, ':'))
    // A relative folder would let whoever writes the working directory choose the program.
    if (folder.starts_with('/') && is_program(folder + "/" + name)) return folder + "/" + name;
  return "";
}

} // namespace rafter::device
