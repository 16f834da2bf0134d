// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <rafter/form/lexer.hpp>

/// Messages of the form parser begin with a place in the text: "line 2, column 7: ...".
namespace rafter::app {

/// Removes the place at the start of a message and returns it, or nothing if there is none.
std::optional<form::Position> take_position(std::string& message);

/// Returns the byte offset of a place in a text; places behind the end give the end.
std::size_t offset_of(std::string_view text, form::Position position);

} // namespace rafter::app
