// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>

namespace rafter::base {

using WarningHandler = std::function<void(const std::string&)>;

/// Warns the user that something works less well than it could. The library prints nothing: without a handler the text
/// is dropped. Any thread may warn; the handler is called by one thread at a time and must not warn itself.
void warn(const std::string& text);

/// Does the same as warn, but each text reaches the handler only once in the life of the process.
void warn_once(const std::string& text);

/// Sets where warnings go (empty: nowhere) and returns the handler that was set before.
WarningHandler set_warning_handler(WarningHandler handler);

} // namespace rafter::base
