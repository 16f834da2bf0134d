// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/output_bytes.hpp>

#include <utility>

#include <rafter/base/error.hpp>

namespace rafter::io {

OutputBytes::OutputBytes(const std::string& name, std::string what)
    : name_(name), what_(std::move(what)), output_(name), file_(std::fopen(output_.working_path().c_str(), "wb")) {
  require(file_ != nullptr);
}

void OutputBytes::require(bool is_done) const {
  if (!is_done) throw base::EnvironmentError("cannot write " + what_ + " to " + base::output_text(name_));
}

void OutputBytes::write(const void* bytes, std::size_t count) {
  require(count == 0 || std::fwrite(bytes, 1, count, file_.get()) == count);
}

void OutputBytes::commit() {
  require(std::fclose(file_.release()) == 0);
  output_.commit();
}

} // namespace rafter::io
