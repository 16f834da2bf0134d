// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/recorder.hpp>

#include <utility>

namespace rafter::emit {
namespace {

Recorder& current() {
  static Recorder recorder;
  return recorder;
}

} // namespace

void set_recorder(Recorder recorder) { current() = std::move(recorder); }

void record(std::string_view kind, std::string_view kernel, const std::function<std::string()>& text) {
  if (current()) current()({kind, kernel, text()});
}

} // namespace rafter::emit
