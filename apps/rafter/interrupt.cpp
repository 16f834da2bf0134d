// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <rafter/base/temporary.hpp>
#include <rafter/device/host/process.hpp>

#include "exit_code.hpp"

namespace rafter::app {
namespace {

std::atomic<bool> is_stop_asked = false, ends_at_first = false;

/// No destructor runs, since other threads still use the objects.
[[noreturn]] void end_at_once() {
  using namespace std::chrono_literals;
  device::stop_processes();
  device::await_stopped_processes(500ms);
  base::remove_temporaries();
  constexpr std::string_view text = "rafter: stopped at once by a signal\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  std::_Exit(exit_not_solved);
}

void watch(const sigset_t& signals) {
  for (int signal = 0;;) {
    if (sigwait(&signals, &signal) != 0) continue;
    if (is_stop_asked.exchange(true) || ends_at_first) end_at_once();
    device::stop_processes();
    // Two signals in quick succession may arrive as one, and some work never looks for a signal, so that the process
    // ends after one second even without a second signal.
    constexpr timespec patience{.tv_sec = 1, .tv_nsec = 0};
    sigtimedwait(&signals, nullptr, &patience);
    end_at_once();
  }
}

/// The thread that waits for signals, once there is one.
pthread_t watching_thread;

/// Hands a signal that another thread got to the one that waits for it.
void hand_over(int signal) { pthread_kill(watching_thread, signal); }

bool is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

void watch_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread watching(watch, signals);
  watching_thread = watching.native_handle();
  watching.detach();
  // Libraries may have started threads before main, as OpenBLAS does: the signals are not blocked there.
  struct sigaction action = {};
  action.sa_handler = hand_over;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&signals, signal) == 1) sigaction(signal, &action, nullptr);
}

void end_at_first_signal() { ends_at_first = true; }

bool is_interrupted() { return is_stop_asked; }

void require_not_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

} // namespace rafter::app
