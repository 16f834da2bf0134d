# SPDX-License-Identifier: BSD-3-Clause
# Writes OUTPUT, which defines rafter::tune::generator_id(): a hash of the sources in the list file SOURCES, one per line,
# and of TEXT, which says how they are compiled.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCES} sources)
set(all "${TEXT}")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND all " ${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 32 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/kernel_text_cache.hpp>
namespace rafter::tune {
std::string_view generator_id() { return \"@id@\"; }
} // namespace rafter::tune
" @ONLY)
