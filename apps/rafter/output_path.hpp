// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace rafter::app {

/// Known before any work: the file that `option` names could not be written. Throws InputError; "" is no file.
void require_folder(const std::string& option, const std::string& path);

} // namespace rafter::app
