// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/process.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <poll.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <set>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rafter::device {
namespace {

constexpr std::size_t max_output_bytes = std::size_t(1) << 20;

/// A pipe whose ends are closed with the scope, and are not inherited by other children started at the same time.
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

/// The environment of this process with untranslated messages.
std::vector<std::string> child_environment(const std::string& temporary_folder) {
  std::vector<std::string> result{"LC_ALL=C"};
  if (!temporary_folder.empty()) result.push_back("TMPDIR=" + temporary_folder);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("LC_ALL=") && (temporary_folder.empty() || !text.starts_with("TMPDIR=")))
      result.emplace_back(text);
  }
  return result;
}

/// Attributes of children: they lead their own process groups and react to signals in the default way, whatever this
/// process blocks or ignores.
class SpawnAttributes {
public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

private:
  posix_spawnattr_t attributes_;
};

pid_t spawn(std::vector<std::string> arguments, int output, const std::string& temporary_folder) {
  std::vector<std::string> environment = child_environment(temporary_folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  const SpawnAttributes attributes;
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), &actions, attributes.get(), pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw base::EnvironmentError("cannot start '" + arguments[0] + "': " + std::strerror(error));
  return child;
}

/// Programs that run, as the leaders of process groups that were not waited for yet, so that their numbers are not
/// reused. It outlives all static objects, since a thread that handles signals may use it until the end.
struct Running {
  std::mutex mutex;
  std::set<pid_t> leaders;
  std::atomic<bool> is_stopped = false;
};
Running& running() {
  static auto& instance = *new Running;
  return instance;
}

/// A program that this process started, from its start to its end.
class Child {
public:
  Child(const std::vector<std::string>& arguments, int output, const std::string& temporary_folder)
      : name_(arguments[0]) {
    const std::scoped_lock lock(running().mutex);
    if (running().is_stopped) throw ProcessesStopped();
    leader_ = spawn(arguments, output, temporary_folder);
    running().leaders.insert(leader_);
  }
  /// Waits for the end and returns the status as waitpid gives it. In a process that ignores SIGCHLD there is no
  /// status; whether the program made its result shows success then.
  int wait() const {
    siginfo_t ignored;
    while (waitid(P_PID, static_cast<id_t>(leader_), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    const std::scoped_lock lock(running().mutex);
    running().leaders.erase(leader_);
    int status = 0;
    if (waitpid(leader_, &status, 0) < 0 && errno != ECHILD)
      throw base::EnvironmentError("cannot wait for '" + name_ + "': " + std::strerror(errno));
    return status;
  }

private:
  std::string name_;
  pid_t leader_ = 0;
};

/// Waits for output or its end. Returns false when programs were stopped and a process outside of their groups keeps
/// the pipe open.
bool await_output(int file) {
  constexpr int period_ms = 100, max_periods_after_stop = 10;
  for (int periods = 0; periods < max_periods_after_stop; periods += running().is_stopped ? 1 : 0) {
    pollfd state{file, POLLIN, 0};
    if (poll(&state, 1, period_ms) > 0) return true;
  }
  return false;
}

/// Reads to the end, so that the child never blocks, but keeps only the first max_output_bytes.
std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> block;
  while (await_output(file)) {
    const ssize_t count = read(file, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), std::min(static_cast<std::size_t>(count), max_output_bytes - text.size()));
  }
  return text;
}

} // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& temporary_folder) {
  Pipe pipe;
  const Child child(arguments, pipe.ends[1], temporary_folder);
  pipe.close_end(1);
  ProcessResult result;
  result.output = read_all(pipe.ends[0]);
  const int status = child.wait();
  if (running().is_stopped) throw ProcessesStopped();
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

void stop_processes() {
  const std::scoped_lock lock(running().mutex);
  running().is_stopped = true;
  for (const pid_t leader : running().leaders) kill(-leader, SIGKILL); // some compilers ignore gentler signals
}

void allow_processes() { running().is_stopped = false; }

void await_stopped_processes(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  const auto are_gone = [] {
    const std::scoped_lock lock(running().mutex);
    return running().leaders.empty();
  };
  while (!are_gone() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
    // A relative folder would let whoever can write the working directory choose the program.
    if (folder.starts_with('/') && is_program(folder + "/" + name)) return folder + "/" + name;
  return "";
}

} // namespace rafter::device
