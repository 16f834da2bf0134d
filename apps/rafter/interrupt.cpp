// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"

#include <csignal>

namespace rafter::app {
namespace {

volatile std::sig_atomic_t is_stop_asked = 0;

void on_signal(int signal) {
  is_stop_asked = 1;
  std::signal(signal, SIG_DFL); // the next one ends the process
}

} // namespace

void install_interrupt_handlers() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void restore_default_signals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool is_interrupted() { return is_stop_asked != 0; }

void require_not_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

} // namespace rafter::app
