// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <rafter/form/lexer.hpp>

/// Places in the messages of the form parser: "line 2, column 7: ...".
namespace rafter::app {

/// Removes the place at the start of a message and returns it; nothing when there is none.
std::optional<form::Position> take_position(std::string& message);

/// Byte offset of a place in a text; the end for places behind it.
std::size_t offset_of(std::string_view text, form::Position position);

} // namespace rafter::app
