// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <rafter/base/error.hpp>

/// What the libFuzzer targets share. Anything that leaves a target ends the run as a crash, with its message.
namespace rafter::fuzz {

/// The input, without a terminating zero: reading past its end is seen by the address sanitizer.
inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool is_right, const std::string& law) {
  if (!is_right) throw std::logic_error("broken law: " + law);
}

/// Message of the InputError that the action ends with, "" if it ends well; other exceptions pass.
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
