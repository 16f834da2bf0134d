// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <rafter/base/error.hpp>

/// The libFuzzer targets share this. An exception that leaves a target ends the run as a crash, with its message.
namespace rafter::fuzz {

/// Returns the input without a terminating zero, so that the address sanitizer finds reads past its end.
inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool is_right, const std::string& law) {
  if (!is_right) throw std::logic_error("broken law: " + law);
}

/// Returns the message of the InputError with which the action ends, or "" if there is none; other exceptions pass.
template <class Action> std::string refusal(const Action& action) {
  try {
    action();
    return "";
  } catch (const base::InputError& error) {
    const std::string message = error.what();
    require(!message.empty(), "an error has a message");
    return message;
  }
}

} // namespace rafter::fuzz
