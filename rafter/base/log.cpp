// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/log.hpp>

#include <mutex>
#include <set>
#include <utility>

namespace rafter::base {
namespace {

struct Log {
  std::mutex mutex;
  WarningHandler handler;
  std::set<std::string> given;
};

Log& log() {
  static Log instance;
  return instance;
}

} // namespace

void warn(const std::string& text) {
  const std::scoped_lock lock(log().mutex);
  if (log().handler) log().handler(text);
}

void warn_once(const std::string& text) {
  const std::scoped_lock lock(log().mutex);
  if (log().given.insert(text).second && log().handler) log().handler(text);
}

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::scoped_lock lock(log().mutex);
  return std::exchange(log().handler, std::move(handler));
}

} // namespace rafter::base
